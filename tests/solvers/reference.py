"""Plain Python counterfactual values and CFR on pairs of hands: slow, obvious, and shares no code with the kernels."""

from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from poker.game.rules import Rules
from poker.game.state import showdown_ranks
from poker.solvers.vector.leaves import LeafValues
from poker.tree import BettingTree, Kind

Key = tuple[int, tuple[int, ...]]
Floats = NDArray[np.float64]
Profile = dict[Key, Floats]
"""float64[H, A] by (node, board in the order of the deals)."""


def hands_of(rules: Rules) -> list[tuple[int, ...]]:
    if rules.num_hole_cards == 1:
        return [(card,) for card in range(rules.deck_size)]
    return [(a, b) for b in range(rules.deck_size) for a in range(b)]


class Reference:
    """Counterfactual values of player p at a node: `out[h]` sums over the opponent's hands weighted by their reach."""

    def __init__(
        self,
        tree: BettingTree,
        board: tuple[int, ...],
        ranges: NDArray[np.floating],
        leaf_values: LeafValues | None = None,
        rake: float = 0.0,
    ) -> None:
        self.rake = rake
        self.tree = tree
        self.leaf_values = leaf_values
        self.board = board
        self.ranges = ranges
        self.hands = hands_of(tree.rules)
        sets = [frozenset(hand) for hand in self.hands]
        self.disjoint = np.array([[not a & b for b in sets] for a in sets], float)
        self.sets = sets

    def live(self, board: tuple[int, ...]) -> Floats:
        return np.array([not hand & set(board) for hand in self.sets], float)

    def terminal(self, node: int, p: int, board: tuple[int, ...], reach: Floats) -> Floats:
        tree = self.tree
        stake = float(tree.committed[node].min()) + tree.dead / 2
        if tree.kind[node] == Kind.FOLD:
            gain = -stake if tree.folded[node, p] else stake - self.rake * 2 * stake
            return gain * (self.disjoint @ reach) * self.live(board)
        if tree.kind[node] == Kind.LEAF:
            return self.leaf(node, p) @ reach * self.live(board)
        ranks = np.zeros(len(self.hands))
        for h, hand in enumerate(self.hands):
            if not set(hand) & set(board):
                ranks[h] = showdown_ranks(tree.rules, [hand], board)[0]
        signs, taken = np.sign(ranks[:, None] - ranks[None]), self.rake * 2 * stake
        results = np.where(signs > 0, stake - taken, np.where(signs < 0, -stake, -taken / 2))
        values: Floats = ((results * self.disjoint) @ reach) * self.live(board)
        return values

    def leaf(self, node: int, p: int) -> Floats:
        """[H of p, H of the other] net chips of p, 0 for hands that share a card or have no cluster."""
        leaf, tree = self.leaf_values, self.tree
        assert leaf is not None
        matrix = leaf.values[tree.leaf_state[node], tree.leaf_choice[node]].astype(float)
        own, opp = leaf.own_cluster, leaf.opp_cluster
        named = np.outer(own >= 0, opp >= 0)
        pairs: Floats = matrix[np.maximum(own, 0)][:, np.maximum(opp, 0)] * named * self.disjoint
        return pairs if p == leaf.own else -pairs.T

    def deals(self, node: int, board: tuple[int, ...]) -> list[tuple[tuple[int, ...], float]]:
        rules = self.tree.rules
        number = rules.board_cards[self.tree.street[node] + 1]
        rest = [card for card in range(rules.deck_size) if card not in board]
        orders = comb(len(rest) - 2 * rules.num_hole_cards, number)
        return [(board + cards, 1.0 / orders) for cards in combinations(rest, number)]

    def values(self, node: int, p: int, board: tuple[int, ...], reach: Floats, profile: Profile, best: bool) -> Floats:
        """p's values when the opponent follows `profile`, and p either follows it or plays a best response."""
        tree = self.tree
        first = int(tree.first_child[node])
        children = tree.children(node)
        if tree.kind[node] == Kind.STREET:
            total = np.zeros(len(self.hands))
            for deal, chance in self.deals(node, board):
                total += chance * self.values(first, p, deal, reach * self.live(deal), profile, best) * self.live(deal)
            return total
        if not len(children):
            return self.terminal(node, p, board, reach)
        probs = self.strategy(profile, node, board)
        if tree.player[node] != p:
            parts = [self.values(c, p, board, reach * probs[:, i], profile, best) for i, c in enumerate(children)]
            values: Floats = np.sum(parts, axis=0)
            return values
        parts = [self.values(c, p, board, reach, profile, best) for c in children]
        values = np.max(parts, axis=0) if best else np.einsum("ha,ah->h", probs, np.array(parts))
        return values

    def strategy(self, profile: Profile, node: int, board: tuple[int, ...]) -> Floats:
        number = int(self.tree.num_children[node])
        return profile.get((node, board), np.full((len(self.hands), number), 1.0 / number))

    def root_value(self, p: int, profile: Profile, best: bool) -> float:
        live = self.live(self.board)
        ranges = self.ranges * live
        values = self.values(0, p, self.board, ranges[1 - p], profile, best)
        return float(ranges[p] @ values / (ranges[0] @ self.disjoint @ ranges[1]))

    def nash_conv(self, profile: Profile) -> float:
        gain = self.root_value(0, profile, best=True) + self.root_value(1, profile, best=True)
        return gain - self.root_value(0, profile, best=False) - self.root_value(1, profile, best=False)


class ReferenceCFR(Reference):
    """Regrets of CFR+ with alternating updates, hand after hand."""

    def __init__(self, tree: BettingTree, board: tuple[int, ...], ranges: NDArray[np.floating]) -> None:
        super().__init__(tree, board, ranges)
        self.regrets: Profile = {}

    def current(self, node: int, board: tuple[int, ...]) -> Floats:
        number = int(self.tree.num_children[node])
        regrets = self.regrets.setdefault((node, board), np.zeros((len(self.hands), number)))
        mass = regrets.sum(axis=1, keepdims=True)
        return np.where(mass > 0, regrets / np.where(mass > 0, mass, 1), 1.0 / number)

    def iterate(self) -> None:
        for p in range(2):
            self.update(0, p, self.board, self.ranges[1 - p] * self.live(self.board))

    def update(self, node: int, p: int, board: tuple[int, ...], reach: Floats) -> Floats:
        tree = self.tree
        children = tree.children(node)
        if tree.kind[node] == Kind.STREET:
            total = np.zeros(len(self.hands))
            for deal, chance in self.deals(node, board):
                live = self.live(deal)
                total += chance * self.update(int(tree.first_child[node]), p, deal, reach * live) * live
            return total
        if not len(children):
            return self.terminal(node, p, board, reach)
        probs = self.current(node, board)
        key = (node, board)
        if tree.player[node] != p:
            below = [self.update(c, p, board, reach * probs[:, i]) for i, c in enumerate(children)]
            value: Floats = np.sum(below, axis=0)
            return value
        parts = np.array([self.update(c, p, board, reach) for c in children])
        value = np.einsum("ha,ah->h", probs, parts)
        self.regrets[key] = np.maximum(self.regrets[key] + parts.T - value[:, None], 0)
        return value
