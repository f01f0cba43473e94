"""Pacing of a solve: the number of threads, and when to measure exploitability."""

import numpy as np

FIRST_CHECK = 10
"""Smallest number of iterations before the first measurement, and between two measurements without a limit."""
USUAL_RATE = 2.0
"""Assumed exponent of the decrease of exploitability with iterations, until two measurements give an estimate."""
TRIAL_ITERATIONS = 2
BLOCK_SECONDS = 0.03
BLOCKS_PER_TRIAL = 16
"""Largest number of blocks between trials of the other number of threads. If one thread is in use, all threads are
tried after two blocks, after four, and so on, because a core that was busy at first may have become free."""


class Pace:
    """The choice between all threads and one, whichever is faster.

    On busy cores threads can lose more time by waiting than they gain. Both are tried for a few iterations. The faster
    one continues, and the other is tried again from time to time. The first iterations do not count, because memory is
    untouched and threads are asleep. The results do not depend on this choice.
    """

    def __init__(self, threads: int) -> None:
        """Start without measurements."""
        self.threads = threads
        self._seconds: dict[int, float] = {}
        self._since_trial = 0
        self._until_trial = 2
        self._begun = threads == 1

    @property
    def best(self) -> float | None:
        """Seconds per iteration of the faster choice, or None."""
        return min(self._seconds.values(), default=None)

    @property
    def _faster(self) -> int:
        return min(self._seconds, key=self._seconds.__getitem__)

    def next_block(self) -> tuple[int, int]:
        """Return the number of threads and the largest number of iterations of the next block."""
        if self.threads == 1:
            return 1, 1 << 30
        if self.threads not in self._seconds:
            return self.threads, TRIAL_ITERATIONS
        if 1 not in self._seconds:
            return 1, TRIAL_ITERATIONS
        faster = self._faster
        if self._since_trial >= (self._until_trial if faster == 1 else BLOCKS_PER_TRIAL):
            return self.threads + 1 - faster, TRIAL_ITERATIONS
        return faster, max(TRIAL_ITERATIONS, int(BLOCK_SECONDS / self._seconds[faster]))

    def measured(self, members: int, seconds: float) -> None:
        """Record the time of a block.

        Args:
            members: number of threads that ran it.
            seconds: seconds per iteration.
        """
        if not self._begun:
            self._begun = True
            return
        usual = self.best is not None and members == self._faster
        self._since_trial = self._since_trial + 1 if usual else 0
        if not usual and len(self._seconds) > 1:
            self._until_trial = min(2 * self._until_trial, BLOCKS_PER_TRIAL)
        self._seconds[members] = seconds


class Checks:
    """The schedule of exploitability measurements.

    The first measurement is where few spots reach a limit in a pot of `pot` chips (12 iterations for a hundredth of it,
    40 for a thousandth). Later ones come closer and closer to the expected end.

    Attributes:
        limit: target exploitability in chips, or None.
        next: iteration of the next measurement.
        last: iteration and exploitability of the last measurement, or None.
    """

    def __init__(self, iterations: int, limit: float | None, pot: float = 0.0) -> None:
        """Plan the first measurement.

        Args:
            iterations: iterations so far.
            limit: target exploitability in chips; None for no target.
            pot: chips in the pot.
        """
        self.limit = limit
        soonest = min(1.25 * np.sqrt(pot / limit), 50) if limit else 0
        self.next = max(iterations + FIRST_CHECK, int(soonest))
        self.last: tuple[int, float] | None = None

    def measured(self, iterations: int, exploitability: float) -> None:
        """Record a measurement and plan the next one.

        Args:
            iterations: iterations so far.
            exploitability: exploitability in chips.
        """
        step = max(FIRST_CHECK, iterations // 5)
        if self.limit is not None and exploitability > self.limit:
            before, worse = self.last or (0, 0.0)
            rate = USUAL_RATE if self.last is None else 0.0
            if 0 < exploitability < worse:
                rate = np.log(worse / exploitability) / np.log(iterations / before)
            if rate > 0:
                expected = iterations * (exploitability / self.limit) ** (1 / max(rate, 1.0))
                step = int(np.clip(0.6 * (expected - iterations) + 2, iterations // 25, iterations))
        self.last = (iterations, exploitability)
        self.next = iterations + step
