"""Reading of a visitor's file of hands, in a process with limits on memory and time."""

import contextlib
import os
import pickle
import resource
import sys
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TypeVar

from poker.game.rules import Rules
from poker.run.errors import PokernetsError
from poker.run.parallel import Child

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
    child = Child(_read, name, game, memory, seconds, read)
    try:
        child.pipe.send_bytes(data)  # no argument: a start does not notice that the process is gone
        answer = child.pipe.recv_bytes(_MOST_FOUND) if child.pipe.poll(_PATIENCE * seconds) else None
    except (EOFError, ConnectionError):
        answer = None  # it was killed
    except OSError as error:
        raise PokernetsError(f"{name} holds more than a page can keep: divide it") from error
    finally:
        child.kill()
    if answer is None:
        raise PokernetsError(f"{name} takes more than {seconds} s to read: divide it, or remove what is no hand")
    result: T | str = pickle.loads(answer)
    if isinstance(result, str):
        raise PokernetsError(result)
    return result


def _read(
    pipe: Connection, name: str, game: Rules, memory: int, seconds: int, read: Callable[[str, bytes, Rules], object]
) -> None:
    """Read with at most `memory` more address space and `seconds` of CPU time, at low priority."""
    data = pipe.recv_bytes()
    os.nice(10)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    if sys.platform == "linux":
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        with contextlib.suppress(ValueError, OSError):  # a lower limit is in force
            resource.setrlimit(resource.RLIMIT_AS, (used + memory,) * 2)
    result: object
    try:
        result = read(name, data, game)
    except PokernetsError as error:
        result = str(error)
    except (MemoryError, RecursionError) as error:
        result = f"{name} takes too much memory to read ({type(error).__name__}): remove what is no hand"
    pipe.send_bytes(pickle.dumps(result))
