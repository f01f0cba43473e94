"""Leaf values at the end of the preflop round from a table of all pairs of the 169 hand classes ([DLS] section 6)."""

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
    """An evaluator with a table of states of a tree; other pots use the nearest state."""

    def __init__(self, table: LeafTable, tree: BettingTree) -> None:
        """Wrap a table.

        Args:
            table: the values.
            tree: the tree whose nodes the table refers to.
        """
        self._table = table
        self.num_continuations = int(table.values.shape[2])
        self._states = BlueprintStates(tree)

    def check_game(self, game: Rules) -> None:
        """Check that the tree fits a game.

        Raises:
            RulesError: the games differ in deck, streets, players or their order.
        """
        self._states.check_game(game)

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Compute the values of several leaves before the flop; the ranges are ignored.

        Args:
            leaves: L states at which the preflop round is over.
            board: [0] must be empty.
            ranges: [P, H] ignored.
            own: the player whose value is computed.

        Returns:
            Net chips of `own`, [L, K, 169, 169].

        Raises:
            PokernetsError: there is a board.
        """
        if board:
            raise PokernetsError("the leaf table covers only the preflop round; use a net or rollouts for later rounds")
        nodes = [self._states.node(leaf, played_street(leaf)) for leaf in leaves if not leaf.is_over]
        by_player0 = np.array([self._table.at(node)[own] for node in nodes], dtype=np.float32)
        in_pots = by_player0.reshape(-1, *self._table.values.shape[2:])
        if own == 1:
            in_pots = in_pots.transpose(0, 1, 3, 2)
        return leaf_values(leaves, own, _CLASSES, _class_equity(leaves[0].rules), in_pots)


class TableLeaf(TableValues):
    """An evaluator with a stored table."""

    def __init__(self, *, path: str, blueprint: FirstRound) -> None:
        """Load the table.

        Args:
            path: directory of the artifact.
            blueprint: the blueprint that the table must have been made from.

        Raises:
            ArtifactError: the table is missing or damaged, or belongs to another blueprint.
        """
        super().__init__(LeafTable.load(path, blueprint), blueprint.tree)


@lru_cache(maxsize=2)
def _class_equity(rules: Rules) -> Singles:
    """Return the [169, 169] equity between classes before the flop."""
    return cluster_equity(rules, (), _CLASSES)
