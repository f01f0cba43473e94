"""Cores and memory: the machine's, and what this process may use or has used of them."""

import ctypes
import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from poker.run.errors import PokernetsError

_LIMIT = Path("/sys/fs/cgroup/memory.max")
_OTHER_FILES = 300


def cores() -> int:
    """Cores that the process may run on: fewer than there are under a scheduler or `taskset`."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Bytes of memory that the machine has, or the container if it may have less."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # which is "max" without a limit
        return min(physical, int(_LIMIT.read_text()))
    return physical


def give_back_memory() -> None:
    """Return freed memory to the system, which the C library would keep for the process: some milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def allow_open_files(count: int) -> None:
    """Raise this process's own limit of open files, where it is lower, to `count` beside some hundred others."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        if resource.RLIM_INFINITY != soft < count + _OTHER_FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count + _OTHER_FILES, hard))
    except (OSError, ValueError) as error:
        raise PokernetsError(
            f"{count:,} files have to be open at once, and the system lets a process have {hard:,}: raise that, or make"
            " fewer and larger shards"
        ) from error


def peak_memory() -> int:
    """The most bytes that the process has had in memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


@contextmanager
def without_collections() -> Iterator[None]:
    """Import and load inside the block without collections of garbage, and leave what is there at its end out of later
    ones: they would look through a million objects, of which none goes, in a fifth of the time."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()
