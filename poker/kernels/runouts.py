"""Showdown ranks of known hands on every completion of a board: check-downs of several players."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.ranks import rank7


@njit(cache=True, nogil=True)
def runout_ranks(board: NDArray[np.uint8], hands: NDArray[np.uint8]) -> NDArray[np.int16]:
    """[N, P] ranks of hands [P, 2] on the N completions, to five cards, of a board that holds none of their cards."""
    dead = np.zeros(52, dtype=np.bool_)
    for card in board:
        dead[card] = True
    for hand in hands:
        dead[hand[0]] = True
        dead[hand[1]] = True
    deck = np.flatnonzero(~dead)
    size, missing = len(deck), 5 - len(board)
    count = 1
    for k in range(missing):
        count = count * (size - k) // (k + 1)
    cards = np.empty(5, dtype=np.int64)
    cards[: len(board)] = board
    chosen = np.arange(missing)
    out = np.empty((count, len(hands)), dtype=np.int16)
    for row in range(count):
        for k in range(missing):
            cards[len(board) + k] = deck[chosen[k]]
        for player in range(len(hands)):
            a, b = hands[player, 0], hands[player, 1]
            out[row, player] = rank7(cards[0], cards[1], cards[2], cards[3], cards[4], a, b)
        place = missing - 1
        while place >= 0 and chosen[place] == size - missing + place:
            place -= 1
        if place >= 0:
            chosen[place] += 1
            for k in range(place + 1, missing):
                chosen[k] = chosen[k - 1] + 1
    return out
