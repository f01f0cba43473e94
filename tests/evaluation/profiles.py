"""Exact value of a profile of two policies, by a walk of the public states that it reaches."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poker.abstraction.equities import awaits_cards, next_board_size, showdown_chances
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import PolicyFunction, public_state
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.types import Board, Floats


@dataclass(frozen=True)
class RangeValue:
    """Value of a player, on average and with each hand [H] against the hands it leaves possible."""

    value: float
    by_hand: Floats


def profile_values(rules: Rules, policies: Sequence[PolicyFunction]) -> RangeValue:
    """Winnings of player 0; in hold'em the policies treat suits alike, and flops are taken by class."""

    def values(betting: Betting, board: Board, own: Floats, others: Floats) -> Floats:
        if betting.is_over and not betting.is_showdown:
            sign = -1.0 if betting.folded[0] else 1.0
            return sign * min(betting.committed) * rules.space.compatible_mass(others)
        if awaits_cards(betting, board):
            return deal(betting, board, own, others)
        if betting.is_over:
            return min(betting.committed) * showdown_chances(rules, board, others)
        total = np.zeros(rules.num_hands)
        actions, probs = policies[betting.to_act](public_state(betting, board))
        for column, action in enumerate(actions):
            share = probs[:, column]
            if betting.to_act == 0 and (own * share).any():
                total += share * values(betting.apply(action), board, own * share, others)
            elif betting.to_act == 1 and (others * share).any():
                total += values(betting.apply(action), board, own, others * share)
        return total

    def deal(betting: Betting, board: Board, own: Floats, others: Floats) -> Floats:
        new = next_board_size(rules, board) - len(board)
        deck = [card for card in range(rules.deck_size) if card not in board]
        boards = [((*board, *cards), 0) for cards in itertools.combinations(deck, new)]
        if rules.deck_size == 52 and not board:
            classes = zip(canonical_boards(new).tolist(), board_multiplicities(new).tolist(), strict=True)
            boards = [(tuple(cards), count) for cards, count in classes]
        total = np.zeros(rules.num_hands)
        for after, count in boards:
            live = rules.space.live(after)
            own_values = live * values(betting, after, own * live, others * live)
            total += own_values[HAND_PERMUTATION].mean(axis=0) * count if count else own_values
        return total / math.comb(len(deck) - 2 * rules.num_hole_cards, new)

    everything = np.ones(rules.num_hands)
    mass = rules.space.compatible_mass(everything)
    chips = values(Betting.start(rules), (), everything, everything)
    return RangeValue(float(chips.sum() / mass.sum()), chips / mass)
