"""Exact values and best responses over ranges: any policy on a betting tree, all hands of all players in one walk.

The value of a node is::

    v(node)[h] = winnings of the responder with hand h, times the others' reach, summed over their compatible hands

At the responder's decisions v is the maximum over actions for each hand. At another player's decisions it is the sum
over actions, after the reach was multiplied by the probabilities. At public cards it is the mean. This suits games with
few public cards; `poker.solvers.best_response.abstract` handles blueprints of games with many. With more than two
players the reach is over the joint hands of all others, which suits small decks.

All values are chips per hand, float64. P is the number of players, H of hands and A of actions.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, reduce

import numpy as np

from poker.abstraction.equities import hand_ranks, showdown_chances
from poker.game.rules import Rules
from poker.kernels.types import Board, Floats, Reals
from poker.run.errors import PokernetsError
from poker.tree import BettingTree, Kind

_SUM_TOLERANCE = 1e-3

RangePolicy = Callable[[int, Board], Reals]
"""Function from tree node and board to the probabilities of its actions [H, A]."""


@dataclass(frozen=True)
class ProfileValue:
    """The values of a strategy profile and of best responses to it, in chips per hand.

    Attributes:
        values: [P] value of the profile to each player.
        best_response: [P] value of each player's best response to the others.
    """

    values: tuple[float, ...]
    best_response: tuple[float, ...]

    @property
    def value(self) -> float:
        """The value to player 0."""
        return self.values[0]

    @property
    def nash_conv(self) -> float:
        """Sum over players of the gain from a unilateral best response, in chips per hand."""
        return sum(self.best_response)  # the values sum to 0

    @property
    def exploitability(self) -> float:
        """Mean over players of the gain from a unilateral best response, in chips per hand."""
        return self.nash_conv / len(self.values)


def evaluate_policy(tree: BettingTree, policy: RangePolicy) -> ProfileValue:
    """Compute the values of a policy of all players from the root of a game.

    Args:
        policy: function from node and board to probabilities [H, A]; suits may matter.

    Raises:
        PokernetsError: a policy returns invalid probabilities, or the tree does not end the hand.
    """
    players = range(tree.rules.num_players)
    best = [RangeWalk(tree, policy, player).value() for player in players]
    values = [RangeWalk(tree, policy, player, own=policy).value() for player in players[:-1]]
    return ProfileValue((*values, -sum(values)), tuple(best))


@dataclass
class RangeWalk:
    """A walk that computes the best response of a player to a policy, or the value of the player's own policy.

    Attributes:
        policy: the policy of the other players.
        player: the player whose value is computed.
        own: the player's policy; None for the best response.

    Raises:
        PokernetsError: the tree has a depth limit or dead chips.
    """

    tree: BettingTree
    policy: RangePolicy
    player: int
    own: RangePolicy | None = None

    def __post_init__(self) -> None:
        """Check that the tree contains whole hands."""
        check_whole_hands(self.tree)

    def value(self) -> float:
        """Return the player's chips per hand from the root, before any card is dealt.

        Raises:
            PokernetsError: a policy returns invalid probabilities.
        """
        rules = self.tree.rules
        live = np.ones(rules.num_hands)
        others = self._joint(live)
        pairs = rules.num_players == 2
        mass = rules.space.compatible_mass(live) if pairs else _weighted_sums(_compatible(rules, self.player), others)
        return float((live * self.values(0, (), others)).sum() / (live * mass).sum())

    def values(self, node: int, board: Board, others: Floats) -> Floats:
        """Compute the value v of a node for every hand.

        Args:
            board: [B] cards on the board.
            others: [H, ...] joint reach of the other players' hands, one axis per player in their order.

        Returns:
            [H] values in chips, weighted by the reach.

        Raises:
            PokernetsError: a policy returns invalid probabilities.
        """
        tree, kind = self.tree, self.tree.kind[node]
        if kind in (Kind.FOLD, Kind.SHOWDOWN) and tree.rules.num_players > 2:
            stakes = tuple(tree.committed[node].tolist()), tuple(tree.folded[node].tolist())
            shown = board if kind == Kind.SHOWDOWN else None
            return _weighted_sums(_joint_payoffs(tree.rules, *stakes, shown, self.player), others)
        if kind == Kind.FOLD:
            sign = -1.0 if tree.folded[node, self.player] else 1.0
            return sign * float(tree.committed[node].min()) * tree.rules.space.compatible_mass(others)
        if kind == Kind.SHOWDOWN:
            return float(tree.committed[node].min()) * showdown_chances(tree.rules, board, others)
        if kind == Kind.STREET:
            return self.dealt(node, board, others)
        if tree.player[node] == self.player and self.own is None:
            return np.asarray(np.max([self.values(child, board, others) for child in tree.children(node)], axis=0))
        total, is_other = np.zeros(tree.rules.num_hands), tree.player[node] != self.player
        shares = self._probabilities(self.policy if is_other else self.own or self.policy, node, board).T
        for child, share in zip(tree.children(node), shares, strict=True):
            reach = others * self._on_axis(int(tree.player[node]), share) if is_other else others
            if is_other and reach.any():
                total += self.values(child, board, reach)
            elif not is_other and share.any():
                total += share * self.values(child, board, reach)
        return total

    def dealt(self, node: int, board: Board, others: Floats) -> Floats:
        """Compute v at a STREET node as the mean over the cards to come.

        Args:
            board: [B] cards on the board.
            others: [H, ...] joint reach of the other players' hands.

        Returns:
            [H] values in chips, weighted by the reach.
        """
        rules, below = self.tree.rules, int(self.tree.first_child[node])
        new = rules.board_sizes[int(self.tree.street[node]) + 1] - len(board)
        if not new:
            return self.values(below, board, others)
        total = np.zeros(rules.num_hands)
        deck = [card for card in range(rules.deck_size) if card not in board]
        for cards in itertools.combinations(deck, new):
            after = (*board, *cards)
            live = rules.space.live(after)
            total += live * self.values(below, after, others * self._joint(live.astype(np.float64)))
        return total / math.comb(len(deck) - rules.num_players * rules.num_hole_cards, new)

    def _joint(self, live: Floats) -> Floats:
        """Return the [H, ...] product of `live` [H] over the hands of the other players."""
        product = live
        for _ in range(self.tree.rules.num_players - 2):
            product = product[..., None] * live
        return product

    def _on_axis(self, player: int, share: Reals) -> Reals:
        """Return `share` [H] along the axis of another player."""
        others = self.tree.rules.num_players - 1
        axis = player - (player > self.player)
        return share.reshape([-1 if at == axis else 1 for at in range(others)])

    def _probabilities(self, policy: RangePolicy, node: int, board: Board) -> Reals:
        rules, probs = self.tree.rules, policy(node, board)
        wrong = rules.space.live(board) & ~((probs >= 0).all(axis=1) & (abs(probs.sum(axis=1) - 1) < _SUM_TOLERANCE))
        if wrong.any():
            raise PokernetsError(
                f"the policy at `{self.tree.path_text(node)}` on `{rules.cards_text(board)}` gives hand "
                f"{int(np.flatnonzero(wrong)[0])} no probabilities that add to 1"
            )
        return probs


def _weighted_sums(values: Floats, others: Floats) -> Floats:
    """Return [H] sums of `values` [H, H, ...], own hands first, weighted by the others' reach [H, ...]."""
    return values.reshape(len(values), -1) @ others.ravel()


