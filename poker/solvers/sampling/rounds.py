"""Regret sampling on several machines, in rounds whose parts start from one shared table.

Each part starts from the shared table, plays a fixed number of iterations with its own random stream, and returns its
changes. The shared table then moves by the mean of the changes. Parts reduce sampling noise in the same way as more
iterations of one process. (Adding the changes instead would act like one part with a much larger step, and strategies
would oscillate about the equilibrium.) Contributions are weighted by the number of the round, which is linear weighting
whose period is the round (`RegretSolver`).

Within a round a part does not see what others learn. This costs iterations, but few if a round is short compared with
the iterations before it. The result depends on the seed, the parts and the length of a round, and not on the number of
processes or their machines. Parts with several threads share their table without locks, so their results vary slightly.
"""

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Reals
from poker.run.errors import PokernetsError
from poker.run.parallel import Cluster, SharedArray, Team, Work
from poker.solvers.sampling.mccfr import RegretSolver

MakeSolver = Callable[..., RegretSolver]
"""Creates a solver; options of `RegretSolver` passed by name override its own."""


@dataclass(frozen=True)
class RoundPlan:
    """The division of a run into rounds and parts.

    Attributes:
        parts: parts of a round; None for no rounds.
        iterations: iterations of each part.
        threads: threads that share the table of a part.

    Raises:
        PokernetsError: a number is smaller than 1.
    """

    parts: int | None = None
    iterations: int = 100_000
    threads: int = 1

    def __post_init__(self) -> None:
        """Check the numbers."""
        if min(self.iterations, self.threads) < 1 or (self.parts is not None and self.parts < 1):
            raise PokernetsError("job.rounds needs parts, iterations and threads of at least 1")


@dataclass(frozen=True)
class Part:
    """A number of iterations from a shared table.

    Attributes:
        number: number of the part within its round.
        table: the shared table.
        done: iterations of all parts before the round.
        iterations: iterations of this part.
        seed: seed of this part.
    """

    number: int
    table: SharedArray
    done: int
    iterations: int
    seed: tuple[int, ...]


@dataclass(frozen=True)
class Change:
    """The result of a part.

    Attributes:
        part: number of the part.
        places: uint32 [n] changed entries; None for all.
        amounts: [n] amounts added to them.
        counters: amounts added to the counters.
        cpu_seconds: CPU seconds of the part.
    """

    part: int
    places: NDArray[np.uint32] | None
    amounts: Reals
    counters: dict[str, int]
    cpu_seconds: float


class Rounds:
    """A `BlueprintSolver` that plays rounds with a team of processes, to be used as a context manager.

    Attributes:
        bytes_needed: bytes of this process. Each other process needs the same plus twice its table.
    """

    def __init__(self, make: MakeSolver, cluster: Cluster, plan: RoundPlan) -> None:
        """Prepare the rounds.

        Args:
            make: creates a solver.
            cluster: where the processes run.
            plan: parts and iterations of a round.

        Raises:
            PokernetsError: iterations are not a multiple of the batch times the threads.
        """
        assert plan.parts is not None
        self._plan, self._parts = plan, plan.parts
        self._solver = solver = make(threads=1, discount_every=plan.parts * plan.iterations)
        if plan.iterations % (plan.threads * solver.settings["batch"]):
            raise PokernetsError("job.rounds.iterations must be a multiple of solver.batch times job.rounds.threads")
        self._cluster, self._work = cluster, Work(partial(player, make, plan.threads))
        self.sampling, self.averages = solver.sampling, solver.averages
        self.state, self.restore = solver.state, solver.restore
        self.bytes_needed = solver.bytes_needed
        """Bytes of this process; each other process needs the same plus twice its table."""
        self._stack = ExitStack()
        self._team: Team[Part, Change] | None = None
        self._cpu_seconds_of_parts = 0.0

    def __enter__(self) -> "Rounds":
        """Start the team of processes."""
        self._team = self._stack.enter_context(self._cluster.team(self._work))
        return self

    def __exit__(self, *error: object) -> None:
        """Stop the team of processes."""
        self._stack.close()

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""
        return self._solver.iterations

    @property
    def visits(self) -> int:
        """Number of visited nodes so far."""
        return self._solver.visits

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that checkpoints and blueprints record."""
        return {**self._solver.settings, "rounds": [self._parts, self._plan.iterations]}

    def cpu_clock(self) -> float:
        """Return the CPU seconds of this process and of all parts."""
        return time.process_time() + self._cpu_seconds_of_parts

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Play whole rounds until a total number of iterations or for some time.

        Args:
            iterations: total number of iterations; None for no limit.
            seconds: seconds from now; None for no limit.
        """
        started = time.perf_counter()
        while (iterations is None or self.iterations < iterations) and (
            seconds is None or time.perf_counter() - started < seconds
        ):
            self._round()

    def metrics(self) -> dict[str, float]:
        """Return the metrics of the solver; regrets are multiplied by the parts, because the table has their mean."""
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
            while added in waiting:  # in order, so that the sum does not depend on the order of arrival
                _add(solver, waiting.pop(added), self._parts)
                added += 1
        solver.end_period()


def player(make: MakeSolver, threads: int) -> Callable[[Part], Change]:
    """Return a function that plays parts with its own solver.

    Args:
        make: creates a solver.
        threads: threads that share the table of a part.
    """
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
