"""Chance-sampling MCCFR; `poker.kernels.sampling.chance_sampling` is the sweep, `RegretSolver` the linear weighting."""

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import Dealer
from poker.kernels.sampling import chance_sampling
from poker.kernels.sampling.nodes import Deals
from poker.solvers.sampling.external_sampling import RegretOptions, RegretSolver
from poker.tree import BettingTree


class ChanceSampling(RegretSolver):
    """An iteration is one deal, on which every action of every player is followed: for betting trees of modest size."""

    def __init__(self, tree: BettingTree, cards: Buckets, dealer: Dealer, **options: Unpack[RegretOptions]) -> None:
        super().__init__(tree, cards, dealer, **options)
        self._recorded = {"solver": "chance_sampling", **self._recorded}
        shape = len(self.sampling.nodes), tree.rules.num_players
        self._scratch = [(np.zeros(shape), np.zeros(shape)) for _ in range(self.threads)]

    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[np.uint64]) -> tuple[int, ...]:
        visits = chance_sampling.chance_sampling(self.sampling.arrays, self.table, deals, *self._scratch[thread])
        return (visits,)
