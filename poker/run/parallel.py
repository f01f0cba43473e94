"""The one executor: tasks over processes of this machine, or over a Ray cluster (`poker.run.ray_cluster`).

A process is prepared once and then takes tasks. Processes end with the one that started them, however that ends; tasks
of a process that is killed are taken by another.
"""

import multiprocessing
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from poker.run.child import end_with_parent
from poker.run.errors import PokernetsError, disk_full_at
from poker.run.machine import cores, peak_memory

T = TypeVar("T")
R = TypeVar("R")

BLAS_THREADS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS")
ALL_THREADS = (*BLAS_THREADS, "NUMBA_NUM_THREADS")
_AHEAD = 2
"""Tasks handed out for each process, so that none waits for its next."""
_DEATHS = 3
"""Deaths of processes, without a result in between, after which there is no use in going on."""


@dataclass(frozen=True)
class Work(Generic[T, R]):
    """How to do tasks: `prepare` makes, in each process, the function that does them; picklable.

    `share_cores`: a process may use its share of the cores; otherwise linear algebra has one thread, so that results
    are the same to the bit with any number of processes. `inputs` are files and folders that it reads, `output` tells
    which one a task writes, or which several: clusters without common storage move them.
    """

    prepare: Callable[[], Callable[[T], R]]
    share_cores: bool = False
    inputs: tuple[Path, ...] = ()
    output: Callable[[T], Path | Sequence[Path]] | None = None


@dataclass(frozen=True)
class Given(Generic[T, R]):
    """The `Work.prepare` of a function that needs no preparation."""

    function: Callable[[T], R]

    def __call__(self) -> Callable[[T], R]:
        return self.function


SharedArray = Callable[[], NDArray[Any]]
"""Returns an array, read-only. Tasks carry it as a reference; each machine gets the content once."""


class Team(ABC, Generic[T, R]):
    """Processes that stay until all is done."""

    @abstractmethod
    def run(self, tasks: Iterable[T]) -> Iterator[R]:
        """Results as they come, in any order. `tasks` are taken one by one as processes come free; what is running when
        the iterator is closed is finished and dropped."""

    @abstractmethod
    def share(self, array: NDArray[Any]) -> SharedArray:
        """Share an array with the tasks of the next `run` alone."""


class Cluster(ABC):
    """Where tasks are done. `one_machine`: this machine alone, which threads of one process can fill as well."""

    one_machine: bool

    @property
    @abstractmethod
    def workers(self) -> int:
        """Processes that work at a time."""

    @abstractmethod
    def team(self, work: Work[T, R]) -> AbstractContextManager[Team[T, R]]:
        """Processes for `work`, for several runs."""

    def run(self, work: Work[T, R], tasks: Iterable[T]) -> Iterator[R]:
        """Results of one `Team.run`."""
        with self.team(work) as team:
            yield from team.run(tasks)


class LocalCluster(Cluster):
    """Processes of this machine; None: one for each core."""

    one_machine = True

    def __init__(self, processes: int | None = None) -> None:
        if processes is not None and processes < 1:
            raise PokernetsError("`cluster.processes` must be at least 1, or null for one a core")
        self._processes = processes or cores()

    @property
    def workers(self) -> int:
        return self._processes

    @contextmanager
    def team(self, work: Work[T, R]) -> Iterator[Team[T, R]]:
        with environment(thread_variables(work.share_cores, self._processes)), TemporaryDirectory() as folder:
            team = _LocalTeam(work, self._processes, Path(folder))
            try:
                yield team
            finally:
                team.close()


class _LocalTeam(Team[T, R]):
    def __init__(self, work: Work[T, R], processes: int, folder: Path) -> None:
        self._work, self._processes, self._folder = work, processes, folder
        self._pool: ProcessPoolExecutor | None = None

    def run(self, tasks: Iterable[T]) -> Iterator[R]:
        waiting, deaths = iter(tasks), 0
        taken: dict[int, T] = {}
        while True:
            try:
                for result in self._until_death(waiting, taken):
                    deaths = 0
                    yield result
                return
            except BrokenProcessPool as error:
                deaths += 1
                if deaths == _DEATHS:
                    raise PokernetsError(TOO_MANY_DEATHS) from error
                print(DEATH, file=sys.stderr)
                self.close()

    def share(self, array: NDArray[Any]) -> SharedArray:
        path = self._folder / "shared.npy"
        path.unlink(missing_ok=True)
        with disk_full_at(path):
            np.save(path, array)
        return partial(np.load, path, mmap_mode="r")

    def close(self) -> None:
        """Ends the processes."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)
            self._pool = None

    def _until_death(self, waiting: Iterator[T], taken: dict[int, T]) -> Iterator[R]:
        """Results of tasks `taken` before and of all that are `waiting`; those without a result yet stay in `taken`."""
        if self._pool is None:
            self._pool = process_pool(self._processes, _start, (self._work.prepare,))
        running = {self._pool.submit(_do, task): number for number, task in taken.items()}
        numbers = count(max(taken, default=-1) + 1)
        try:
            while True:
                for task in islice(waiting, _AHEAD * self._processes - len(running)):
                    number = next(numbers)
                    taken[number] = task
                    running[self._pool.submit(_do, task)] = number
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    result = future.result()
                    del taken[running.pop(future)]
                    yield result
        finally:
            for future in running:
                future.cancel()


def process_pool(
    processes: int, initializer: Callable[..., None] | None = None, arguments: tuple[Any, ...] = ()
) -> ProcessPoolExecutor:
    """An executor of new processes; PokernetsError where the system has no place for their semaphores."""
    try:
        return ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), initializer, arguments)
    except (ImportError, NotImplementedError, OSError) as error:
        raise PokernetsError(
            f"no processes can be started ({error}): they need shared memory at /dev/shm; mount a tmpfs there and make"
            " it writable"
        ) from error


DEATH = "a process was killed, perhaps for want of memory; another takes its tasks"
TOO_MANY_DEATHS = (
    "processes are killed again and again, perhaps for want of memory: use fewer (cluster.processes, cluster.workers);"
    " what is done is kept, the same command continues"
)


def thread_variables(share_cores: bool, processes: int) -> dict[str, str]:
    """Environment variables of a process: one thread for linear algebra, or its share of the cores for everything that
    the user has not set."""
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
    """Set variables for processes started in the block; libraries that this process has loaded do not see them."""
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
    """Print the time, memory and disk that a job will take.

    Jobs know what a unit of their work took on one core, at the laptop scale (docs/results/costs). Another machine, or
    other work on this one, makes that half or twice as much.

    Args:
        what: the job and what it makes.
        cpu_seconds: seconds of CPU of all its work.
        tasks: tasks over the cluster.
        megabytes: size of the result on disk.
        task_megabytes: memory of a task beside that of this process, which has loaded the job's inputs.
        threads: whether threads of this process do the work, which then has the result in memory.
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
