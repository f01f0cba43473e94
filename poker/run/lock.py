"""Locks for what one process at a time may use; a lock ends with its process, however that ends."""

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from poker.run.errors import PokernetsError


@contextmanager
def alone(folder: Path, refusal: str | None = None) -> Iterator[None]:
    """Hold the folder's lock inside the block. Waits for it; with `refusal`, raises that at once if it is taken."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX if refusal is None else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise PokernetsError(refusal) from None
        yield
    finally:
        os.close(handle)


class Claims:
    """Claims of this process on any number of names, given up all at once.

    A name is a place in `file`, so that all take one descriptor. The file has no other use; it is removed with the last
    claim on it, together with the folders made for it if they are empty.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._made = [folder for folder in file.parents if not folder.exists()]
        self._open()

    def _open(self) -> None:
        self._file.parent.mkdir(parents=True, exist_ok=True)
        self._handle = os.open(self._file, os.O_RDWR | os.O_CREAT, 0o666)

    def take(self, name: str, refusal: str | None = None) -> None:
        """Claim `name`; if another process has it, raise `refusal`, or wait for it without one."""
        place = int.from_bytes(hashlib.sha256(name.encode()).digest()[:7])
        while True:
            try:
                fcntl.lockf(self._handle, fcntl.LOCK_EX | (fcntl.LOCK_NB if refusal else 0), 1, place)
            except (BlockingIOError, PermissionError):
                raise PokernetsError(refusal) from None
            if self._is_there():
                return
            os.close(self._handle)  # of a file that another process removed after this one had opened it
            self._open()

    def close(self) -> None:
        with suppress(OSError):  # others have claims
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if self._is_there():
                self._file.unlink()
        os.close(self._handle)
        with suppress(OSError):
            for folder in self._made:
                folder.rmdir()

    def _is_there(self) -> bool:
        try:
            return os.path.samestat(os.fstat(self._handle), self._file.stat())
        except FileNotFoundError:
            return False
