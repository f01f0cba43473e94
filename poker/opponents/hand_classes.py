"""Classes of hands by strength on a board; a model of an opponent plays all hands of a class alike.

Symbols: B boards, H hands.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from poker.abstraction.equities import showdown_chances
from poker.game.cards import HOLDEM
from poker.game.rules import Rules
from poker.kernels.cards.strength import board_strength_into
from poker.kernels.types import I16, Board, Bools, Floats, Reals
from poker.opponents.responses import BINS

_FEARED_PREFLOP, _FEARED = 0.1, 0.25
"""Shares of the best hands that people rank theirs against. Of values from 0.03 to 1, these fit Bovada's hands best."""


def shares_below(values: Reals) -> Floats:
    """Compute the rank of each value among all.

    Args:
        values: [n]

    Returns:
        [n] share of the values below each, plus half of those equal to it.
    """
    rising = np.sort(values)
    below, through = np.searchsorted(rising, values, "left"), np.searchsorted(rising, values, "right")
    return np.asarray((below + through) / (2 * len(values)))


def by_strength(rules: Rules, boards: Sequence[Board], people: bool = False) -> I16:
    """Sort the hands on each board into `BINS` classes of strength.

    Args:
        boards: B boards.
        people: rank hands against strong hands, as people do, instead of against any hand.

    Returns:
        int16 [B, H] class of each hand, -1 for hands that the board makes impossible.
    """
    ordered = map(rules.ordered_board, boards)
    return np.stack([(_flop_bins if len(board) == 3 else _later_bins)(rules, board, people) for board in ordered])


def _binned(rules: Rules, board: Board, people: bool) -> I16:
    weaker = weaker_hands(rules, board)
    if people:
        weaker = weaker_hands(rules, board, weaker > 1 - (_FEARED if board else _FEARED_PREFLOP))
    return np.where(rules.space.live(board), np.minimum(weaker * BINS, BINS - 1).astype(np.int16), np.int16(-1))


_flop_bins, _later_bins = lru_cache(maxsize=1755)(_binned), lru_cache(maxsize=16384)(_binned)
"""Flops take fifty times as long as later boards. The first cache has room for all 1,755 flops up to suit symmetry."""


def weaker_hands(rules: Rules, board: Board, against: Bools | None = None) -> Floats:
    """Compute the share of hands that are weaker than each hand.

    A hand is weaker if it wins fewer showdowns, on average over the cards to come, against a random hand.

    Args:
        against: [H] hands that the random hand is drawn from; None for all hands.

    Returns:
        [H] share of weaker hands plus half of the equal ones; 0 for hands that the board makes impossible.
    """
    live = rules.space.live(board)
    # with all cards dealt, all live hands meet the same number of other hands
    if against is None and rules.space is HOLDEM and len(board) == rules.total_board_cards == 5:
        won = np.empty(rules.num_hands, np.int16)
        board_strength_into(np.array(board, np.uint8), won)
        alike = np.bincount(won[live])
        return np.where(live, (2 * np.cumsum(alike) - alike)[won] / (2 * alike.sum()), 0.0)
    others = (live if against is None else live & against).astype(np.float64)
    chances = showdown_chances(rules, board, others)
    chances = np.round(chances / np.maximum(rules.space.compatible_mass(others), 1), 9)
    weaker = np.zeros(len(live))
    weaker[live] = shares_below(chances[live])
    return weaker
