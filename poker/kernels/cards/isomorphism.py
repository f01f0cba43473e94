"""Suit isomorphism of boards: a dense index for boards that are equal up to a renaming of suits.

This follows Waugh 2013, "A fast and optimal hand isomorphism algorithm". The ranks of a board in one suit form a mask,
which is numbered among the masks of its size. The suits in descending order of their card counts are the *shape* of the
board, and shapes have consecutive ranges of the index. Suits with the same count are interchangeable, so their numbers
form a multiset x_1 >= ... >= x_k. It is numbered by the colexicographic rank of (x_1 + k - 1, x_2 + k - 2, ..., x_k).

`canonical_board` also finds the suit permutation that maps the board to the canonical one. Tables [number of canonical
boards, 1326] then serve every concrete board: `table[index, HAND_PERMUTATION[permutation, hand]]`.

Kernels in other files that deal boards also call `canonical_board` and `canonical_key`. Keep these stable, or clear
numba's cache.
"""

import itertools
import math
from functools import lru_cache

import numpy as np

from poker.kernels.cards.hands import (
    CARD_PERMUTATION,
    HAND_PERMUTATION,
    HANDS_WITH_CARD,
    NUM_HANDS,
    NUM_RANKS,
    SUIT_PERMUTATIONS,
)
from poker.kernels.registry import entry, kernel
from poker.kernels.types import I16, I32, I64, U8

NUM_BOARDS = {0: 1, 3: 1755, 4: 16432, 5: 134459}
"""Number of canonical boards by number of cards."""

_COLEX: I16 = np.array(
    [sum(math.comb(bit, i + 1) for i, bit in enumerate(b for b in range(13) if mask >> b & 1)) for mask in range(8192)],
    dtype=np.int16,
)
"""[8192] colexicographic rank of a rank mask among the masks of its size."""


def _board_parts() -> tuple[I32, I64]:
    """Return the parts whose sum is the index of a board, and where the parts of each suit begin.

    Whatever the shape, the index is a sum of one part per suit, selected by the suit's own number. The parts cover all
    boards of 3 to 5 cards. The starts [6, 216, 4] are indexed by the size of the board and the counts of its three
    largest suits, as digits of base 6.
    """
    parts: list[int] = []
    starts = np.zeros((6, 216, 4), dtype=np.int64)
    for n in (3, 4, 5):
        offset = 0
        for shape in itertools.combinations_with_replacement(range(n, -1, -1), 4):
            if sum(shape) != n:
                continue
            weight = 1
            for suit, count in enumerate(shape):
                starts[n, (shape[0] * 6 + shape[1]) * 6 + shape[2], suit] = len(parts)
                size, equal = math.comb(NUM_RANKS, count), shape.count(count)
                left = equal - suit + shape.index(count)
                first = offset if suit == 0 else 0
                parts += [first + weight * math.comb(x + left - 1, left) for x in range(size)]
                if left == 1:
                    weight *= math.comb(size + equal - 1, equal)
            offset += weight
    return np.array(parts, dtype=np.int32), starts


def _permutation_ids() -> U8:
    """Return the number [256] of a suit permutation by its images, two bits each."""
    out = np.zeros(256, dtype=np.uint8)
    for i, p in enumerate(SUIT_PERMUTATIONS.astype(np.int64)):
        out[p[0] | p[1] << 2 | p[2] << 4 | p[3] << 6] = i
    return out


