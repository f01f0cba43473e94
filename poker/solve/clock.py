"""Time limits of solves: a limit for each decision, and an account over all hands of a match.

Each hand that begins adds its seconds to the account, and a decision takes the seconds that it has used. A decision may
take a third of the account: later streets of the hand need time as well, and time left over by short hands remains for
long ones.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from poker.run.errors import PokernetsError

_OF_ACCOUNT = 1 / 3
_MOST_HANDS = 3.0
"""Largest number of hands whose seconds one decision may use, however much time is left."""
_OF_DECISION = 0.7
"""Share of the remaining time for one solve; the rest is for a possible second solve and for reading strategies."""
_LEAST = 0.01
"""Seconds of a solve if no time is left."""


class Clock:
    """Computes time limits of solves; the account starts when the clock is made.

    Args:
        per_decision: most seconds for a decision; None for no limit.
        per_hand: seconds for a hand on average; None for no limit.
        now: function that returns the time in seconds.
    """

    def __init__(
        self,
        per_decision: float | None = None,
        per_hand: float | None = None,
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        """Check the limits and open an empty account.

        Raises:
            PokernetsError: a limit is not positive.
        """
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
        """Whether there is any limit."""
        return self._per_decision is not None or self._per_hand is not None

    def start_hand(self) -> None:
        """Add the seconds of a hand to the account."""
        self._account += self._per_hand or 0.0

    @contextmanager
    def decision(self) -> Iterator[None]:
        """Time everything inside the block as one decision."""
        begun = self._now()
        self._deadline = begun + self._allowed()
        try:
            yield
        finally:
            self._deadline = None
            if self._per_hand is not None:
                self._account -= self._now() - begun

    def for_solve(self) -> float | None:
        """Return the seconds for a solve that begins now; None without a limit."""
        if not self.limited:
            return None
        left = self._allowed() if self._deadline is None else self._deadline - self._now()
        return max(_LEAST, _OF_DECISION * left)

    def _allowed(self) -> float:
        limits = [] if self._per_decision is None else [self._per_decision]
        if self._per_hand is not None:
            limits += [_OF_ACCOUNT * self._account, _MOST_HANDS * self._per_hand]
        return min(limits, default=float("inf"))
