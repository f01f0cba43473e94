"""Values at the depth limit: the one interface between the solver and whatever predicts the rest of the hand.

A leaf is the public state where a betting round is over and the next card is not dealt. There the opponent picks one of
K continuations for the rest of the hand and the searcher (`own`) keeps to the blueprint ([DLS] section 4), so a leaf
holds, for every pair of hands, K values. Where everybody is all-in nobody acts any more: the value is the equity.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import showdown_equity
from poker.depth_limit.leaves.clusters import pair_means
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.game.rules import NO_ACTION, Rules
from poker.kernels.types import Board, Ranges, Singles
from poker.solvers.vector.leaves import LeafValues
from poker.tree import BettingTree

LeafQuery = tuple[Sequence[Betting], Board, Ranges, int]
"""The arguments of `LeafEvaluator.values`."""


class LeafEvaluator(ABC):
    """Predicts the rest of the hand. It depends on nothing but its arguments and its own seed."""

    num_continuations: int
    """K, from which the opponent picks."""

    @abstractmethod
    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Net chips of `own` over the whole hand at each of `leaves` [L, K, C, C], hands grouped in clusters."""

    def together(self, queries: Sequence[LeafQuery]) -> Sequence[LeafValues]:
        """`values` of each query, for evaluators that do better with the leaves of many solves at once."""
        return [self.values(*query) for query in queries]

    def check_game(self, game: Rules) -> None:  # noqa: B027 (values of most evaluators belong to no game)
        """Raise PokernetsError if the values are those of another game."""


class _Changed(LeafEvaluator):
    """Evaluator that changes the values of another, `of`."""

    def __init__(self, of: LeafEvaluator, num_continuations: int) -> None:
        self._of = of
        self.num_continuations = num_continuations

    @abstractmethod
    def _change(self, values: LeafValues, leaves: Sequence[Betting]) -> LeafValues: ...

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        return self.together([(leaves, board, ranges, own)])[0]

    def together(self, queries: Sequence[LeafQuery]) -> list[LeafValues]:
        return [
            self._change(values, query[0]) for values, query in zip(self._of.together(queries), queries, strict=True)
        ]

    def check_game(self, game: Rules) -> None:
        self._of.check_game(game)


class SingleValue(_Changed):
    """The naive form: one value per leaf, as if both players followed the blueprint from there ([DLS] section 6)."""

    def __init__(self, *, of: LeafEvaluator) -> None:
        super().__init__(of, 1)

    def _change(self, values: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        return values.first_continuation()


class GiveUpContinuation(_Changed):
    """Adds giving up to the continuations of `of`: the opponent bets no more and folds to the bet that `own` makes.
    Nobody needs to do worse than that, so the choice is never wrong, and players who fold too much are near it."""

    def __init__(self, *, of: LeafEvaluator) -> None:
        super().__init__(of, of.num_continuations + 1)

    def _change(self, values: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        """Values with half the pot as the last continuation, except where nobody acts any more."""
        last = values.values[:, :1].copy()
        for row, leaf in zip(last, leaves, strict=True):
            if not leaf.is_over:
                row[:] = matched_pot(leaf) / 2
        return replace(values, values=np.concatenate((values.values, last), axis=1))


def matched_pot(state: Betting) -> int:
    """Chips that both heads-up players have matched; what one has put in beyond that comes back."""
    return 2 * min(state.committed)


def played_street(state: Betting) -> int:
    """The street of the last action: where an all-in, which jumps to the end of the hand, really happened."""
    return max((street for street, actions in enumerate(state.actions) if actions), default=0)


def cluster_equity(rules: Rules, board: Board, clusters: NDArray[np.int32]) -> Singles:
    """[C, C] mean all-in equity of the row's hands against the column's."""
    return pair_means(showdown_equity(rules, board), possible_pairs(board), clusters, clusters)


def possible_pairs(board: Board) -> Singles:
    """[H, H] 1 for two hands that share no card with each other or the board."""
    return HOLDEM.possible(board).astype(np.float32)


def leaf_values(
    leaves: Sequence[Betting], own: int, clusters: NDArray[np.int32], equity: Singles, in_pots: Singles
) -> LeafValues:
    """Values in chips from `in_pots` [L', K, C, C], of the leaves where somebody can still act, in order.

    These are net chips of `own` over the whole hand divided by the pot: the equity minus one half at the other leaves.
    """
    continuations, count = in_pots.shape[1], len(equity)
    values = np.empty((len(leaves), continuations, count, count), dtype=np.float32)
    predicted = iter(in_pots)
    for row, leaf in zip(values, leaves, strict=True):
        row[:] = matched_pot(leaf) * (equity - np.float32(0.5) if leaf.is_over else next(predicted))
    return LeafValues(own=own, own_cluster=clusters, opp_cluster=clusters, values=values)


def leaf_states(root: Betting, tree: BettingTree) -> list[Betting]:
    """The betting states at the public leaves of `tree`, in the order of its leaf indices."""

    @cache
    def at(node: int) -> Betting:
        if node == 0:
            return root
        above, action = at(int(tree.parent[node])), int(tree.action[node])
        return above if action == NO_ACTION else above.apply(action)

    return [at(node) for node in tree.leaves.tolist()]
