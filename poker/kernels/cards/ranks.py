"""Rank of a poker hand of 5, 6 or 7 cards: 0..7461, higher wins, equal means a tie.

A card contributes an additive 64-bit key. Its low 32 bits are a number drawn for its rank; the numbers are such that
all 73,775 multisets of 5 to 7 ranks have different sums modulo 2**30, which is checked when the tables are built. Bits
32 to 47 count suits, four bits each, starting from 3, so that the top bit of a counter says that the suit has five
cards. Without a flush the sum addresses a table of ranks by row displacement (13 bits choose a row, the row's offset
plus the other 17 bits is the address). A flush is read from a table over the 13-bit mask of the suit's ranks: with
seven cards it excludes quads and full houses, so it is never beaten by what the ranks say.

Tables are built at import by one kernel (milliseconds). Everything below is int64 unless annotated otherwise.
Kernels of other files call the scalar functions: keep them stable, or clear numba's cache.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.cards.hands import HAND_CARDS, HANDS_WITH_CARD, NUM_HANDS

NUM_CLASSES = 7462
HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
CATEGORY_NAMES = (
    "high card",
    "one pair",
    "two pair",
    "three of a kind",
    "straight",
    "flush",
    "full house",
    "four of a kind",
    "straight flush",
)
CATEGORY_START: NDArray[np.int64] = np.cumsum([0, 1277, 2860, 858, 858, 10, 1277, 156, 156])
"""[9] lowest rank of each category; the differences are the numbers of distinct hands."""

_SUM_MASK = (1 << 32) - 1
_ROW_BITS = 13
_ROW_MASK = (1 << _ROW_BITS) - 1
_TABLE_SIZE = 1 << 17
_TABLE_MASK = _TABLE_SIZE - 1
_NUM_SUMS = 73775

KEY_START = 0x3333 << 32
FLUSH_BITS = 0x8888 << 32

_RANK_KEYS: NDArray[np.int64] = np.array(
    [
        [456675404, 341966202, 274414308, 144840639, 165264663, 21997494, 40394244],
        [8873207, 94095912, 436621135, 348652426, 490031919, 270382672, 0],
    ],
    dtype=np.int64,
).ravel()[:13]
CARD_KEYS: NDArray[np.int64] = np.array(
    [_RANK_KEYS[card // 4] + (1 << (32 + 4 * (card % 4))) for card in range(52)], dtype=np.int64
)
"""[52] the key of each card."""
HAND_KEYS: NDArray[np.int64] = CARD_KEYS[HAND_CARDS].sum(axis=1)
"""[1326] the keys of each hand's two cards, added."""


@njit(cache=True)
def _top(mask: int) -> int:
    top = -1
    while mask:
        mask >>= 1
        top += 1
    return top


@njit(cache=True)
def _straight_top(mask: int) -> int:
    """Highest rank of the best straight in a rank mask (3 for the wheel), or -1."""
    with_low_ace = (mask << 1) | (mask >> 12)
    for top in range(12, 2, -1):
        if (with_low_ace >> (top - 3)) & 31 == 31:
            return top
    return -1


@njit(cache=True)
def _best_of(mask: int, number: int) -> int:
    """The mask with only its `number` highest bits kept."""
    kept = 0
    for _ in range(number):
        if mask:
            bit = 1 << _top(mask)
            kept |= bit
            mask ^= bit
    return kept


@njit(cache=True)
def _strength(counts: NDArray[np.int64]) -> int:
    """Order-preserving code of the best five cards of a rank count vector, suits ignored."""
    mask = pairs = trips = quads = 0
    for rank in range(13):
        mask |= (counts[rank] > 0) << rank
        pairs |= (counts[rank] >= 2) << rank
        trips |= (counts[rank] >= 3) << rank
        quads |= (counts[rank] >= 4) << rank
    straight = _straight_top(mask)
    if quads:
        top = _top(quads)
        return QUADS << 32 | top << 16 | _best_of(mask & ~(1 << top), 1)
    triple = _top(trips)
    if trips and pairs & ~(1 << triple):
        return FULL_HOUSE << 32 | triple << 16 | _top(pairs & ~(1 << triple))
    if straight >= 0:
        return STRAIGHT << 32 | straight
    if trips:
        return TRIPS << 32 | triple << 16 | _best_of(mask & ~(1 << triple), 2)
    two = _best_of(pairs, 2)
    if two & (two - 1):
        return TWO_PAIR << 32 | two << 16 | _best_of(mask & ~two, 1)
    if pairs:
        return PAIR << 32 | pairs << 16 | _best_of(mask & ~pairs, 3)
    return HIGH_CARD << 32 | _best_of(mask, 5)


@njit(cache=True)
def _flush_strength(mask: int) -> int:
    straight = _straight_top(mask)
    return STRAIGHT_FLUSH << 32 | straight if straight >= 0 else FLUSH << 32 | _best_of(mask, 5)


