"""Values at the depth limit: the protocol between the solver and whatever predicts the rest of the hand.

A leaf is the public state where a betting round is over and the next card is not dealt. There the opponent picks one of
K continuations for the rest of the hand and the searcher (`own`) keeps to the blueprint ([DLS] section 4), so a leaf
holds, for every pair of hands, K values. Where everybody is all-in nobody acts any more: the value is the equity.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import showdown_equity
from poker.betting import Betting
from poker.cards import HOLDEM
from poker.rules import Rules, check_game
from poker.search.beliefs import Ranges
from poker.search.leaves.clusters import pair_means
from poker.solvers.rollout.leaf_values import LeafValues
from poker.types import Board, Singles


class LeafEvaluator(Protocol):
    """Predicts the rest of the hand. It depends on nothing but its arguments and its own seed."""

    @property
    def num_continuations(self) -> int:
        """K, from which the opponent picks."""

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Net chips of `own` over the whole hand at each of `leaves` [L, K, C, C], hands grouped in clusters."""


Leaves = tuple[Sequence[Betting], Board, Ranges, int]
"""The arguments of `LeafEvaluator.values`."""


@runtime_checkable
class LeavesTogether(Protocol):
    """A leaf evaluator that does better with the leaves of many solves at once."""

    def together(self, asked: Sequence[Leaves]) -> list[LeafValues]:
        """`values` of each of `asked`."""


def values_together(evaluator: LeafEvaluator, asked: Sequence[Leaves]) -> list[LeafValues]:
    """Values of each of `asked`, at once where the evaluator can."""
    if isinstance(evaluator, LeavesTogether):
        return evaluator.together(asked)
    return [evaluator.values(*leaves) for leaves in asked]


class _Changed:
    """Evaluator that changes the values of another, `of`."""

    def __init__(self, *, of: LeafEvaluator) -> None:
        self._of = of

    def _change(self, found: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        raise NotImplementedError

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        return self._change(self._of.values(leaves, board, ranges, own), leaves)

    def together(self, asked: Sequence[Leaves]) -> list[LeafValues]:
        found = values_together(self._of, asked)
        return [self._change(values, leaves) for values, (leaves, *_) in zip(found, asked, strict=True)]

    def check_game(self, game: Rules) -> None:
        check_game(self._of, game)


class SingleValue(_Changed):
    """The naive form: one value per leaf, as if both players followed the blueprint from there ([DLS] section 6)."""

    num_continuations = 1

    def _change(self, found: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        return found.first_continuation()


class GiveUpContinuation(_Changed):
    """Adds giving up to the continuations of `of`: the opponent bets no more and folds to the bet that `own` makes.
    Nobody needs to do worse than that, so the choice is never wrong, and players who fold too much are near it."""

    @property
    def num_continuations(self) -> int:
        return self._of.num_continuations + 1

    def _change(self, found: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        """Values with half the pot as the last continuation, except where nobody acts any more."""
        last = found.values[:, :1].copy()
        for row, leaf in zip(last, leaves, strict=True):
            if not leaf.is_over:
                row[:] = matched_pot(leaf) / 2
        return replace(found, values=np.concatenate((found.values, last), axis=1))


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
