"""River strength of all hands, board by board: what distributions and clusters are compared with."""

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import HOLDEM, NUM_CARDS, NUM_HANDS
from poker.kernels.cards import strength

FULL = 1980
"""Strength of a hand that beats all 990 others."""


def river_counts(board: tuple[int, ...]) -> NDArray[np.int64]:
    """[1326] strength 0..1980 on a complete board, 0 for hands that share a card with it."""
    counts = np.empty(NUM_HANDS, dtype=np.int16)
    strength.board_strength_into(np.array(board, dtype=np.uint8), counts)
    return np.maximum(counts, 0).astype(np.int64)


def turn_distribution(board: tuple[int, ...], bins: int) -> NDArray[np.float64]:
    """[1326, bins] over the rivers of a turn: equal bins of strength, the largest in the last one."""
    out = np.zeros((NUM_HANDS, bins))
    for card in set(range(NUM_CARDS)) - set(board):
        live = np.flatnonzero(HOLDEM.live((*board, card)))
        out[live, np.minimum(river_counts((*board, card))[live] * bins // FULL, bins - 1)] += 1 / 46
    return out
