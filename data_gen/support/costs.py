"""Estimates of time, memory and disk that a job prints when it starts.

Jobs know what a unit of their work took on one core, at the laptop scale (docs/results/costs). Another machine, or
other work on this one, makes that half or twice as much.
"""

import sys

from poker.run.machine import peak_memory
from poker.run.parallel import Cluster


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
    """Print what a job will take.

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
