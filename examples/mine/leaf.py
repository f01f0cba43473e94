"""A leaf evaluator: hands are worth their equity against each hand of the opponent."""

from collections.abc import Sequence

import numpy as np

from poker.depth_limit.evaluator import LeafEvaluator, cluster_equity, leaf_values
from poker.game.state import Betting
from poker.kernels.types import Board, Ranges
from poker.solvers.vector.leaves import LeafValues


class EquityLeaf(LeafEvaluator):
    num_continuations = 1

    def __init__(self, *, bonus: float) -> None:
        self._bonus = bonus

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        clusters = np.arange(1326, dtype=np.int32)
        equity = cluster_equity(leaves[0].rules, board, clusters)
        open_leaves = sum(not leaf.is_over for leaf in leaves)
        values = np.broadcast_to(equity - np.float32(0.5 - self._bonus), (open_leaves, 1, 1326, 1326))
        return leaf_values(leaves, own, clusters, equity, values)
