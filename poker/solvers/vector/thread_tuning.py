"""Pacing of a solve: the number of threads, and when to measure exploitability."""

import numpy as np

FIRST_CHECK = 10
"""Least iterations before the first measurement, and between two that no limit places."""
USUAL_RATE = 2.0
"""Exponent at which exploitability falls with iterations, until two measurements tell it."""
TRIAL_ITERATIONS = 2
BLOCK_SECONDS = 0.03
BLOCKS_PER_TRIAL = 16
"""Most blocks between trials of the number of threads that is not in use. While it is all of them, that is tried after
two blocks, after four, and so on: a core that was busy when they were first tried may have become free."""


class Pace:
    """Chooses all threads or one, whichever is faster: on busy cores threads can lose more by waiting than they gain.

    Both are tried for a few iterations, the faster one goes on, and the other is tried again now and then. The first
    iterations, which find memory untouched and threads asleep, say nothing. What is computed does not depend on it.
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._seconds: dict[int, float] = {}
        self._since_trial = 0
        self._until_trial = 2
        self._begun = threads == 1

    @property
    def best(self) -> float | None:
        return min(self._seconds.values(), default=None)

    @property
    def _faster(self) -> int:
        return min(self._seconds, key=self._seconds.__getitem__)

    def next_block(self) -> tuple[int, int]:
        """(threads, most iterations) of the next block."""
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
        if not self._begun:
            self._begun = True
            return
        usual = self.best is not None and members == self._faster
        self._since_trial = self._since_trial + 1 if usual else 0
        if not usual and len(self._seconds) > 1:
            self._until_trial = min(2 * self._until_trial, BLOCKS_PER_TRIAL)
        self._seconds[members] = seconds


class Checks:
    """Schedule of measuring: first where few spots meet a limit in a pot of `pot` chips (12 iterations to a hundredth
    of it, 40 to a thousandth), then ever closer to where it should be met."""

    def __init__(self, iterations: int, limit: float | None, pot: float = 0.0) -> None:
        self.limit = limit
        soonest = min(1.25 * np.sqrt(pot / limit), 50) if limit else 0
        self.next = max(iterations + FIRST_CHECK, int(soonest))
        self.last: tuple[int, float] | None = None

    def measured(self, iterations: int, exploitability: float) -> None:
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