@njit(cache=True)
def _enumerate(
    num_cards: int, keys: NDArray[np.int64], sums: NDArray[np.int64], strengths: NDArray[np.int64], start: int
) -> int:
    """Append the key sum and strength of every multiset of `num_cards` ranks; returns the new length."""
    counts = np.full(13, -1, dtype=np.int64)
    rank, left, total = 0, num_cards, 0
    while rank >= 0:
        counts[rank] += 1
        if counts[rank] > min(4, left):
            counts[rank] = -1
            rank -= 1
            if rank >= 0:
                left += counts[rank]
                total -= counts[rank] * keys[rank]
        elif rank < 12:
            left -= counts[rank]
            total += counts[rank] * keys[rank]
            rank += 1
        elif counts[12] == left:
            sums[start] = total + left * keys[12]
            strengths[start] = _strength(counts)
            start += 1
    return start


@njit(cache=True)
def _displace(
    sums: NDArray[np.int64], ranks: NDArray[np.int64], offsets: NDArray[np.uint16], table: NDArray[np.int16]
) -> bool:
    """Fill the offsets [rows] and the table so that every sum finds its rank; False when two sums collide."""
    order = np.argsort(sums & _ROW_MASK, kind="mergesort")
    rows = (sums & _ROW_MASK)[order]
    starts = np.searchsorted(rows, np.arange(_ROW_MASK + 2))
    table[:] = -1
    for row in np.argsort(starts[:-1] - starts[1:], kind="mergesort"):
        members = order[starts[row] : starts[row + 1]]
        columns = (sums[members] >> _ROW_BITS) & _TABLE_MASK
        if len(np.unique(columns)) < len(columns):
            return False
        offset = 0
        while True:
            free = True
            for column in columns:
                if table[(column + offset) & _TABLE_MASK] >= 0:
                    free = False
                    break
            if free:
                break
            offset += 1
        offsets[row] = offset
        for k in range(len(columns)):
            table[(columns[k] + offset) & _TABLE_MASK] = ranks[members[k]]
    return True


@njit(cache=True)
def _build(
    keys: NDArray[np.int64], offsets: NDArray[np.uint16], table: NDArray[np.int16], flush_table: NDArray[np.int16]
) -> int:
    """Fill the tables; returns the number of distinct ranks, or -1 when two sums collide."""
    sums = np.empty(_NUM_SUMS, dtype=np.int64)
    strengths = np.empty(_NUM_SUMS, dtype=np.int64)
    five = _enumerate(5, keys, sums, strengths, 0)
    _enumerate(7, keys, sums, strengths, _enumerate(6, keys, sums, strengths, five))
    flushes = np.zeros(8192, dtype=np.int64)
    num_flushes = 0
    for mask in range(8192):
        size = 0
        for rank in range(13):
            size += (mask >> rank) & 1
        if 5 <= size <= 7:
            flushes[mask] = _flush_strength(mask)
            num_flushes += 1
    classes = np.unique(np.concatenate((strengths[:five], flushes[flushes > 0])))
    for mask in range(8192):
        flush_table[mask] = np.searchsorted(classes, flushes[mask]) if flushes[mask] > 0 else -1
    fits = _displace(sums, np.searchsorted(classes, strengths), offsets, table)
    return len(classes) if fits else -1


_OFFSETS: NDArray[np.uint16] = np.zeros(_ROW_MASK + 1, dtype=np.uint16)
_RANKS: NDArray[np.int16] = np.zeros(_TABLE_SIZE, dtype=np.int16)
FLUSH_RANKS: NDArray[np.int16] = np.zeros(8192, dtype=np.int16)
"""[8192] rank of a flush by the 13-bit mask of its suit, -1 unless 5 to 7 bits are set."""
if _build(_RANK_KEYS, _OFFSETS, _RANKS, FLUSH_RANKS) != NUM_CLASSES:
    raise RuntimeError("the rank tables are inconsistent: two sums of rank keys collide")
_CATEGORY: NDArray[np.int8] = (np.searchsorted(CATEGORY_START, np.arange(NUM_CLASSES), side="right") - 1).astype(
    np.int8
)


@njit(cache=True, nogil=True)
def category(rank: int) -> int:
    """Category 0 (high card) .. 8 (straight flush) of a rank."""
    return int(_CATEGORY[rank])


@njit(cache=True, nogil=True)
def rank_of_sum(key: int) -> int:
    """Rank by the multiset of ranks alone: right for hands without a flush."""
    return int(_RANKS[(_OFFSETS[key & _ROW_MASK] + ((key & _SUM_MASK) >> _ROW_BITS)) & _TABLE_MASK])


@njit(cache=True, nogil=True)
def flush_suit(key: int) -> int:
    """Suit with five cards or more in a key that started from KEY_START, or -1."""
    bits = (key & FLUSH_BITS) >> 35
    if bits == 0:
        return -1
    return int(bits > 1) + int(bits > 16) + int(bits > 256)


