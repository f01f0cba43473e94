"""Reading of a visitor's file of hands, in a process with limits on memory and time."""

import contextlib
import os
import pickle
import resource
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TypeVar

from poker.game.rules import Rules
from poker.run.child import Child, ChildFailure
from poker.run.errors import PokernetsError

T = TypeVar("T")

MEMORY = 1 << 30
"""Bytes for reading, besides those of the program; the largest file of hands takes about a fifth."""
SECONDS = 60
"""Seconds of CPU time for reading; the largest file of hands takes about 20."""
_PATIENCE = 5
"""Limit by the clock, in multiples of the CPU time."""
_MOST_FOUND = 64 << 20
"""Bytes of the hands read; those of the largest file take about 7 MiB."""


def read_apart(
    name: str,
    data: bytes,
    game: Rules,
    memory: int = MEMORY,
    seconds: int = SECONDS,
    *,
    read: Callable[[str, bytes, Rules], T],
) -> T:
    """Run `read`, such as `HandFile.read`, in a process of its own; raises PokernetsError also where that exceeds its
    limits."""
    child = Child(partial(_Reader, memory, seconds))
    try:
        result: T = child.call("read", name, data, game, read, seconds=_PATIENCE * seconds)
    except ChildFailure as error:  # it was killed
        raise PokernetsError(
            f"{name} takes more than {seconds} s to read: divide it, or remove what is no hand"
        ) from error
    finally:
        child.kill()
    return result


class _Reader:
    """A reader with at most `memory` more address space and `seconds` of CPU time, at low priority."""

    def __init__(self, memory: int, seconds: int) -> None:
        os.nice(10)
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        if sys.platform == "linux":
            used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
            with contextlib.suppress(ValueError, OSError):  # a lower limit is in force
                resource.setrlimit(resource.RLIMIT_AS, (used + memory,) * 2)

    def read(self, name: str, data: bytes, game: Rules, read: Callable[[str, bytes, Rules], T]) -> T:
        try:
            result = read(name, data, game)
            size = len(pickle.dumps(result))
        except (MemoryError, RecursionError) as error:
            raise PokernetsError(
                f"{name} takes too much memory to read ({type(error).__name__}): remove what is no hand"
            ) from error
        if size > _MOST_FOUND:
            raise PokernetsError(f"{name} holds more than a page can keep: divide it")
        return result
