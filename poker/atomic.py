"""Files that are whole at every moment: what is written takes the place of what was there, or nothing does."""

import fcntl
import glob
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from poker.errors import PokernetsError


def write_atomically(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write a single file so that a reader, or a crash, sees the old content or the new and nothing between.

    A file that is replaced keeps its permissions; a new one gets `mode` less the umask.
    """
    with _staged(path, mode) as file:
        file.write(data)


@contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file to write in parts that replaces `path` at the end of the block; an error leaves what was there.

    Removes what killed writers have left beside `path`; those at work hold the lock of their file.
    """
    for left in path.parent.glob(glob.escape(f".{path.name[:100]}.") + "[0-9a-f]" * 16):
        with suppress(OSError), left.open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            left.unlink()
    with _staged(path, 0o666) as staged:
        yield staged


@contextmanager
def _staged(path: Path, mode: int) -> Iterator[BinaryIO]:
    """A file beside `path` that takes its place at the end of the block."""
    if path.is_dir():
        raise PokernetsError(f"{path} is a directory: give the name of a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    staging = path.with_name(f".{path.name[:100]}.{secrets.token_hex(8)}")
    try:
        with os.fdopen(_locked(staging, mode), "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, staging)
            staging.replace(path)
    except BaseException:
        staging.unlink(missing_ok=True)
        raise


def _locked(staging: Path, mode: int) -> int:
    """Create `staging` and lock it, again if another process removed it before the lock; returns the descriptor."""
    while True:
        descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with suppress(OSError):  # file systems without locks: nobody else has one either
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if staging.exists():
            return descriptor
        os.close(descriptor)
