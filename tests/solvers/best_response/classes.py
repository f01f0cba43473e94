"""An oracle for hold'em that ends with the flop: the walk over ranges on one flop of each class under renaming.

That is exact for policies that treat suits alike.
"""

import math

import numpy as np

from poker.game.rules import Rules
from poker.game.state import PolicyFunction
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.types import Board, Floats
from poker.solvers.best_response.public import on_one_board, on_tree, tree_of_both
from poker.solvers.best_response.ranges import RangeWalk
from poker.tree import BetMenu


class ClassWalk(RangeWalk):
    def dealt(self, node: int, board: Board, others: Floats) -> Floats:
        rules, below = self.tree.rules, int(self.tree.first_child[node])
        total = np.zeros(rules.num_hands)
        for cards, count in zip(canonical_boards(3).tolist(), board_multiplicities(3).tolist(), strict=True):
            live = rules.space.live(cards)
            values = live * self.values(below, tuple(cards), others * live)
            total += values[HAND_PERMUTATION].mean(axis=0) * count
        return total / math.comb(48, 3)


def response_by_hand(rules: Rules, policy: PolicyFunction, player: int, menu: BetMenu | None = None) -> Floats:
    """[H] chips of each hand; their mean is the value of the best response."""
    tree, everything = tree_of_both(rules, menu, on_one_board(policy), player), np.ones(rules.num_hands)
    chips = ClassWalk(tree, on_tree(tree, policy), player).values(0, (), everything)
    return chips / rules.space.compatible_mass(everything)
