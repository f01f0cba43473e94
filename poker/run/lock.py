"""Locks for what one process at a time may use; a lock ends with its process, however that ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from poker.run.atomic import make_folder
from poker.run.errors import PokernetsError


@contextmanager
def alone(folder: Path, refusal: str | None = None, name: str = "") -> Iterator[None]:
    """Hold the lock of a folder, or of a name in it, inside the block; the lock is a file in the folder.

    Args:
        folder: made if it is not there.
        refusal: the message of the error if another process has the lock; None waits for it.
        name: what is locked in the folder; empty for the folder itself.
    """
    make_folder(folder)
    lock = FileLock(folder / f"{name and '.'}{name}.lock")
    try:
        lock.acquire(blocking=refusal is None)
    except Timeout:
        raise PokernetsError(refusal) from None
    try:
        yield
    finally:
        lock.release()