@lru_cache(maxsize=8)
def _compatible(rules: Rules, player: int) -> Floats:
    """Return [H, H, ...] 1 where no two of P hands share a card, the hand of `player` first."""
    compatible = np.ones((rules.num_hands,) * rules.num_players)
    for i, j in itertools.combinations(range(rules.num_players), 2):
        compatible *= np.expand_dims(rules.space.disjoint, [k for k in range(rules.num_players) if k not in (i, j)])
    return compatible


@lru_cache(maxsize=100_000)
def _joint_payoffs(
    rules: Rules, committed: tuple[int, ...], folded: tuple[bool, ...], board: Board | None, player: int
) -> Floats:
    """Return [H, H, ...] net chips of `player` for every combination of hands, 0 for impossible ones.

    The hand of `player` comes first. Without a board nobody shows a hand.
    """
    size, players = rules.num_hands, rules.num_players
    order = [player, *(other for other in range(players) if other != player)]
    ranks = np.zeros(size, np.int64) if board is None else hand_ranks(rules, board)
    by_axis = [np.expand_dims(ranks, [k for k in range(players) if k != axis]) for axis in range(players)]
    won, below = np.full((size,) * players, -float(committed[player])), 0
    for level in sorted({committed[other] for other in order if not folded[other]}):
        pot = sum(max(0, min(chips, level) - below) for chips in committed)
        contenders = [axis for axis, other in enumerate(order) if not folded[other] and committed[other] >= level]
        best = reduce(np.maximum, [by_axis[axis] for axis in contenders])
        if 0 in contenders:
            won += np.where(by_axis[0] == best, pot / sum((by_axis[axis] == best) for axis in contenders), 0.0)
        below = level
    return won * _compatible(rules, player)


def check_whole_hands(tree: BettingTree) -> None:
    """Check that a tree has no depth limit and no dead chips.

    Raises:
        PokernetsError: it has one of them.
    """
    if np.isin(tree.kind, (Kind.LEAF, Kind.CHOICE)).any() or tree.dead:
        raise PokernetsError("a best response needs a tree of whole hands, without a depth limit or dead chips")
