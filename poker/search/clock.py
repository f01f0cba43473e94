"""How long solves may take: a limit for each decision, and an account over all hands of a match.

A hand that begins adds its seconds to the account, a decision takes from it what it has used. A decision may take a
third of what is there: later streets of the hand need some too, and what short hands leave is there for long ones.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import VectorSolver

_OF_ACCOUNT = 1 / 3
_MOST_HANDS = 3.0
"""A decision takes no more than so many hands' seconds, whatever has been saved."""
_OF_DECISION = 0.7
"""Share of the time left that a solve gets: what the opponent did may need another; strategies are read out after."""
_LEAST = 0.01
"""Seconds of a solve when no time is left."""


class Effort(NamedTuple):
    """How long to solve: until so many iterations are done (None: any number), it is exploitable for at most
    `exploitability` pots (None: for any) or `seconds` are over."""

    iterations: int | None
    exploitability: float | None = None
    seconds: float | None = None

    def spend(self, solver: VectorSolver) -> None:
        """Run the solver for this long."""
        solver.run(self.iterations, self.exploitability, self.seconds)


class Clock:
    """Gives solves their seconds: `per_decision` at the most for a decision, `per_hand` on average for a hand, from the
    making of the clock on; without either there is no limit. `now` tells the time."""

    def __init__(
        self,
        per_decision: float | None = None,
        per_hand: float | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        for name, seconds in (("seconds_per_decision", per_decision), ("seconds_per_hand", per_hand)):
            if seconds is not None and not seconds > 0:
                raise PokernetsError(f"`{name}` must be positive or null, not {seconds}")
        self._per_decision = per_decision
        self._per_hand = per_hand
        self._now = now
        self._account = 0.0
        self._deadline: float | None = None

    @property
    def limited(self) -> bool:
        return self._per_decision is not None or self._per_hand is not None

    def start_hand(self) -> None:
        self._account += self._per_hand or 0.0

    @contextmanager
    def decision(self) -> Iterator[None]:
        """Time all that is done inside the block as one decision."""
        begun = self._now()
        self._deadline = begun + self._allowed()
        try:
            yield
        finally:
            self._deadline = None
            if self._per_hand is not None:
                self._account -= self._now() - begun

    def for_solve(self) -> float | None:
        """Seconds for a solve that begins now; None: no limit."""
        if not self.limited:
            return None
        left = self._allowed() if self._deadline is None else self._deadline - self._now()
        return max(_LEAST, _OF_DECISION * left)

    def _allowed(self) -> float:
        limits = [] if self._per_decision is None else [self._per_decision]
        if self._per_hand is not None:
            limits += [_OF_ACCOUNT * self._account, _MOST_HANDS * self._per_hand]
        return min(limits, default=float("inf"))
