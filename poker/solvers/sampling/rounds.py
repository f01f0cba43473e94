"""Sampling with regrets over several machines: in rounds, each of which is played in parts from one table.

Every part starts from the table that all share, plays so many iterations with a random stream of its own, and returns
what it changed. The table moves on by the mean of the changes: parts take away the noise of sampling, as so many
iterations of one process would. (Their sum is the step of one part made so many times as long, and strategies then
swing about the equilibrium.) What was gathered is weighted by the number of the round (`RegretSolver`: linear weighting
whose period is the round). Within a round a part does not see what others learn: that costs iterations, little while a
round is short beside what was played before it. The result depends on the seed, the parts and the length of a round,
and not on how many processes there are, nor on their machines; parts of several threads, which do see what the others
learn, are a little different every time.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Reals
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, SharedArray, Team, Work
from poker.solvers.sampling.mccfr import RegretSolver

MakeSolver = Callable[..., RegretSolver]
"""Takes options of `RegretSolver` by name, which go before what it was made with."""


@dataclass(frozen=True)
class RoundPlan:
    """`parts` of a round (None: no rounds), each of so many `iterations` on `threads` that share its table."""

    parts: int | None = None
    iterations: int = 100_000
    threads: int = 1

    def __post_init__(self) -> None:
        if min(self.iterations, self.threads) < 1 or (self.parts is not None and self.parts < 1):
            raise PokernetsError("job.rounds needs parts, iterations and threads of at least 1")


@dataclass(frozen=True)
class Part:
    """Iterations from a shared table; `done` counts those of all parts before the round."""

    number: int
    table: SharedArray
    done: int
    iterations: int
    seed: tuple[int, ...]


@dataclass(frozen=True)
class Change:
    """Amounts a part added to the numbers at `places` (None: to all of them) and to the counters, and its CPU time."""

    part: int
    places: NDArray[np.uint32] | None
    amounts: Reals
    counters: dict[str, int]
    cpu_seconds: float


class Rounds:
    """A `BlueprintSolver` that plays rounds with a team of processes, while it is entered."""

    def __init__(self, make: MakeSolver, cluster: Cluster, plan: RoundPlan, inputs: tuple[Path, ...] = ()) -> None:
        assert plan.parts is not None
        self._plan, self._parts = plan, plan.parts
        self._solver = solver = make(threads=1, discount_every=plan.parts * plan.iterations)
        if plan.iterations % (plan.threads * solver.settings["batch"]):
            raise PokernetsError("job.rounds.iterations must be a multiple of solver.batch times job.rounds.threads")
        self._cluster, self._work = cluster, Work(partial(player, make, plan.threads), inputs=inputs)
        self.sampling, self.averages = solver.sampling, solver.averages
        self.state, self.restore = solver.state, solver.restore
        self.bytes_needed = solver.bytes_needed
        """Bytes of this process; each of the others needs as much, and twice its table."""
        self._stack = ExitStack()
        self._team: Team[Part, Change] | None = None
        self._cpu_seconds_of_parts = 0.0

    def __enter__(self) -> "Rounds":
        self._team = self._stack.enter_context(self._cluster.team(self._work))
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    @property
    def iterations(self) -> int:
        return self._solver.iterations

    @property
    def visits(self) -> int:
        return self._solver.visits

    @property
    def settings(self) -> dict[str, Any]:
        return {**self._solver.settings, "rounds": [self._parts, self._plan.iterations]}

    def cpu_clock(self) -> float:
        """CPU seconds of this process and of all parts."""
        return time.process_time() + self._cpu_seconds_of_parts

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Whole rounds until there are `iterations` in all, or for `seconds` from now."""
        started = time.perf_counter()
        while (iterations is None or self.iterations < iterations) and (
            seconds is None or time.perf_counter() - started < seconds
        ):
            self._round()

    def metrics(self) -> dict[str, float]:
        """Metrics of the solver; the table holds the mean over parts, so regrets are multiplied by the parts."""
        metrics = self._solver.metrics()
        return {name: value * (self._parts if "regret" in name else 1) for name, value in metrics.items()}

    def _round(self) -> None:
        assert self._team is not None
        solver, table = self._solver, self._solver.table
        shared, seed, length = self._team.share(table), solver.settings["seed"], self._plan.iterations
        number = solver.iterations // (self._parts * length)
        parts = [Part(part, shared, solver.iterations, length, (seed, number, part)) for part in range(self._parts)]
        waiting: dict[int, Change] = {}
        added = 0
        for change in self._team.run(parts):
            waiting[change.part] = change
            self._cpu_seconds_of_parts += change.cpu_seconds
            while added in waiting:  # in order, so that the sum is the same however they come
                _add(solver, waiting.pop(added), self._parts)
                added += 1
        solver.end_period()


def player(make: MakeSolver, threads: int) -> Callable[[Part], Change]:
    """Plays parts with a solver of its own."""
    return partial(_play, make(threads=threads, discount_every=None))


def _play(solver: RegretSolver, part: Part) -> Change:
    started, shared = time.process_time(), part.table()
    solver.table[:] = shared
    solver.iterations = part.done
    solver.reseed(np.random.SeedSequence(part.seed))
    before = {name: getattr(solver, name) for name in solver.counters if name != "periods"}
    solver.run(iterations=part.done + part.iterations)
    change = solver.table - shared
    places = np.flatnonzero(change).astype(np.uint32)
    counters = {name: getattr(solver, name) - count for name, count in before.items()}
    everywhere = places.nbytes + len(places) * change.itemsize >= change.nbytes or len(change) > np.iinfo(np.uint32).max
    where, amounts = (None, change) if everywhere else (places, change[places])
    return Change(part.number, where, amounts, counters, time.process_time() - started)


def _add(solver: RegretSolver, change: Change, parts: int) -> None:
    amounts = change.amounts / parts
    if change.places is None:
        solver.table += amounts
    else:
        solver.table[change.places] += amounts
    for name, count in change.counters.items():
        setattr(solver, name, getattr(solver, name) + count)
