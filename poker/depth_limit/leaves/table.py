"""Leaf values at the end of the preflop round, looked up: every pair of the 169 classes of hands ([DLS] section 6)."""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from poker.depth_limit.evaluator import LeafEvaluator, cluster_equity, leaf_values, played_street
from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.depth_limit.leaves.leaf_table import LeafTable
from poker.game.betting import Betting
from poker.game.cards import PREFLOP_CLASS
from poker.game.rules import Rules
from poker.kernels.types import Board, Ranges, Singles
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import FirstRound
from poker.solvers.vector.leaves import LeafValues
from poker.tree import BettingTree

_CLASSES = PREFLOP_CLASS.astype(np.int32)


class TableValues(LeafEvaluator):
    """Values leaves by a table of states of `tree`. A pot that the tree does not have takes the nearest state's."""

    def __init__(self, table: LeafTable, tree: BettingTree) -> None:
        self._table = table
        self.num_continuations = int(table.values.shape[2])
        self._states = BlueprintStates(tree)

    def check_game(self, game: Rules) -> None:
        self._states.check_game(game)

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Values of `LeafEvaluator`, before the flop only; raises PokernetsError if there is a board."""
        if board:
            raise PokernetsError(
                "the leaf table ends with the preflop round; value later rounds with a net or rollouts"
            )
        nodes = [self._states.node(leaf, played_street(leaf)) for leaf in leaves if not leaf.is_over]
        by_player0 = np.array([self._table.at(node)[own] for node in nodes], dtype=np.float32)
        in_pots = by_player0.reshape(-1, *self._table.values.shape[2:])
        if own == 1:
            in_pots = in_pots.transpose(0, 1, 3, 2)
        return leaf_values(leaves, own, _CLASSES, _class_equity(leaves[0].rules), in_pots)


class TableLeaf(TableValues):
    """The table at `path`, made from `blueprint`."""

    def __init__(self, *, path: str, blueprint: FirstRound) -> None:
        super().__init__(LeafTable.load(path, blueprint), blueprint.tree)


@lru_cache(maxsize=2)
def _class_equity(rules: Rules) -> Singles:
    """[169, 169] equity between classes before the flop."""
    return cluster_equity(rules, (), _CLASSES)
