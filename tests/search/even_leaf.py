"""A leaf evaluator that needs no artifacts."""

from collections.abc import Sequence

import numpy as np

from poker.betting import Betting
from poker.cards import HOLDEM
from poker.search.beliefs import Ranges
from poker.solvers.rollout.leaf_values import LeafValues


class EvenLeaf:
    """Two continuations at the end of a round: nothing, and a tenth of the pot to the searcher."""

    num_continuations = 2

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        clusters = np.where(HOLDEM.live(board), 0, -1).astype(np.int32)
        values = np.zeros((len(leaves), 2, 1, 1), np.float32)
        values[:, 1, 0, 0] = [0.1 * leaf.pot for leaf in leaves]
        return LeafValues(own, clusters, clusters, values)
