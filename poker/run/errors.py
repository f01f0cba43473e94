"""Errors that a user can cause. Entry scripts print the message as one line and exit with status 2."""

import errno
import os
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unicodedata import category

_CONTROLS = ("Cc", "Cf", "Cs", "Zl", "Zp")
"""Unicode categories of control and format characters, other line ends and surrogates."""

_ROOT = Path(__file__).parents[2]
_NOT_OF_THE_USER = [
    _ROOT / name for name in ("poker", "pokernets", "models", "conf", "data_gen", "train.py", "evaluate.py")
]
_NOT_OF_THE_USER += [Path(sysconfig.get_path("stdlib"))]
"""Folders with code of this project and of the standard library."""
_INSTALLED = {"site-packages", "dist-packages"}
"""Names of folders of installed packages, which may be anywhere on a system."""


class PokernetsError(Exception):
    """Base of all errors that a user can cause.

    The message says what is wrong, where, and what to do about it.
    """

    def __str__(self) -> str:
        """Return the message without control characters."""
        return printable(super().__str__())


class TooLargeError(PokernetsError):
    """A solve needs more memory than its limit."""


def printable(text: str) -> str:
    """Replace control characters, except tabs and newlines, by question marks.

    These are the controls of ASCII and Latin-1, with which escape sequences begin, Unicode's format controls, which
    reorder or hide text, other ends of lines, and lone surrogates, which cannot be encoded.
    """
    if text.isprintable():
        return text
    return "".join("?" if category(each) in _CONTROLS and each not in "\t\n" else each for each in text)


def described(error: BaseException) -> str:
    """Describe an error in one line: class, message and the last line of the user's own code in the traceback."""
    return of_user_code(error) or " ".join(printable(f"{type(error).__name__}: {error}").split())


def of_user_code(error: BaseException | None) -> str:
    """Describe an error as `described` does if its traceback, or that of its cause, has a line of the user's own code.

    Returns:
        the description; empty if no error in the chain went through the user's code.
    """
    while error is not None:
        for frame in reversed(traceback.extract_tb(error.__traceback__)):
            path = Path(frame.filename)
            installed = _INSTALLED.intersection(path.parts)
            if path.is_file() and not installed and not any(path.is_relative_to(each) for each in _NOT_OF_THE_USER):
                text = f"{type(error).__name__}: {error} ({path}, line {frame.lineno})"
                return " ".join(printable(text).split())
        error = error.__cause__ or error.__context__
    return ""


@contextmanager
def disk_full_at(path: Path) -> Iterator[None]:
    """Add the path to errors of writing that lack it.

    `write` reports no path, and `np.save` reports only a number of items.

    Raises:
        OSError: the block raised an OSError; it now has a path.
    """
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise (OSError(error.errno, error.strerror, str(path)) if error.errno else disk_full(path)) from error


def disk_full(path: Path) -> OSError:
    """Return the system's error for a full disk, for libraries and short writes that do not raise it."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
