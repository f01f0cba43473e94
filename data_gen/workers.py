"""One process per core for jobs made of independent tasks, each of which writes its own artifact.

Workers are spawned with one BLAS thread each, and end with the parent, also when that was killed.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from contextlib import contextmanager
from multiprocessing.connection import wait as wait_for
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")

_BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def run_tasks(
    task: Callable[[T], R],
    tasks: Iterable[T],
    *,
    processes: int | None,
    prepare: Callable[..., None],
    arguments: tuple[Any, ...],
) -> Iterator[R]:
    """Results of `task` as they come, in any order. Each worker first calls `prepare(*arguments)`. None: all cores."""
    waiting = list(tasks)
    count = min(processes or os.cpu_count() or 1, max(len(waiting), 1))
    context = multiprocessing.get_context("spawn")
    with _single_threaded_blas(), ProcessPoolExecutor(count, context, _start_worker, (prepare, arguments)) as pool:
        running = {pool.submit(task, item) for item in waiting}
        try:
            while running:
                done, running = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _start_worker(prepare: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    threading.Thread(target=_end_with_parent, daemon=True).start()
    prepare(*arguments)


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait_for([parent.sentinel])
        os._exit(1)


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
