"""A sampling solver: outcome sampling that explores half of the time."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mine.kernel import episode
from poker.kernels.sampling.nodes import Deals
from poker.solvers.sampling.mccfr import RegretSolver


class Mine(RegretSolver):
    @property
    def settings(self) -> dict[str, Any]:
        return {**super().settings, "solver": "mine"}

    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[np.uint64]) -> tuple[int, ...]:
        return (episode(self.sampling.arrays, self.table, 0.5, False, False, done, deals, rng),)
