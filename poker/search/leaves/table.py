"""Leaf values at the end of the preflop round, looked up: every pair of the 169 classes of hands ([DLS] section 6)."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from poker.betting import Betting
from poker.cards import PREFLOP_CLASS
from poker.errors import PokernetsError
from poker.rules import Rules
from poker.search.beliefs import Ranges
from poker.search.leaves.blueprint_states import BlueprintStates
from poker.search.leaves.evaluator import cluster_equity, leaf_values, played_street
from poker.solvers.blueprint import FirstRound
from poker.solvers.rollout.leaf_table import LeafTable
from poker.solvers.rollout.leaf_values import LeafValues
from poker.tree import BettingTree


class TableValues:
    """Values leaves by a table of states of `tree`. A pot that the tree does not have takes the nearest state's."""

    def __init__(self, table: LeafTable, tree: BettingTree) -> None:
        self._table = table
        self._states = BlueprintStates(tree)
        self._clusters = PREFLOP_CLASS.astype(np.int32)

    def check_game(self, game: Rules) -> None:
        self._states.check_game(game)

    @property
    def num_continuations(self) -> int:
        return int(self._table.values.shape[2])

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        """Values of `LeafEvaluator`, before the flop only; raises PokernetsError if there is a board."""
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
        return leaf_values(leaves, own, self._clusters, _class_equity(leaves[0].rules), in_pots)


class TableLeaf(TableValues):
    """The table at `path`, made from `blueprint`."""

    def __init__(self, *, path: str, blueprint: FirstRound) -> None:
        super().__init__(LeafTable.load(path, blueprint), blueprint.tree)


@lru_cache(maxsize=2)
def _class_equity(rules: Rules) -> NDArray[np.float32]:
    """[169, 169] equity between classes before the flop."""
    return cluster_equity(rules, (), PREFLOP_CLASS.astype(np.int32))
