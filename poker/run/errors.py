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
"""Categories of characters that control how text is shown, or are none."""

_ROOT = Path(__file__).parents[2]
_NOT_OF_THE_USER = [
    _ROOT / name for name in ("poker", "pokernets", "models", "conf", "data_gen", "train.py", "evaluate.py")
]
_NOT_OF_THE_USER += [Path(sysconfig.get_path("stdlib"))]
"""Folders whose code is not the user's."""
_INSTALLED = {"site-packages", "dist-packages"}
"""Names of folders of installed packages, which systems and virtual environments have in several places."""


class PokernetsError(Exception):
    """Base of all user-facing errors: the message says what was wrong, where, and what to do."""

    def __str__(self) -> str:
        return printable(super().__str__())


def printable(text: str) -> str:
    """Text in which control characters but tabs and the ends of lines are question marks.

    These are the controls of ASCII and Latin-1, with which escape sequences begin, Unicode's format controls, which
    reorder or hide text, other ends of lines, and lone surrogates, which no encoding has.
    """
    if text.isprintable():
        return text
    return "".join("?" if category(each) in _CONTROLS and each not in "\t\n" else each for each in text)


def described(error: BaseException) -> str:
    """Class and message of an error in one line, and the last line of the user's own code that it went through."""
    return of_user_code(error) or " ".join(printable(f"{type(error).__name__}: {error}").split())


def of_user_code(error: BaseException | None) -> str:
    """The error as `described`, or the one behind it that went through the user's own code; empty if none did."""
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
    """Name the place in errors of writing: `write` gives no path, and `np.save` counts of numbers alone."""
    try:
        yield
    except OSError as error:
        if error.filename is not None:
            raise
        raise (OSError(error.errno, error.strerror, str(path)) if error.errno else disk_full(path)) from error


def disk_full(path: Path) -> OSError:
    """The system's error for a full disk, for libraries and short writes that do not raise it."""
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
