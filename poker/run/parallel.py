"""The executor: runs tasks on processes of this machine, or on a Ray cluster (`poker.run.ray_cluster`).

A process is prepared once and then takes tasks. If a process is killed, another takes its tasks. All processes end when
the process that started them ends.
"""

import multiprocessing
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import count, islice
from typing import Any, Generic, TypeVar

from poker.run.child import end_with_parent
from poker.run.errors import PokernetsError
from poker.run.machine import cores, peak_memory

T = TypeVar("T")
R = TypeVar("R")

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
ALL_THREADS = (*BLAS_THREADS, "NUMBA_NUM_THREADS")
_AHEAD = 2
"""Tasks in the queue per process, so that no process waits for its next one."""
_DEATHS = 3
"""Consecutive deaths of processes without a result after which the run is stopped."""


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """How tasks are done; picklable.

    Attributes:
        prepare: function that each process calls once; it returns the function that does a task.
        share_cores: whether a process may use its share of the cores. Otherwise linear algebra uses one thread, so that
            results are the same bit for bit with any number of processes.
    """

    prepare: Callable[[], Callable[[T], R]]
    share_cores: bool = False


@dataclass(frozen=True)
class Given(Generic[T, R]):
    """A `Work.prepare` for a function that needs no preparation.

    Attributes:
        function: the function that does a task.
    """

    function: Callable[[T], R]

    def __call__(self) -> Callable[[T], R]:
        """Return the function."""
        return self.function


class Cluster(ABC):
    """Processes on one machine or several.

    Attributes:
        one_machine: whether all processes are on this machine, whose cores threads of one process could use as well.
    """

    one_machine: bool

    @property
    @abstractmethod
    def workers(self) -> int:
        """Number of processes that work at the same time."""

    @abstractmethod
    def run(self, work: Work[T, R], tasks: Iterable[T]) -> Iterator[R]:
        """Run tasks in processes of their own and yield their results in the order in which they finish.

        `tasks` is consumed as processes become free. If the iterator is closed early, tasks that are running finish and
        their results are dropped.
        """


class LocalCluster(Cluster):
    """Processes on this machine.

    Args:
        processes: number of processes; None for one per core.
    """

    one_machine = True

    def __init__(self, processes: int | None = None) -> None:
        """Check and store the number of processes.

        Raises:
            PokernetsError: `processes` is less than 1.
        """
        if processes is not None and processes < 1:
            raise PokernetsError("`cluster.processes` must be at least 1, or null for one per core")
        self._processes = processes or cores()

    @property
    def workers(self) -> int:
        """Number of processes that work at the same time."""
        return self._processes

    def run(self, work: Work[T, R], tasks: Iterable[T]) -> Iterator[R]:
        """Run tasks in processes of their own and yield their results in the order in which they finish.

        Raises:
            PokernetsError: processes died again and again.
        """
        waiting, taken, deaths = iter(tasks), dict[int, T](), 0
        with environment(thread_variables(work.share_cores, self._processes)):
            while True:
                pool = process_pool(self._processes, _start, (work.prepare,))
                try:
                    for result in self._until_death(pool, waiting, taken):
                        deaths = 0
                        yield result
                    return
                except BrokenProcessPool as error:
                    deaths += 1
                    if deaths == _DEATHS:
                        raise PokernetsError(TOO_MANY_DEATHS) from error
                    print(DEATH, file=sys.stderr)
                finally:
                    pool.shutdown(wait=True, cancel_futures=True)

    def _until_death(self, pool: ProcessPoolExecutor, waiting: Iterator[T], taken: dict[int, T]) -> Iterator[Any]:
        """Yield results until a process dies; `taken` are the tasks without a result, by number."""
        running = {pool.submit(_do, task): number for number, task in taken.items()}
        numbers = count(max(taken, default=-1) + 1)
        while True:
            for task in islice(waiting, _AHEAD * self._processes - len(running)):
                number = next(numbers)
                taken[number] = task
                running[pool.submit(_do, task)] = number
            if not running:
                return
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                result = future.result()
                del taken[running.pop(future)]
                yield result


def process_pool(
    processes: int, initializer: Callable[..., None] | None = None, arguments: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """Make an executor of new processes.

    Args:
        initializer: function that each process calls first.
        arguments: arguments of `initializer`.

    Raises:
        PokernetsError: the system has no shared memory for semaphores.
    """
    try:
        return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer, arguments)
    except (ImportError, NotImplementedError, OSError) as error:
        raise PokernetsError(
            f"no processes can be started ({error}): they need shared memory at /dev/shm; mount a tmpfs there and make"
            " it writable"
        ) from error


DEATH = "a process was killed, perhaps for lack of memory; another takes over its tasks"
TOO_MANY_DEATHS = (
    "processes are killed repeatedly, perhaps for lack of memory: use fewer (cluster.processes, cluster.workers); the"
    " same command continues"
)


def thread_variables(share_cores: bool, processes: int) -> dict[str, str]:
    """Return environment variables that limit the threads of one process.

    Args:
        share_cores: True gives the process its share of the cores, for variables that the user has not set; False
            limits linear algebra to one thread.
        processes: number of processes that share the cores.
    """
    if not share_cores:
        return dict.fromkeys(BLAS_THREADS, "1")
    share = str(max(1, cores() // processes))
    return {name: share for name in ALL_THREADS if name not in os.environ}


_prepare: Callable[[], Callable[[Any], Any]] | None = None
_function: Callable[[Any], Any] | None = None


def _start(prepare: Callable[[], Callable[[Any], Any]]) -> None:
    global _prepare  # noqa: PLW0603 (of this process, for its whole life)
    _prepare = prepare
    end_with_parent()


def _do(task: Any) -> Any:
    global _function  # noqa: PLW0603
    if _function is None:
        assert _prepare is not None
        _function = _prepare()
    return _function(task)


@contextmanager
def environment(changes: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for processes started inside the block.

    Libraries that this process has already loaded do not see the change.
    """
    before = {name: os.environ[name] for name in changes if name in os.environ}
    os.environ.update(changes)
    try:
        yield
    finally:
        for name in changes:
            del os.environ[name]
        os.environ.update(before)


def print_cost(
    what: str,
    cpu_seconds: float,
    tasks: int,
    cluster: Cluster,
    megabytes: float,
    *,
    task_megabytes: float = 0.0,
    threads: bool = False,
) -> None:
    """Print the time, memory and disk space that a job will take.

    Jobs know how long a unit of their work took on one core at the laptop scale (docs/results/costs). On another
    machine, or with other work on this one, it can take half or twice as long.

    Args:
        what: the job and its result.
        cpu_seconds: CPU seconds of all its work.
        cluster: the cluster that runs them.
        megabytes: size of the result on disk.
        task_megabytes: memory of a task in addition to the memory of this process, which has loaded the job's inputs.
        threads: whether threads of this process do the work, so that the result is in its memory.
    """
    workers = max(1, min(cluster.workers, tasks))
    memory = peak_memory() / 1e6 + (megabytes if threads else task_megabytes)
    where = f"threads, {memory:,.0f} MB" if threads else f"processes of {memory:,.0f} MB"
    print(
        f"{what}; about {cpu_seconds:,.0f} s of CPU, {_duration(cpu_seconds / workers)} on {workers} {where}; "
        f"{megabytes:,.1f} MB on disk",
        file=sys.stderr,
    )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"