_BOARD_PARTS, _PART_STARTS = _board_parts()
_PERMUTATION_IDS: U8 = _permutation_ids()
BOARD_KEYS: I64 = np.array([(1 << 13 | 1 << card // 4) << 16 * (card % 4) for card in range(52)], dtype=np.int64)
"""[52] contribution of each card to the key of a board: 16 bits per suit, its count << 13 | rank mask."""


@entry("u1_1")
def canonical_board(cards: U8) -> tuple[int, int]:
    """Return the index of a board and the permutation that maps it to the canonical board.

    Args:
        cards: uint8 [0 or 3..5] cards in any order.

    Returns:
        Index among the canonical boards of that size, and the row of CARD_PERMUTATION.
    """
    n = len(cards)
    if n == 0:
        return 0, 0
    key = 0
    for card in cards:
        key += BOARD_KEYS[card]
    index, permutation = canonical_key(n, key)
    return index, permutation


@kernel
def canonical_key(n: int, key: int) -> tuple[int, int]:
    """Return the result of `canonical_board` for n cards, given the sum of their BOARD_KEYS.

    Args:
        n: number of cards, 3 to 5.
        key: sum of the BOARD_KEYS of the cards.
    """
    k0, k1 = (key & 0xFFFF) << 2, (key >> 16 & 0xFFFF) << 2 | 1
    k2, k3 = (key >> 32 & 0xFFFF) << 2 | 2, (key >> 48 & 0xFFFF) << 2 | 3
    k0, k1 = max(k0, k1), min(k0, k1)
    k2, k3 = max(k2, k3), min(k2, k3)
    k0, k2 = max(k0, k2), min(k0, k2)
    k1, k3 = max(k1, k3), min(k1, k3)
    k1, k2 = max(k1, k2), min(k1, k2)
    permutation = (1 << 2 * (k1 & 3)) | (2 << 2 * (k2 & 3)) | (3 << 2 * (k3 & 3))
    start = _PART_STARTS[n, (k0 >> 15) * 36 + (k1 >> 15) * 6 + (k2 >> 15)]
    index = _BOARD_PARTS[start[0] + _COLEX[k0 >> 2 & 8191]]
    index += _BOARD_PARTS[start[1] + _COLEX[k1 >> 2 & 8191]]
    index += _BOARD_PARTS[start[2] + _COLEX[k2 >> 2 & 8191]]
    index += _BOARD_PARTS[start[3] + _COLEX[k3 >> 2 & 8191]]
    return int(index), int(_PERMUTATION_IDS[permutation])


@entry("u1_2r, u1_1, i4_1", "u2_2r, u1_1, i4_1")
def gather_board(table: I16, board: U8, out: I32) -> None:
    """Look up the values of all hands on a concrete board.

    Args:
        table: [canonical boards, 1326] values.
        board: uint8 [0 or 3..5] cards in any order.
        out: int32 [1326] receives the values; -1 for hands that share a card with the board.
    """
    index, permutation = canonical_board(board)
    row, image = table[index], HAND_PERMUTATION[permutation]
    for hand in range(NUM_HANDS):
        out[hand] = row[image[hand]]
    for card in board:
        for hand in HANDS_WITH_CARD[card]:
            out[hand] = -1


@entry("u1_2, i8_1")
def _fill_classes(boards: U8, counts: I64) -> None:
    """Write the canonical board of each class of n cards, in any order, and the number of boards in the class."""
    n = boards.shape[1]
    cards = np.arange(n)
    while True:
        key = 0
        for card in cards:
            key += BOARD_KEYS[card]
        index, permutation = canonical_key(n, key)
        for k in range(n):
            boards[index, k] = CARD_PERMUTATION[permutation, cards[k]]
        counts[index] += 1
        place = n - 1
        while place >= 0 and cards[place] == 52 - n + place:
            place -= 1
        if place < 0:
            return
        cards[place] += 1
        for k in range(place + 1, n):
            cards[k] = cards[k - 1] + 1


@lru_cache(maxsize=4)
def _classes(num_cards: int) -> tuple[U8, I64]:
    """Return the canonical boards and their multiplicities."""
    if num_cards not in NUM_BOARDS:
        raise ValueError(f"a board has 0, 3, 4 or 5 cards, not {num_cards}")
    boards = np.zeros((NUM_BOARDS[num_cards], num_cards), dtype=np.uint8)
    counts: I64 = np.zeros(len(boards), dtype=np.int64)
    if num_cards:
        _fill_classes(boards, counts)
        boards = np.take_along_axis(boards, np.lexsort((boards // 4, boards % 4)), axis=1)
    else:
        counts[:] = 1
    boards.setflags(write=False)
    counts.setflags(write=False)
    return boards, counts


def canonical_boards(num_cards: int) -> U8:
    """Return one board per class, in index order; read-only.

    Args:
        num_cards: 0, 3, 4 or 5 cards.

    Returns:
        uint8 [NUM_BOARDS[n], n] boards whose cards are sorted by suit, then rank.

    Raises:
        ValueError: there are no boards of this size.
    """
    return _classes(num_cards)[0]


def board_multiplicities(num_cards: int) -> I64:
    """Return the number of concrete boards in each class; read-only.

    Args:
        num_cards: 0, 3, 4 or 5 cards.

    Returns:
        int64 [NUM_BOARDS[n]] counts; they sum to 52 over n.

    Raises:
        ValueError: there are no boards of this size.
    """
    return _classes(num_cards)[1]
