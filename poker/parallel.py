"""Tasks over processes of this machine, and what such a process needs: it ends with the one that started it, however
that ends, and has as many threads as it is told.
"""

import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")


def run_tasks(
    task: Callable[[T], R], tasks: Sequence[T], processes: int | None, start: Callable[[], object] | None = None
) -> Iterator[R]:
    """Results of `task` as they come, in any order, from processes with one BLAS thread each. None: one a core.

    `start` is called once in each process, before its first task.
    """
    count = min(processes or os.cpu_count() or 1, max(len(tasks), 1))
    context = multiprocessing.get_context("spawn")
    one_thread = environment(dict.fromkeys(BLAS_THREADS, "1"))
    with one_thread, ProcessPoolExecutor(count, context, _start, (start,)) as pool:
        try:
            for future in as_completed([pool.submit(task, item) for item in tasks]):
                yield future.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _start(start: Callable[[], object] | None) -> None:
    end_with_parent()
    if start is not None:
        start()


def end_with_parent() -> None:
    """Ends this process when the one that started it is gone."""

    def watch() -> None:
        parent = multiprocessing.parent_process()
        assert parent is not None
        parent.join()
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@contextmanager
def environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Variables for the processes started within; the libraries that this process has loaded do not see them."""
    before = {name: os.environ[name] for name in changes if name in os.environ}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in changes:
            del os.environ[name]
        os.environ.update(before)