@njit(cache=True, nogil=True)
def _suit_bit(card: int, suit: int) -> int:
    card = int(card)
    return (1 << (card >> 2)) if (card & 3) == suit else 0


@njit(cache=True, nogil=True)
def rank5(c0: int, c1: int, c2: int, c3: int, c4: int) -> int:
    key = KEY_START + CARD_KEYS[c0] + CARD_KEYS[c1] + CARD_KEYS[c2] + CARD_KEYS[c3] + CARD_KEYS[c4]
    if key & FLUSH_BITS:
        s = flush_suit(key)
        mask = _suit_bit(c0, s) | _suit_bit(c1, s) | _suit_bit(c2, s) | _suit_bit(c3, s) | _suit_bit(c4, s)
        return int(FLUSH_RANKS[mask])
    return rank_of_sum(key)


@njit(cache=True, nogil=True)
def rank6(c0: int, c1: int, c2: int, c3: int, c4: int, c5: int) -> int:
    key = KEY_START + CARD_KEYS[c0] + CARD_KEYS[c1] + CARD_KEYS[c2] + CARD_KEYS[c3] + CARD_KEYS[c4] + CARD_KEYS[c5]
    if key & FLUSH_BITS:
        s = flush_suit(key)
        mask = _suit_bit(c0, s) | _suit_bit(c1, s) | _suit_bit(c2, s) | _suit_bit(c3, s)
        return int(FLUSH_RANKS[mask | _suit_bit(c4, s) | _suit_bit(c5, s)])
    return rank_of_sum(key)


@njit(cache=True, nogil=True)
def rank7(c0: int, c1: int, c2: int, c3: int, c4: int, c5: int, c6: int) -> int:
    key = KEY_START + CARD_KEYS[c0] + CARD_KEYS[c1] + CARD_KEYS[c2] + CARD_KEYS[c3] + CARD_KEYS[c4]
    key += CARD_KEYS[c5] + CARD_KEYS[c6]
    if key & FLUSH_BITS:
        s = flush_suit(key)
        mask = _suit_bit(c0, s) | _suit_bit(c1, s) | _suit_bit(c2, s) | _suit_bit(c3, s)
        return int(FLUSH_RANKS[mask | _suit_bit(c4, s) | _suit_bit(c5, s) | _suit_bit(c6, s)])
    return rank_of_sum(key)


@njit(cache=True, nogil=True)
def rank_hands(cards: NDArray[np.uint8]) -> NDArray[np.int32]:
    """[n] ranks of hands of 5, 6 or 7 cards [n, 5..7]."""
    n, size = cards.shape
    out = np.empty(n, dtype=np.int32)
    if size == 7:
        for i in range(n):
            c = cards[i]
            out[i] = rank7(c[0], c[1], c[2], c[3], c[4], c[5], c[6])
    elif size == 6:
        for i in range(n):
            c = cards[i]
            out[i] = rank6(c[0], c[1], c[2], c[3], c[4], c[5])
    elif size == 5:
        for i in range(n):
            c = cards[i]
            out[i] = rank5(c[0], c[1], c[2], c[3], c[4])
    else:
        raise ValueError("hands to rank have 5, 6 or 7 cards")
    return out


@njit(cache=True, nogil=True)
def rank_board_into(board: NDArray[np.uint8], out: NDArray[np.int32]) -> None:
    """Ranks of all hands on a board of 3 to 5 cards into `out` [1326]; -1 for hands that share a card with it."""
    key = KEY_START
    for card in board:
        key += CARD_KEYS[card]
    for hand in range(NUM_HANDS):
        out[hand] = rank_of_sum(key + HAND_KEYS[hand])
    for suit in range(4):
        if ((key >> (32 + 4 * suit)) & 15) >= 6:
            _raise_flushes(board, suit, out)
    for card in board:
        for hand in HANDS_WITH_CARD[card]:
            out[hand] = -1


@njit(cache=True, nogil=True)
def _raise_flushes(board: NDArray[np.uint8], suit: int, out: NDArray[np.int32]) -> None:
    """Replace the ranks of hands that make a flush in a suit of which the board has three cards or more."""
    board_mask, size = 0, 0
    for card in board:
        board_mask |= _suit_bit(card, suit)
        size += (card & 3) == suit
    for hand in range(NUM_HANDS):
        a, b = HAND_CARDS[hand, 0], HAND_CARDS[hand, 1]
        if size + ((a & 3) == suit) + ((b & 3) == suit) >= 5:
            out[hand] = FLUSH_RANKS[board_mask | _suit_bit(a, suit) | _suit_bit(b, suit)]


@njit(cache=True, nogil=True)
def rank_board_hands(board: NDArray[np.uint8]) -> NDArray[np.int32]:
    """[1326] ranks of all hands on a board of 3 to 5 cards; -1 for hands that share a card with it."""
    out = np.empty(NUM_HANDS, dtype=np.int32)
    rank_board_into(board, out)
    return out
