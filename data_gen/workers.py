"""One process per core for jobs made of independent tasks, each of which writes its own artifact.

Workers are spawned with one BLAS thread each, and end with the parent, also when that was killed.
"""

import multiprocessing
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

from poker.agents.remote import end_with_parent

T = TypeVar("T")
R = TypeVar("R")

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def run_tasks(task: Callable[[T], R], tasks: Sequence[T], processes: int | None) -> Iterator[R]:
    """Results of `task` as they come, in any order. None: all cores."""
    count = min(processes or os.cpu_count() or 1, max(len(tasks), 1))
    context = multiprocessing.get_context("spawn")
    with _single_threaded_blas(), ProcessPoolExecutor(count, context, end_with_parent) as pool:
        try:
            for future in as_completed([pool.submit(task, item) for item in tasks]):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


@contextmanager
def _single_threaded_blas() -> Iterator[None]:
    """Environment for workers to inherit; the BLAS of this process has started already and is not touched."""
    before = {name: os.environ.get(name) for name in _BLAS_THREADS}
    os.environ.update(dict.fromkeys(_BLAS_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
