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
from poker.depth_limit.inputs import Hands
from poker.kernels.sampling.continuation import BLOCK, add_boards, end_reaches
from poker.kernels.types import Board, Singles
from poker.solvers.blueprint import Blueprint
from poker.solvers.subtree import Subtree, subtree

OnBoards = tuple[Singles, Singles, NDArray[np.bool_], Singles]
"""Result of `Continuations.on_boards`."""


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

    def add(self, values: Singles, control: Singles, possible: NDArray[np.bool_]) -> None:
        """Add the results of several boards, one after the other.

        Args:
            values: float32 [2, K, R, m0, m1] values, 0 for impossible pairs.
            control: float32 [R, m0, m1] control variate, 0 for impossible pairs.
            possible: bool [R, m0, m1] possible pairs.
        """
        add_boards(np.ascontiguousarray(values), control, self._values, self._squares, self._products)
        self._control += control.sum(axis=0, dtype=np.float64)
        self._control_squares += np.square(control).sum(axis=0, dtype=np.float64)
        self._count += possible.sum(axis=0)

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
        self._subtrees: dict[int, Subtree] = {}

    def subtree(self, node: int) -> Subtree:
        """Return the betting subtree below a node, from the cache."""
        if node not in self._subtrees:
            self._subtrees[node] = subtree(self.blueprint, node)
        return self._subtrees[node]

    def values(
        self, node: int, boards: Sequence[Board], hands0: Hands, hands1: Hands, equity: Singles | None = None
    ) -> ContinuationValues:
        """Average the values at a betting node over complete boards.

        Args:
            node: betting node of the blueprint's tree.
            boards: complete boards that begin with the cards shown at the node.
            hands0: [m0] hands of player 0.
            hands1: [m1] hands of player 1.
            equity: float32 [m0, m1] exact equity of hands0 at a showdown. If given, the luck of the boards is used as a
                control variate (see `Moments`).

        Returns:
            Values [2, K, m0, m1] in chips.
        """
        moments = Moments((2, self.num_forms, len(hands0), len(hands1)))
        step = max(1, BLOCK // max(len(hands0), len(hands1)))
        for begin in range(0, len(boards), step):
            values, won, possible, _ = self.on_boards(node, boards[begin : begin + step], hands0, hands1)
            moments.add(values, np.zeros_like(won) if equity is None else (won - equity) * possible, possible)
        return moments.result()

    def on_boards(self, node: int, boards: Sequence[Board], hands0: Hands, hands1: Hands) -> OnBoards:
        """Compute exact values on complete boards.

        Args:
            node: betting node of the blueprint's tree.
            boards: [R] boards with all board cards of the game.
            hands0: [m0] hands of player 0.
            hands1: [m1] hands of player 1.

        Returns:
            Values float32 [2, K, R, m0, m1], the share of a showdown that hands0 win [R, m0, m1], the possible pairs
            bool [R, m0, m1], and the values float32 [R, m0, m1] of player 0 if both follow the blueprint. Values and
            shares are 0 for impossible pairs.
        """
        below, rules, cards = self.subtree(node), self.blueprint.rules, self.blueprint.cards
        buckets = np.zeros((rules.num_streets, len(boards), rules.num_hands), dtype=np.int32)
        for street in range(int(below.street[0]), rules.num_streets):
            buckets[street] = [cards.buckets(board[: rules.board_sizes[street]]) for board in boards]
        reach0, reach1 = (
            self._reaches(below, player, buckets[:, :, hands]) for player, hands in enumerate((hands0, hands1))
        )
        values, shown = np.empty((2, 2, len(reach0), len(boards), len(hands0), len(hands1)), np.float32)
        for ends, out in ((slice(len(below.fold_value)), values), (slice(len(below.fold_value), None), shown)):
            first, second = np.moveaxis(reach0[:, ends], 1, -1), np.swapaxes(reach1[:, ends], 1, 2)
            np.matmul(first[0], second, out=out[0])
            np.matmul(first[1:], second[0], out=out[1, 1:])
            out[1, 0] = out[0, 0]
        ranks = np.stack([hand_ranks(rules, board) for board in boards])
        ranks0, ranks1 = ranks[:, hands0, None], ranks[:, None, hands1]
        order = np.sign(ranks0 - ranks1).astype(np.float32)
        possible = rules.space.disjoint[np.ix_(hands0, hands1)] & (ranks0 >= 0) & (ranks1 >= 0)
        shown *= order
        values += shown
        values *= possible
        np.negative(values[1], out=values[1])
        return values[:, self._extra :], (order / 2 + np.float32(0.5)) * possible, possible, values[0, 0]

    def _reaches(self, below: Subtree, player: int, buckets: NDArray[np.int32]) -> Singles:
        """Return the reach [1 + K, Z, R, m] of the blueprint and the other forms for buckets [S, R, m].

        That of player 0 is multiplied by the chips at the ends.
        """
        hands = buckets.reshape(len(buckets), -1)
        worth = np.ones(below.num_ends, np.float32) if player else np.concatenate([below.fold_value, below.stake])
        parts = []
        for strategy, bias in self._groups:
            out = np.empty((bias.shape[1], below.num_ends, hands.shape[1]), dtype=np.float32)
            end_reaches(
                below.player, below.street, below.first, below.arity, below.row, below.stride, below.end,
                below.action_class, worth, strategy, bias, player, hands, out,
            )  # fmt: skip
            parts.append(out)
        every = parts[0] if len(parts) == 1 else np.concatenate(parts)
        return every.reshape(*every.shape[:2], *buckets.shape[1:])


def _by_strategy(forms: Sequence[Blueprint]) -> list[tuple[NDArray[Any], Singles]]:
    """Return strategies with the biases [3, k] of consecutive forms that share them."""
    groups = (list(group) for _, group in groupby(forms, key=lambda form: id(form.strategy)))
    return [
        (group[0].strategy, np.ascontiguousarray(np.array([form.bias for form in group], np.float32).T))
        for group in groups
    ]
