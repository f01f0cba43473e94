"""Cores and memory: the machine's, and what this process may use or has used of them."""

import ctypes
import gc
import os
import resource
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

_LIMIT = Path("/sys/fs/cgroup/memory.max")


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


def peak_memory() -> int:
    """The most bytes that the process has had in memory."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


@contextmanager
def without_collections() -> Iterator[None]:
    """Import and load inside the block without collections of garbage, and leave what is there at its end out of later
    ones: they would look through a million objects, of which none goes, in a fifth of the time."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()
