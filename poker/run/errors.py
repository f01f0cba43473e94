"""Errors that a user can cause. Entry scripts print the message as one line and exit with status 2."""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class PokernetsError(Exception):
    """Base of all user-facing errors: the message says what was wrong, where, and what to do."""

    remedy: object = None
    """Advice at the end of the message that a launcher completes (`poker.run.commands.Remedy`)."""

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """Text that any stream or socket takes: lone surrogates, which no encoding holds, become question marks."""
    return text.encode("utf-8", "replace").decode()


@contextmanager
def disk_full_at(path: Path) -> Iterator[None]:
    """Name cause and place in errors of `np.save` on a full disk, which give counts of numbers alone."""
    try:
        yield
    except OSError as error:
        if error.errno is not None:
            raise
        raise disk_full(path) from error


def disk_full(path: Path) -> OSError:
    """The system's error for a full disk, for libraries and short writes that do not raise it."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
