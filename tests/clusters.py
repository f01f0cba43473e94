"""A cluster of this process alone: its tasks can be watched, and no process has to start and import."""

from collections.abc import Iterable, Iterator

from poker.run.parallel import LocalCluster, R, T, Work


class InProcess(LocalCluster):
    """Does the tasks here, one by one."""

    def __init__(self, processes: int = 1) -> None:
        super().__init__(processes)

    def run(self, work: Work[T, R], tasks: Iterable[T]) -> Iterator[R]:
        return map(work.prepare(), tasks)


IN_PROCESS = (f"cluster._target_={InProcess.__module__}.InProcess", "cluster.processes=1")
"""Overrides by which a command does its tasks in its own process."""
