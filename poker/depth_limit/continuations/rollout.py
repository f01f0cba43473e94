"""Values of a depth-limit state: forms of a blueprint played to the end of the hand ([DLS] section 4).

On a complete board both hands of a pair are known, and the expectation over all later betting is exact::

    v_k(h0, h1) = sum over ends z of  r0_z(h0) r1_z(h1) u_z(h0, h1)

Here r is the product of a player's own probabilities on the way to z (`poker.kernels.sampling.continuation`). u is
constant at folds and stake_z * sign(rank(h0) - rank(h1)) at showdowns, so two matrix products give all pairs. Only the
board is sampled. All continuations use the same boards (common random numbers). A pair that shares a card with a board
is excluded from it, which leaves a uniform sample of the boards possible for the pair.

Q is the number of nodes of the betting subtree, Z of ends, F of folds among them, m0 and m1 of hands of players 0 and
1, K of continuations, S of streets and R of boards.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import hand_ranks
from poker.kernels.sampling.continuation import BLOCK, end_reaches
from poker.kernels.types import Board, Reals, Singles
from poker.solvers.blueprint import Blueprint
from poker.solvers.subtree import Subtree, subtree

HandIndexes = NDArray[np.integer]
"""int [m] indices of hands."""
OnBoard = tuple[Singles, Singles, NDArray[np.bool_]]
"""Result of `Continuations.on_board`."""


@dataclass(frozen=True)
class ContinuationValues:
    """Net chips over the whole hand to `own`, who follows the blueprint, while the other player plays form k.

    Pairs of hands without a board have mean and standard error 0.

    Attributes:
        mean: float32 [2, K, m0, m1] mean over boards; the first axis is `own`.
        sem: float32 [2, K, m0, m1] its standard error.
        count: int32 [m0, m1] number of boards of each pair.
    """

    mean: Singles  # [2, K, m0, m1] first axis: own
    sem: Singles  # [2, K, m0, m1]
    count: NDArray[np.int32]  # [m0, m1]

    def in_pots(self, pot: int) -> tuple[Singles, Singles]:
        """Return mean and standard error divided by the pot, as defined by `poker.depth_limit.inputs.TARGET`.

        Args:
            pot: chips in the pot.

        Returns:
            Two arrays float32 [2, K, m0, m1].
        """
        return self.mean / np.float32(pot), self.sem / np.float32(pot)


class Moments:
    """Means over boards with a control variate, a quantity of mean 0 that is correlated with the values.

    The estimate is mean(v) - b mean(c), where b is the regression slope of v on c. There is one slope for each `own`
    and form, estimated from all pairs at once. With that much data the bias of the slope is negligible. Each pair has
    its own standard error.
    """

    def __init__(self, shape: tuple[int, int, int, int]) -> None:
        """Start with no boards.

        Args:
            shape: (2, K, m0, m1).
        """
        self._values, self._squares, self._products = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        self._control, self._control_squares = np.zeros(shape[2:]), np.zeros(shape[2:])
        self._count = np.zeros(shape[2:], dtype=np.int32)

    def add(self, values: Singles, control: Reals, possible: NDArray[np.bool_]) -> None:
        """Add the results of one board.

        Args:
            values: float32 [2, K, m0, m1] values, 0 for impossible pairs.
            control: [m0, m1] control variate, 0 for impossible pairs.
            possible: bool [m0, m1] possible pairs.
        """
        self._values += values
        self._squares += np.square(values)
        self._products += values * control
        self._control += control
        self._control_squares += np.square(control)
        self._count += possible

    def result(self) -> ContinuationValues:
        """Return the means, their standard errors and the numbers of boards."""
        number = np.maximum(self._count, 1)
        mean, mean_control = self._values / number, self._control / number
        variance = self._squares - self._values * mean
        covariance = self._products - self._values * mean_control
        spread = self._control_squares - self._control * mean_control
        slope = covariance.sum(axis=(2, 3), keepdims=True) / max(float(spread.sum()), 1e-12)
        variance += slope * (slope * spread - 2 * covariance)
        sem = np.sqrt(np.maximum(variance, 0.0) / (number * np.maximum(number - 1, 1)))
        mean = mean - slope * mean_control
        return ContinuationValues(mean.astype(np.float32), sem.astype(np.float32), self._count)


class Continuations:
    """Rollouts of a heads-up blueprint against forms of it, from any betting node; subtrees are cached.

    Attributes:
        blueprint: the strategy of `own`.
        num_forms: number of forms K.
    """

    def __init__(self, blueprint: Blueprint, forms: Sequence[Blueprint]) -> None:
        """Prepare rollouts.

        Args:
            blueprint: the strategy of `own`.
            forms: K strategies of the other player.
        """
        self.blueprint = blueprint
        self.num_forms = len(forms)
        """K"""
        first = forms[0].strategy is blueprint.strategy and forms[0].bias == blueprint.bias
        self._extra = 0 if first else 1
        self._groups = _by_strategy(forms if first else [blueprint, *forms])
        self._blueprint_only = _by_strategy([blueprint])
        self._subtrees: dict[int, Subtree] = {}

    def subtree(self, node: int) -> Subtree:
        """Return the betting subtree below a node, from the cache."""
        if node not in self._subtrees:
            self._subtrees[node] = subtree(self.blueprint, node)
        return self._subtrees[node]

    def values(
        self, node: int, boards: Sequence[Board], hands0: HandIndexes, hands1: HandIndexes, equity: Reals | None = None
    ) -> ContinuationValues:
        """Average the values at a betting node over complete boards.

        Args:
            node: betting node of the blueprint's tree.
            boards: complete boards that begin with the cards shown at the node.
            hands0: [m0] hands of player 0.
            hands1: [m1] hands of player 1.
            equity: [m0, m1] exact equity of hands0 at a showdown. If given, the luck of the boards is used as a control
                variate (see `Moments`).

        Returns:
            Values [2, K, m0, m1] in chips.
        """
        moments = Moments((2, self.num_forms, len(hands0), len(hands1)))
        for board in boards:
            values, won, possible = self.on_board(node, board, hands0, hands1)
            moments.add(values, np.zeros_like(won) if equity is None else (won - equity) * possible, possible)
        return moments.result()

    def on_board(self, node: int, board: Board, hands0: HandIndexes, hands1: HandIndexes) -> OnBoard:
        """Compute exact values on a complete board.

        Args:
            node: betting node of the blueprint's tree.
            board: all board cards of the game.
            hands0: [m0] hands of player 0.
            hands1: [m1] hands of player 1.

        Returns:
            Values float32 [2, K, m0, m1], the share of a showdown that hands0 win [m0, m1], and the possible pairs bool
            [m0, m1]. The first two are 0 for impossible pairs.
        """
        below = self.subtree(node)
        (keep0, reach0), (keep1, reach1) = (
            self._reaches(below, player, board, hands) for player, hands in enumerate((hands0, hands1))
        )
        order, won, possible = self._showdowns(board, hands0, hands1)
        out = np.empty((2, self.num_forms, len(hands0), len(hands1)), dtype=np.float32)
        for form in range(self.num_forms):
            out[0, form] = _chips_won(below, keep0, reach1[form], order)
            out[1, form] = -_chips_won(below, reach0[form], keep1, order)
        out *= possible
        return out, won, possible

    def of_blueprint(self, node: int, board: Board, hands0: HandIndexes, hands1: HandIndexes) -> OnBoard:
        """Compute exact values on a complete board if both players follow the blueprint.

        Args:
            node: betting node of the blueprint's tree.
            board: all board cards of the game.
            hands0: [m0] hands of player 0.
            hands1: [m1] hands of player 1.

        Returns:
            Values float32 [m0, m1] of player 0, and the other two results of `on_board`.
        """
        below = self.subtree(node)
        keep0, keep1 = (
            self._reaches(below, player, board, hands, alone=True)[0] for player, hands in enumerate((hands0, hands1))
        )
        order, won, possible = self._showdowns(board, hands0, hands1)
        return _chips_won(below, keep0, keep1, order) * possible, won, possible

    def _showdowns(self, board: Board, hands0: HandIndexes, hands1: HandIndexes) -> OnBoard:
        """Return [m0, m1] showdown results (1, 0, -1), the share that hands0 win and the possible pairs."""
        ranks = hand_ranks(self.blueprint.rules, board)
        order = np.sign(ranks[hands0][:, None] - ranks[hands1][None, :]).astype(np.float32)
        possible = self.blueprint.rules.space.disjoint[np.ix_(hands0, hands1)]
        possible &= (ranks[hands0] >= 0)[:, None] & (ranks[hands1] >= 0)[None, :]
        won: Singles = (order / 2 + np.float32(0.5)) * possible.astype(np.float32)
        return order, won, possible

    def _reaches(
        self, below: Subtree, player: int, board: Board, hands: HandIndexes, alone: bool = False
    ) -> tuple[Singles, Singles]:
        """Return the reach [Z, m] of the blueprint and [K, Z, m] of the forms; with `alone` only the first."""
        buckets = self._buckets(below, board, hands)
        groups = self._blueprint_only if alone else self._groups
        out = np.empty((sum(bias.shape[1] for _, bias in groups), below.num_ends, len(hands)), dtype=np.float32)
        begin = 0
        for strategy, bias in groups:
            end = begin + bias.shape[1]
            scratch = np.empty((len(below.player), end - begin, BLOCK), dtype=np.float32)
            end_reaches(
                below.player, below.street, below.first, below.arity, below.row, below.stride, below.end,
                below.action_class, strategy, bias, player, buckets, scratch, out[begin:end],
            )  # fmt: skip
            begin = end
        return out[0], out[self._extra :]

    def _buckets(self, below: Subtree, board: Board, hands: HandIndexes) -> NDArray[np.int32]:
        """Return the buckets [S, m] on the streets of the subtree, 0 on earlier streets."""
        sizes = self.blueprint.rules.board_sizes
        buckets = np.zeros((len(sizes), len(hands)), dtype=np.int32)
        for street in range(int(below.street[0]), len(sizes)):
            buckets[street] = self.blueprint.cards.buckets(board[: sizes[street]])[hands]
        return buckets


def _chips_won(below: Subtree, reach0: Singles, reach1: Singles, order: Singles) -> Singles:
    """Return [m0, m1] chips of player 0, from the reaches [Z, m0] and [Z, m1] of the ends."""
    folds = len(below.fold_value)
    fold = (reach0[:folds] * below.fold_value[:, None]).T @ reach1[:folds]
    show = (reach0[folds:] * below.stake[:, None]).T @ reach1[folds:]
    return np.asarray(fold + show * order)


def _by_strategy(forms: Sequence[Blueprint]) -> list[tuple[NDArray[Any], Singles]]:
    """Return strategies with the biases [3, k] of consecutive forms that share them."""
    groups = (list(group) for _, group in groupby(forms, key=lambda form: id(form.strategy)))
    return [
        (group[0].strategy, np.ascontiguousarray(np.array([form.bias for form in group], np.float32).T))
        for group in groups
    ]
