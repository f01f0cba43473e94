"""Check-down equity of hands against ranges, for every game of `Rules` with two players.

Symbols: H hands. A range is float64 [H]; it need not sum to 1.
"""

import itertools
import math
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import all_in_equity
from poker.betting import Betting
from poker.rules import Rules
from poker.solvers.continuation import disjoint, hand_cards, hand_ranks

Board = tuple[int, ...]
Floats = NDArray[np.float64]


@lru_cache(maxsize=8)
def margins(rules: Rules, board: Board) -> NDArray[np.floating]:
    """[H, H] probability that the row's hand wins at showdown minus that it loses, 0 for impossible pairs.

    All completions of the board that two hands allow are counted, so the mean over the next cards is the value now.
    float32 in hold'em, float64 in smaller games.
    """
    if rules.deck_size == 52 and rules.num_hole_cards == 2 and rules.total_board_cards == 5 and len(board) < 5:
        return np.where(possible(rules, board), 2 * all_in_equity(board) - 1, np.float32(0.0))
    total = np.zeros((rules.num_hands, rules.num_hands))
    missing = rules.total_board_cards - len(board)
    deck = [card for card in range(rules.deck_size) if card not in board]
    for cards in itertools.combinations(deck, missing):
        ranks = hand_ranks(rules, (*board, *cards))
        live = ranks >= 0
        total += np.sign(ranks[:, None] - ranks) * (live[:, None] & live)
    total *= disjoint(rules)
    total /= math.comb(len(deck) - 2 * rules.num_hole_cards, missing)
    return total.astype(np.float32) if rules.num_hands > 1000 else total


def showdown_chances(rules: Rules, board: Board, opponent: Floats) -> Floats:
    """[H] sum over compatible hands of opponent [H] * (chance to win minus chance to lose at showdown)."""
    matrix = margins(rules, board)
    return (matrix @ opponent.astype(matrix.dtype)).astype(np.float64)


def possible(rules: Rules, board: Board) -> NDArray[np.bool_]:
    """[H, H] pairs of hands that share no card with each other or the board."""
    live = live_hands(rules, board)
    pairs: NDArray[np.bool_] = disjoint(rules) & live & live[:, None]
    return pairs


def live_hands(rules: Rules, board: Board) -> NDArray[np.bool_]:
    """[H] hands that share no card with the board."""
    dead = _held(rules)[:, list(board)].any(axis=1)
    return np.logical_not(dead)


def compatible_mass(rules: Rules, opponent: Floats) -> Floats:
    """[H] weight of the opponent's hands that share no card with each hand."""
    held = _held(rules)
    blocked = held @ (opponent @ held)
    if rules.num_hole_cards == 2:
        blocked -= opponent
    mass: Floats = opponent.sum() - blocked
    return np.maximum(mass, 0.0)


def check_down_stake(betting: Betting) -> int:
    """Chips the loser of a heads-up check-down has committed, if the bet faced is called and no other follows."""
    if betting.is_over:
        return min(betting.committed)
    return min(max(betting.committed), *betting.rules.stacks)


def awaits_cards(betting: Betting, board: Board) -> bool:
    """The board of the street that `betting` has reached is not dealt yet, and its cards matter."""
    undealt = len(board) < betting.rules.board_sizes[betting.street]
    return undealt and (betting.is_showdown or not betting.is_over)


def next_board_size(rules: Rules, board: Board) -> int:
    """Cards on the board after the next deal; streets that deal none are passed over."""
    return next(size for size in rules.board_sizes if size > len(board))


@lru_cache(maxsize=8)
def _held(rules: Rules) -> Floats:
    """[H, cards] 1 where the hand holds the card."""
    held = np.zeros((rules.num_hands, rules.deck_size))
    for hand, cards in enumerate(hand_cards(rules)):
        held[hand, list(cards)] = 1.0
    held.setflags(write=False)
    return held
