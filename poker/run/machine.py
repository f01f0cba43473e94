"""Cores and memory of the machine, and what this process may use or has used."""

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
    """Return the number of cores that the process may use; a scheduler or `taskset` may allow fewer than there are."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def memory() -> int:
    """Return the memory of the machine in bytes, or the limit of the container if that is smaller."""
    physical = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    with suppress(OSError, ValueError):  # the file contains "max" if there is no limit
        return min(physical, int(_LIMIT.read_text()))
    return physical


def give_back_memory() -> None:
    """Return freed memory to the system, which the C library would otherwise keep; takes some milliseconds."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None
    if trim is not None:
        trim(0)


def allow_open_files(count: int) -> None:
    """Raise this process's limit of open files to at least `count` and a few hundred more.

    Raises:
        PokernetsError: the system does not allow that many.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        if resource.RLIM_INFINITY != soft < count + _OTHER_FILES:
            resource.setrlimit(resource.RLIMIT_NOFILE, (count + _OTHER_FILES, hard))
    except (OSError, ValueError) as error:
        raise PokernetsError(
            f"{count:,} files must be open at once, but the system allows {hard:,} per process: raise the"
            " limit (ulimit -n), or make fewer and larger shards"
        ) from error


def peak_memory() -> int:
    """Return the peak memory of the process in bytes."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


@contextmanager
def without_collections() -> Iterator[None]:
    """Switch the garbage collector off while the block imports and loads.

    Objects that exist at the end of the block are excluded from later collections. Collections during start-up scan a
    million objects without freeing any and take a fifth of the time.
    """
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if collects:
            gc.enable()
