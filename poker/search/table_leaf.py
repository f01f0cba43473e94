"""Leaf values at the end of the preflop round, looked up: every pair of the 169 classes of hands ([DLS] section 6)."""

from collections.abc import Sequence

import numpy as np

from poker.betting import Betting
from poker.cards import PREFLOP_CLASS
from poker.errors import PokernetsError
from poker.features.leaf import CONTINUATIONS
from poker.search.beliefs import Ranges
from poker.search.blueprint_states import BlueprintStates
from poker.search.leaf import cluster_equity, leaf_values, played_street
from poker.solvers.blueprint import Blueprint
from poker.solvers.rollout.leaf_table import LeafTable
from poker.solvers.rollout.leaf_values import LeafValues


class TableLeaf:
    """The table at `path`, made from `blueprint`. A pot that the blueprint does not have takes the nearest state's."""

    num_continuations = len(CONTINUATIONS)

    def __init__(self, *, path: str, blueprint: Blueprint) -> None:
        self._table = LeafTable.load(path, blueprint)
        self._states = BlueprintStates(blueprint.tree)
        self._clusters = PREFLOP_CLASS.astype(np.int32)

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        """As `LeafEvaluator`, before the flop only."""
        if board:
            raise PokernetsError(
                "the leaf table ends with the preflop round; value later rounds with a net or rollouts"
            )
        rows = []
        for leaf in leaves:
            if not leaf.is_over:
                by_player = self._table.at(self._states.node(leaf, played_street(leaf)))[own]
                rows.append(by_player if own == 0 else by_player.transpose(0, 2, 1))
        count = int(self._clusters.max()) + 1
        in_pots = np.array(rows, dtype=np.float32).reshape(-1, self.num_continuations, count, count)
        return leaf_values(leaves, own, self._clusters, cluster_equity(board, self._clusters), in_pots)
