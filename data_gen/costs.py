"""What a job will take, by trials of its work: said before it starts, and nothing else with `--dry`."""

import sys
import time
from collections.abc import Callable

from poker.machine import peak_memory
from poker.parallel import Cluster


def cpu_seconds(work: Callable[[int], object], trials: tuple[int, int], count: int) -> float:
    """What `work(count)` takes, by the straight line through two trials: some of it is there for any count."""
    taken = []
    for trial in trials:
        started = time.process_time()
        work(trial)
        taken.append(time.process_time() - started)
    return taken[0] + max(0.0, taken[1] - taken[0]) * (count - trials[0]) / (trials[1] - trials[0])


def tell(what: str, seconds: float, tasks: int, cluster: Cluster, megabytes: float, threads: bool = False) -> None:
    """Time of so many tasks over the cluster, memory of a worker as of this process now, and disk. With `threads` it is
    this process that does the work, and it will hold what goes to disk."""
    workers = max(1, min(cluster.workers, tasks))
    memory = peak_memory() / 2**20
    where = f"threads, {memory + megabytes:,.0f} MB" if threads else f"processes of {memory:,.0f} MB"
    print(
        f"{what}; about {seconds:,.0f} s of CPU, {_duration(seconds / workers)} on {workers} {where}; "
        f"{megabytes:,.1f} MB on disk",
        file=sys.stderr,
    )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"
