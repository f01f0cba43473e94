"""Atomic writes of files and folders: a reader sees either the old content or the new one.

A folder that is replaced is moved aside first; `take_back` restores it if the process was killed in between.

A symbolic link is replaced or removed as a link, and its target stays as it is. If several scales share an artifact
through links, a write by one of them does not change the others.
"""

import glob
import os
import secrets
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from poker.run.errors import PokernetsError, disk_full_at

MANIFEST = "manifest.json"
"""The file that makes a folder an artifact."""
SUFFIX = ".bundle"
"""Suffix of bundles, which are files used like a folder of artifacts (`poker.store.bundle`)."""
_DAY = 86_400  # seconds


def bundle_of(path: Path) -> Path | None:
    """Return the bundle that a path leads into, or None.

    It is the parent that is a file, or that has the suffix of a bundle and does not exist.
    """
    parents = (each for each in path.parents if os.path.isfile(each) or (each.suffix == SUFFIX and not each.is_dir()))
    return next(parents, None)


def make_folder(path: Path) -> None:
    """Make a folder and its parents.

    Raises:
        PokernetsError: the folder would lie in a bundle.
    """
    if (bundle := bundle_of(path / MANIFEST)) is not None:
        raise PokernetsError(f"{bundle} is a bundle and read-only: write elsewhere with outputs=DIR")
    path.mkdir(parents=True, exist_ok=True)


def write_atomically(path: Path, data: bytes, *, mode: int = 0o666) -> None:
    """Write a file atomically: a reader, or a crash, sees the old content or the new one.

    Args:
        path: the file.
        data: its new content.
        mode: permissions of a new file, before the umask; a replaced file keeps its permissions.

    Raises:
        PokernetsError: `path` is a directory or lies in a bundle.
    """
    with _staged(path, mode) as file:
        file.write(data)


@contextmanager
def written_atomically(path: Path) -> Iterator[BinaryIO]:
    """Open a file that replaces `path` at the end of the block; after an error the old file stays.

    Raises:
        PokernetsError: `path` is a directory or lies in a bundle.
    """
    _remove_abandoned(path)
    with _staged(path, 0o666) as staged:
        yield staged


@contextmanager
def _staged(path: Path, mode: int) -> Iterator[BinaryIO]:
    """Open a temporary file beside `path` that replaces it at the end of the block."""
    if path.is_dir():
        raise PokernetsError(f"{path} is a directory; expected a file name")
    make_folder(path.parent)
    staging = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}")
    try:
        descriptor = os.open(staging, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with disk_full_at(path), os.fdopen(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
            if path.exists():
                shutil.copymode(path, staging)
            staging.replace(path)
    except BaseException:
        staging.unlink(missing_ok=True)
        raise


@contextmanager
def written_whole(target: Path) -> Iterator[Path]:
    """Make an empty folder that replaces `target` at the end of the block; after an error the old one stays.

    Raises:
        PokernetsError: `target` lies in a bundle.
    """
    make_folder(target.parent)
    _remove_abandoned(target)
    staging = Path(tempfile.mkdtemp(dir=target.parent, prefix=f".{target.name[:100]}."))
    try:
        with disk_full_at(target):
            yield staging
            for file in [*staging.iterdir(), staging]:
                _sync(file)
        staging.chmod(0o755)
        replace_with(staging, target)
    except BaseException:
        shutil.rmtree(staging, ignore_errors=True)
        raise


def replace_with(staging: Path, target: Path) -> None:
    """Rename `staging`, a file or folder, to `target`.

    The old file or folder is moved aside first and removed afterwards.
    """
    if not os.path.lexists(target):
        staging.rename(target)
        return
    aside = _aside(target)
    remove(aside)
    target.rename(aside)
    staging.rename(target)
    remove(aside)


def take_back(target: Path) -> None:
    """Restore a folder that was moved aside by a process killed before it could put the new one in place.

    If another process is replacing the folder at this moment, this waits for it.
    """
    wait_for_replacement(target)
    if not os.path.lexists(target) and (_aside(target) / MANIFEST).exists():
        _aside(target).rename(target)


def wait_for_replacement(target: Path) -> None:
    """Wait until there is a manifest at `target`, if a writer is between its two renames.

    It waits a tenth of a second at most, since the writer may have been killed there.
    """
    for _ in range(100):
        if os.path.isfile(target / MANIFEST) or not os.path.exists(_aside(target)):  # False for names that are too long
            return
        time.sleep(0.001)


def _aside(target: Path) -> Path:
    return target.parent / f".{target.name}.old"


def remove(path: Path) -> None:
    """Remove a file, a folder or a link; a link's target stays.

    The manifest of a folder is removed first, so that `take_back` never restores a half-removed folder.
    """
    if path.is_symlink() or not path.is_dir():
        path.unlink(missing_ok=True)
        return
    (path / MANIFEST).unlink(missing_ok=True)
    shutil.rmtree(path, ignore_errors=True)


def _remove_abandoned(target: Path) -> None:
    """Remove temporary files that killed writers of `target` left more than a day ago."""
    for staging in target.parent.glob(f".{glob.escape(target.name[:100])}.{'?' * 8}"):
        with suppress(FileNotFoundError):  # another run has removed it
            if time.time() - staging.stat().st_mtime > _DAY:
                remove(staging)


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
