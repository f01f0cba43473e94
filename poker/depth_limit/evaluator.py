"""Leaf values: the only interface between the solver and the predictor of the rest of the hand.

A leaf is the public state where a betting round is over and the next card is not dealt. There the opponent picks one of
K continuations for the rest of the hand, and the searcher (`own`) follows the blueprint ([DLS] section 4). A leaf
therefore has K values for every pair of hands. Where all players are all-in, nobody acts any more and the value is the
equity.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from poker.abstraction.equities import showdown_equity
from poker.depth_limit.leaves.clusters import pair_means
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.game.rules import NO_ACTION, Rules
from poker.kernels.types import I32, Board, Ranges, Singles
from poker.solvers.vector.leaves import LeafValues
from poker.tree import BettingTree

LeafQuery = tuple[Sequence[Betting], Board, Ranges, int]
"""The arguments of `LeafEvaluator.values`."""


class LeafEvaluator(ABC):
    """A predictor of the rest of the hand, which depends only on its arguments and its own seed.

    Attributes:
        num_continuations: K, the number of continuations that the opponent picks from.
    """

    num_continuations: int
    """K, the number of continuations."""

    @abstractmethod
    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Compute the values of several leaves with one board.

        Args:
            leaves: L states at which a betting round is over.
            board: [B] cards on the board.
            ranges: [P, H] ranges of both players.
            own: the player whose value is computed.

        Returns:
            Net chips of `own` over the whole hand, [L, K, C, C], with hands grouped in C clusters.
        """

    def together(self, queries: Sequence[LeafQuery]) -> Sequence[LeafValues]:
        """Compute the values of several queries at once.

        Evaluators that are faster with the leaves of many solves at once override this.

        Args:
            queries: arguments of `values`, with boards [B] and ranges [P, H].

        Returns:
            One result of `values` per query.
        """
        return [self.values(*query) for query in queries]

    def check_game(self, game: Rules) -> None:  # noqa: B027 (most evaluators apply to any game)
        """Check that the values apply to a game; most evaluators apply to any.

        Args:
            game: the game that will be played.

        Raises:
            PokernetsError: the values belong to another game.
        """


class _Wrapper(LeafEvaluator):
    """An evaluator that changes the values of another evaluator, `of`."""

    def __init__(self, of: LeafEvaluator, num_continuations: int) -> None:
        self._of = of
        self.num_continuations = num_continuations

    @abstractmethod
    def _transform(self, values: LeafValues, leaves: Sequence[Betting]) -> LeafValues: ...

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Compute the changed values of several leaves; see `LeafEvaluator.values`."""
        return self.together([(leaves, board, ranges, own)])[0]

    def together(self, queries: Sequence[LeafQuery]) -> list[LeafValues]:
        """Compute the changed values of several queries; see `LeafEvaluator.together`."""
        unchanged = zip(self._of.together(queries), queries, strict=True)
        return [self._transform(values, leaves) for values, (leaves, *_) in unchanged]

    def check_game(self, game: Rules) -> None:
        """Check that the values of the other evaluator apply to a game."""
        self._of.check_game(game)


class SingleValue(_Wrapper):
    """The naive evaluator: one value per leaf, as if both followed the blueprint from there ([DLS] section 6)."""

    def __init__(self, *, of: LeafEvaluator) -> None:
        """Wrap an evaluator and use only its first continuation.

        Args:
            of: the evaluator to change.
        """
        super().__init__(of, 1)

    def _transform(self, values: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        return values.first_continuation()


class GiveUpContinuation(_Wrapper):
    """An evaluator with one more continuation, in which the opponent gives up.

    The opponent never bets again and folds to the bet that `own` makes. No opponent needs to do worse than that, so
    adding the choice is never wrong. Players who fold too much are close to it.
    """

    def __init__(self, *, of: LeafEvaluator) -> None:
        """Wrap an evaluator and add the continuation to its own.

        Args:
            of: the evaluator to change.
        """
        super().__init__(of, of.num_continuations + 1)

    def _transform(self, values: LeafValues, leaves: Sequence[Betting]) -> LeafValues:
        """Return values with half the pot as the last continuation, except where nobody acts any more."""
        last = values.values[:, :1].copy()
        for row, leaf in zip(last, leaves, strict=True):
            if not leaf.is_over:
                row[:] = matched_pot(leaf) / 2
        return replace(values, values=np.concatenate((values.values, last), axis=1))


def matched_pot(state: Betting) -> int:
    """Return the chips that both heads-up players have matched; an uncalled excess is not included."""
    return 2 * min(state.committed)


def played_street(state: Betting) -> int:
    """Return the street of the last action, which for an all-in is earlier than the state's own street."""
    return max((street for street, actions in enumerate(state.actions) if actions), default=0)


def cluster_equity(rules: Rules, board: Board, clusters: I32) -> Singles:
    """Compute the mean all-in equity between clusters of hands.

    Args:
        board: [B] cards on the board.
        clusters: int32 [H] cluster of each hand.

    Returns:
        float32 [C, C] equity of the row's hands against the column's.
    """
    return pair_means(showdown_equity(rules, board), possible_pairs(board), clusters, clusters)


def possible_pairs(board: Board) -> Singles:
    """Return which pairs of hands are possible together with the board.

    Args:
        board: [B] cards on the board.

    Returns:
        float32 [H, H] 1 for two hands that share no card with each other or the board, else 0.
    """
    return HOLDEM.possible(board).astype(np.float32)


def leaf_values(leaves: Sequence[Betting], own: int, clusters: I32, equity: Singles, in_pots: Singles) -> LeafValues:
    """Convert predictions in pots to values in chips.

    Args:
        leaves: L states at which a betting round is over.
        own: the player whose value it is.
        clusters: int32 [H] cluster of each hand, for both players.
        equity: [C, C] all-in equity, used for leaves where everybody is all-in.
        in_pots: [L', K, C, C] net chips of `own` over the whole hand divided by the pot, for the L' leaves where a
            player can still act, in order.

    Returns:
        Values [L, K, C, C] in chips.
    """
    continuations, count = in_pots.shape[1], len(equity)
    values = np.empty((len(leaves), continuations, count, count), dtype=np.float32)
    predicted = iter(in_pots)
    for row, leaf in zip(values, leaves, strict=True):
        row[:] = matched_pot(leaf) * (equity - np.float32(0.5) if leaf.is_over else next(predicted))
    return LeafValues(own=own, own_cluster=clusters, opp_cluster=clusters, values=values)


def leaf_states(root: Betting, tree: BettingTree) -> list[Betting]:
    """Return the betting states at the public leaves of a tree.

    Args:
        root: the state at the root of the tree.

    Returns:
        L states in the order of the tree's leaf numbers.
    """

    @cache
    def at(node: int) -> Betting:
        if node == 0:
            return root
        above, action = at(int(tree.parent[node])), int(tree.action[node])
        return above if action == NO_ACTION else above.apply(action)

    return [at(node) for node in tree.leaves.tolist()]
