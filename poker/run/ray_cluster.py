"""Tasks on the machines of a Ray cluster, with the interface of `poker.run.parallel`.

There is one actor per core. It is prepared once and then takes one task at a time. If an
actor or its machine dies, another takes its task. Every machine needs this project installed and sees the artifacts
under the same path.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any, Generic

from poker.run.commands import how_to_install
from poker.run.errors import PokernetsError
from poker.run.parallel import ALL_THREADS, TOO_MANY_DEATHS, Cluster, R, T, Work

_DEATHS = 3


class RayCluster(Cluster):
    """Workers on a Ray cluster.

    Args:
        address: address of the cluster; `auto` for the cluster that this machine belongs to, None to start one on this
            machine.
    """

    one_machine = False

    def __init__(self, address: str | None = None) -> None:
        """Connect to the cluster.

        Raises:
            PokernetsError: Ray is not installed, or there is no cluster at `address`.
        """
        try:
            self._ray: Any = importlib.import_module("ray")
        except ImportError as error:
            raise PokernetsError(f"cluster=ray needs Ray: {how_to_install('ray')}") from error
        ray = self._ray
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if not ray.is_initialized():
            try:
                ray.init(address=address, log_to_driver=False, include_dashboard=False, logging_level="error")
            except (ConnectionError, ValueError) as error:
                raise PokernetsError(f"no Ray cluster at cluster.address={address}: {error}") from error
        self._workers = int(ray.cluster_resources().get("CPU", 1))

    @property
    def workers(self) -> int:
        """Number of workers."""
        return self._workers

    def run(self, work: Work[T, R], tasks: Iterable[T]) -> Iterator[R]:
        """Run tasks on workers of their own and yield their results in the order in which they finish."""
        team = _RayTeam(self._ray, work, self._workers)
        try:
            yield from team.run(tasks)
        finally:
            team.close()


class _RayTeam(Generic[T, R]):
    def __init__(self, ray: Any, work: Work[T, R], workers: int) -> None:
        self._ray, self._workers = ray, workers
        self._prepare = ray.put(work.prepare)
        path = os.pathsep.join(filter(None, (os.getcwd(), os.environ.get("PYTHONPATH"))))
        variables = {**dict.fromkeys(ALL_THREADS, "1"), "PYTHONPATH": path}
        self._actor = ray.remote(num_cpus=1, runtime_env={"env_vars": variables})(_Actor)
        self._idle: list[Any] = []
        self._running: dict[Any, tuple[Any, list[T]]] = {}
        """Each worker's task; empty while the worker starts."""
        for _ in range(workers):
            self._start()

    def run(self, tasks: Iterable[T]) -> Iterator[R]:
        waiting, lost, deaths = iter(tasks), list[T](), 0
        while True:
            while self._idle and (following := lost or list(islice(waiting, 1))):
                worker, task = self._idle.pop(), following.pop()
                self._running[worker.do.remote(task)] = worker, [task]
            if self._idle and not any(doing for _, doing in self._running.values()):
                return
            doing, answer = self._next()
            if answer is None:
                deaths += 1
                if deaths == _DEATHS * self._workers:
                    raise PokernetsError(TOO_MANY_DEATHS)
                lost += doing
            elif doing:
                deaths = 0
                yield answer[0]

    def _next(self) -> tuple[list[T], Any]:
        """Wait for a worker.

        Returns:
            its tasks and its answer; None as the answer if the worker was lost, in which case another is started.
        """
        ray = self._ray
        (ready,), _ = ray.wait(list(self._running), num_returns=1)
        worker, doing = self._running.pop(ready)
        try:
            answer = [ray.get(ready)]
        except (ray.exceptions.RayActorError, ray.exceptions.OutOfMemoryError):
            print(_LOST, file=sys.stderr)
            self._start()
            return doing, None
        except ray.exceptions.RayTaskError as error:
            raise error.cause from error
        self._idle.append(worker)
        return doing, answer

    def close(self) -> None:
        """End the workers."""
        for worker in (*self._idle, *(worker for worker, _ in self._running.values())):
            self._ray.kill(worker)

    def _start(self) -> None:
        worker = self._actor.remote(self._prepare)
        self._running[worker.ready.remote()] = worker, []


_LOST = "a worker was lost; another takes over its task"


class _Actor:
    """A worker."""

    def __init__(self, prepare: Callable[[], Callable[[Any], Any]]) -> None:
        self._prepare = prepare
        self._function: Callable[[Any], Any] | None = None

    def ready(self) -> bool:
        """Answer as soon as the worker has started."""
        return True

    def do(self, task: Any) -> Any:
        if self._function is None:
            self._function = self._prepare()
        return self._function(task)
