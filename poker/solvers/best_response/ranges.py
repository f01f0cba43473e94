"""Exact values and best responses over ranges: any policy on a betting tree, all hands of both players in one walk.

    v(node)[h] = what the responder wins with hand h, times the opponent's reach, summed over the compatible hands

At the responder's decisions v is the largest of the actions' values for each hand, at the opponent's their sum after
the range was multiplied with the probabilities, at public cards the mean. For games with few public cards: with many
there is `poker.solvers.best_response.unabstracted` for policies that play by buckets.

With `isomorphism`, hold'em is walked on one first deal of each class under renaming of suits, counted with its
multiplicity. That is exact for a policy that treats suits alike, which is checked on some boards; others are refused.

All values are chips per hand, float64. Symbols: H hands, A actions.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import showdown_chances
from poker.errors import PokernetsError
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.tree import BettingTree, Kind
from poker.types import Board, Floats

_CHECKED_BOARDS = 4
_CHECKED_RENAMINGS = (5, 9, 16, 23)
_TOLERANCE = 1e-5
_SUM_TOLERANCE = 1e-3

RangePolicy = Callable[[int, Board], NDArray[np.floating]]
"""(tree node, board) -> [H, A] probabilities of its actions."""


@dataclass(frozen=True)
class RangeValue:
    """Value of a player, on average and with each hand [H] against the hands it leaves possible."""

    value: float
    by_hand: Floats


@dataclass(frozen=True)
class ProfileValue:
    """The value of player 0 under the profile, and of each player's best response to the other.

    `nash_conv` is what both players together gain by best responses; exploitability is half of it.
    """

    value: float
    best_response: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        return self.best_response[0] + self.best_response[1]

    @property
    def exploitability(self) -> float:
        return self.nash_conv / 2


def best_response(
    tree: BettingTree,
    policy: RangePolicy,
    player: int,
    board: Board = (),
    *,
    isomorphism: bool = False,
) -> RangeValue:
    """The best response of `player` to `policy` in the other seat, with the bets of `tree`, from the root's `board`.

    Raises PokernetsError where `policy` gives no probabilities, and for trees that do not end the hand.
    """
    return RangeWalk(tree, policy, player, isomorphism).result(board)


def evaluate_policy(tree: BettingTree, policy: RangePolicy, board: Board = ()) -> ProfileValue:
    """Values of a policy of both players from the root of a game; it may treat suits as it likes."""
    best = [best_response(tree, policy, player, board).value for player in range(2)]
    return ProfileValue(RangeWalk(tree, policy, 0, False, policy).result(board).value, (best[0], best[1]))


@dataclass
class RangeWalk:
    """One walk for the best response of `player`, or for its own policy; checks that suits are treated alike where
    `isomorphism` says so."""

    tree: BettingTree
    policy: RangePolicy
    player: int
    isomorphism: bool
    own: RangePolicy | None = None
    """The player's policy, None for the best response."""
    checked: int = 0

    def __post_init__(self) -> None:
        if np.isin(self.tree.kind, (Kind.LEAF, Kind.CHOICE)).any() or self.tree.dead:
            raise PokernetsError("a best response plays whole hands: no depth limit and no dead chips")

    def result(self, board: Board) -> RangeValue:
        space = self.tree.rules.space
        live = space.live(board).astype(np.float64)
        mass = live * space.compatible_mass(live)
        chips = live * self.values(0, board, live)
        by_hand: Floats = np.divide(chips, mass, out=np.zeros_like(chips), where=mass > 0)
        return RangeValue(float(chips.sum() / mass.sum()), by_hand)

    def values(self, node: int, board: Board, others: Floats) -> Floats:
        """[H]"""
        tree, kind = self.tree, self.tree.kind[node]
        if kind == Kind.FOLD:
            sign = -1.0 if tree.folded[node, self.player] else 1.0
            return sign * float(tree.committed[node].min()) * tree.rules.space.compatible_mass(others)
        if kind == Kind.SHOWDOWN:
            return float(tree.committed[node].min()) * showdown_chances(tree.rules, board, others)
        if kind == Kind.STREET:
            return self._deal(node, board, others)
        if tree.player[node] == self.player and self.own is None:
            best = [self.values(child, board, others) for child in tree.children(node)]
            return np.asarray(np.max(best, axis=0))
        return self._played(node, board, others)

    def _played(self, node: int, board: Board, others: Floats) -> Floats:
        """[H] at a decision by a policy: the opponent's range is multiplied by it, the player's values are weighted."""
        tree, total = self.tree, np.zeros(self.tree.rules.num_hands)
        theirs = tree.player[node] != self.player
        policy = self.policy if theirs or self.own is None else self.own
        probs = policy(node, board)
        self._check(node, board, policy, probs)
        for column, child in enumerate(tree.children(node)):
            weights = others * probs[:, column] if theirs else others
            if not theirs and probs[:, column].any():
                total += probs[:, column] * self.values(child, board, weights)
            elif theirs and weights.any():
                total += self.values(child, board, weights)
        return total

    def _deal(self, node: int, board: Board, others: Floats) -> Floats:
        rules, below = self.tree.rules, int(self.tree.first_child[node])
        new = rules.board_sizes[int(self.tree.street[node]) + 1] - len(board)
        if not new:
            return self.values(below, board, others)
        classes = _classes(new) if self.isomorphism and not board else None
        deck = [card for card in range(rules.deck_size) if card not in board]
        dealt = classes or [((*board, *cards), 0) for cards in itertools.combinations(deck, new)]
        total = np.zeros(rules.num_hands)
        for after, multiplicity in dealt:
            live = rules.space.live(after)
            values = live * self.values(below, after, others * live)
            total += values[HAND_PERMUTATION].mean(axis=0) * multiplicity if multiplicity else values
        return total / math.comb(len(deck) - 2 * rules.num_hole_cards, new)

    def _check(self, node: int, board: Board, policy: RangePolicy, probs: NDArray[np.floating]) -> None:
        """Check that rows are probabilities and, on the first few boards, that renaming suits changes none."""
        rules = self.tree.rules
        live = rules.space.live(board)
        if self.isomorphism and (not board or self.checked < _CHECKED_BOARDS):
            self.checked += bool(board)
            for renaming in _CHECKED_RENAMINGS:
                image = rules.ordered_board(tuple(CARD_PERMUTATION[renaming, list(board)].tolist()))
                renamed = policy(node, image)[HAND_PERMUTATION[renaming]]
                if np.abs(renamed - probs)[live].max() > _TOLERANCE:
                    place = self._place(node, board)
                    raise PokernetsError(
                        f"the policy at {place} changes when suits are renamed, so classes of boards cannot be walked"
                    )
        wrong = live & ~((probs >= 0).all(axis=1) & (abs(probs.sum(axis=1) - 1) < _SUM_TOLERANCE))
        if wrong.any():
            hand = int(np.flatnonzero(wrong)[0])
            raise PokernetsError(
                f"the policy at {self._place(node, board)} gives hand {hand} no probabilities that add to 1"
            )

    def _place(self, node: int, board: Board) -> str:
        return f"`{self.tree.path_text(node)}` on `{self.tree.rules.cards_text(board)}`"


def _classes(new: int) -> list[tuple[Board, int]]:
    """One board of each class under renaming of suits, and how many it stands for."""
    boards = canonical_boards(new).tolist()
    return [(tuple(cards), count) for cards, count in zip(boards, board_multiplicities(new).tolist(), strict=True)]
