"""Exact values and best responses over ranges: any policy on a betting tree, all hands of both players in one walk.

    v(node)[h] = what the responder wins with hand h, times the opponent's reach, summed over the compatible hands

At the responder's decisions v is the largest of the actions' values for each hand, at the opponent's their sum after
the range was multiplied with the probabilities, at public cards the mean. For games with few public cards: with many
there is `poker.solvers.best_response.unabstracted` for policies that play by buckets.

All values are chips per hand, float64. Symbols: H hands, A actions.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from poker.abstraction.equities import showdown_chances
from poker.errors import PokernetsError
from poker.tree import BettingTree, Kind
from poker.types import Board, Floats, Reals

_SUM_TOLERANCE = 1e-3

RangePolicy = Callable[[int, Board], Reals]
"""(tree node, board) -> [H, A] probabilities of its actions."""


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


def evaluate_policy(tree: BettingTree, policy: RangePolicy, board: Board = ()) -> ProfileValue:
    """Values of a policy of both players from the root of a game; it may treat suits as it likes."""
    best = [RangeWalk(tree, policy, player).value(board) for player in range(2)]
    return ProfileValue(RangeWalk(tree, policy, 0, own=policy).value(board), (best[0], best[1]))


@dataclass
class RangeWalk:
    """One walk for the best response of `player` to `policy`, or for the player's `own` policy.

    Raises PokernetsError where a policy gives no probabilities, and for trees that do not end the hand.
    """

    tree: BettingTree
    policy: RangePolicy
    player: int
    own: RangePolicy | None = None

    def __post_init__(self) -> None:
        check_whole_hands(self.tree)

    def value(self, board: Board = ()) -> float:
        """Chips per hand from the root, which is played on `board`."""
        space = self.tree.rules.space
        live = space.live(board).astype(np.float64)
        return float((live * self.values(0, board, live)).sum() / (live * space.compatible_mass(live)).sum())

    def values(self, node: int, board: Board, others: Floats) -> Floats:
        """[H] v, where the opponent's reach is `others`."""
        tree, kind = self.tree, self.tree.kind[node]
        if kind == Kind.FOLD:
            sign = -1.0 if tree.folded[node, self.player] else 1.0
            return sign * float(tree.committed[node].min()) * tree.rules.space.compatible_mass(others)
        if kind == Kind.SHOWDOWN:
            return float(tree.committed[node].min()) * showdown_chances(tree.rules, board, others)
        if kind == Kind.STREET:
            return self.dealt(node, board, others)
        if tree.player[node] == self.player and self.own is None:
            return np.asarray(np.max([self.values(child, board, others) for child in tree.children(node)], axis=0))
        total, theirs = np.zeros(tree.rules.num_hands), tree.player[node] != self.player
        shares = self._probabilities(self.policy if theirs else self.own or self.policy, node, board).T
        for child, share in zip(tree.children(node), shares, strict=True):
            reach = others * share if theirs else others
            if theirs and reach.any():
                total += self.values(child, board, reach)
            elif not theirs and share.any():
                total += share * self.values(child, board, reach)
        return total

    def dealt(self, node: int, board: Board, others: Floats) -> Floats:
        """[H] v at a STREET node: the mean over the cards that come."""
        rules, below = self.tree.rules, int(self.tree.first_child[node])
        new = rules.board_sizes[int(self.tree.street[node]) + 1] - len(board)
        if not new:
            return self.values(below, board, others)
        total = np.zeros(rules.num_hands)
        deck = [card for card in range(rules.deck_size) if card not in board]
        for cards in itertools.combinations(deck, new):
            after = (*board, *cards)
            live = rules.space.live(after)
            total += live * self.values(below, after, others * live)
        return total / math.comb(len(deck) - 2 * rules.num_hole_cards, new)

    def _probabilities(self, policy: RangePolicy, node: int, board: Board) -> Reals:
        rules, probs = self.tree.rules, policy(node, board)
        wrong = rules.space.live(board) & ~((probs >= 0).all(axis=1) & (abs(probs.sum(axis=1) - 1) < _SUM_TOLERANCE))
        if wrong.any():
            raise PokernetsError(
                f"the policy at `{self.tree.path_text(node)}` on `{rules.cards_text(board)}` gives hand "
                f"{int(np.flatnonzero(wrong)[0])} no probabilities that add to 1"
            )
        return probs


def check_whole_hands(tree: BettingTree) -> None:
    """Raise PokernetsError for a tree with a depth limit or dead chips."""
    if np.isin(tree.kind, (Kind.LEAF, Kind.CHOICE)).any() or tree.dead:
        raise PokernetsError("a best response plays whole hands: no depth limit and no dead chips")
