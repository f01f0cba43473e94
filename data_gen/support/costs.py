"""Costs of jobs by trials of their work, printed before a job starts; with `--dry` it does nothing else.

Trials run in processes like those of the job, as many at a time: their linear algebra has one thread as well, and they
wait for memory and for each other as the job's will.
"""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.run.machine import peak_memory
from poker.run.parallel import Cluster, Given, Work

_TRIAL_SECONDS = 0.5
"""Seconds of a trial that counts; shorter ones are dominated by one-time costs."""

CostTrial = Callable[[int, int], object]
"""Does `count` units of work, from (number of the process, count); picklable."""


@dataclass(frozen=True)
class Cost:
    """Cost of work: seconds of CPU, seconds by the clock on the workers of a cluster, megabytes of a worker."""

    cpu: float
    clock: float
    megabytes: float = field(default_factory=lambda: peak_memory() / 2**20)


def cost(
    trials: Sequence[tuple[CostTrial, float]],
    tasks: int,
    cluster: Cluster,
    inputs: tuple[Path, ...] = (),
    largest: float = 0.0,
) -> Cost:
    """Cost of a job from (trial, units of it that the job does), by half a second of each trial in every process.

    `largest`: the share of all work that is in the largest task, which one process does.
    """
    workers = max(1, min(cluster.workers, tasks))
    started = time.perf_counter()
    measured = list(cluster.run(Work(Given(partial(_measured, trials)), inputs=inputs), range(workers)))
    start = time.perf_counter() - started - max(process.spent for process in measured)
    cpu, clock = np.array([units for _, units in trials]) @ np.mean([process.rates for process in measured], axis=0)
    return Cost(
        cpu=float(cpu) + sum(process.start for process in measured),
        clock=start + float(clock) * max(1 / workers, largest),
        megabytes=max(process.megabytes for process in measured),
    )


class _Measured(NamedTuple):
    """Measurements of one process: `rates` [trials, 2], seconds of CPU and by the clock of a unit; seconds by the clock
    `spent` on that; seconds of CPU of its `start`; the most megabytes that it had."""

    rates: NDArray[np.float64]
    spent: float
    start: float
    megabytes: float


def _measured(trials: Sequence[tuple[CostTrial, float]], number: int) -> _Measured:
    """Counts of units are doubled, up to those of the job, until they take half a second of CPU. A first unit, which
    loads kernels, does not count."""
    spent, rates = np.zeros(2), []
    for trial, units in trials:
        trial(number, 1)
        count, taken = 0, np.zeros(2)
        while not count or ((taken < (_TRIAL_SECONDS, 4 * _TRIAL_SECONDS)).all() and 2 * count <= units):
            count, before = max(1, 2 * count), clocks()
            trial(number, count)
            taken = clocks() - before
            spent += taken
        rates.append(taken / count)
    cpu, clock = spent.tolist()
    return _Measured(np.array(rates), clock, time.process_time() - cpu, peak_memory() / 2**20)


def clocks() -> NDArray[np.float64]:
    """[2] seconds of CPU of this process, and by the clock."""
    return np.array([time.process_time(), time.perf_counter()])


def print_cost(what: str, needed: Cost, tasks: int, cluster: Cluster, megabytes: float, threads: bool = False) -> None:
    """Print the cost of `tasks` tasks over the cluster, the memory of a worker, and disk. With `threads` this process
    does the work, and will hold what goes to disk."""
    workers = max(1, min(cluster.workers, tasks))
    where = (
        f"threads, {needed.megabytes + megabytes:,.0f} MB" if threads else f"processes of {needed.megabytes:,.0f} MB"
    )
    print(
        f"{what}; about {needed.cpu:,.0f} s of CPU, {_duration(needed.clock)} on {workers} {where}; "
        f"{megabytes:,.1f} MB on disk",
        file=sys.stderr,
    )


def _duration(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:,.0f} s"
    return f"{seconds / 60:,.0f} min" if seconds < 6000 else f"{seconds / 3600:,.1f} h"
