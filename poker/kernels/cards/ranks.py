"""Rank of a poker hand of 5, 6 or 7 cards: 0..7461, higher wins, equal means a tie.

Each card contributes an additive 64-bit key. Its low 32 bits are a number chosen for its rank. All 73,775 multisets of
5 to 7 ranks have different sums of these numbers modulo 2**30, which is checked when the tables are built. Bits 32 to
47 count suits, four bits each, starting from 3, so that the top bit of a counter indicates five cards of the suit.
Without a flush the sum addresses a table of ranks by row displacement: 13 bits choose a row, and the address is the
row's offset plus the other 17 bits. A flush is read from a table over the 13-bit mask of the suit's ranks. With seven
cards a flush excludes quads and full houses, so the other ranks never beat it.

The tables are stored beside the bytecode. All integers below are int64 unless annotated otherwise. Kernels of other
files call the scalar functions: keep them stable, or clear numba's cache.
"""

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from poker.kernels.cards.hands import HAND_CARDS, HANDS_WITH_CARD, NUM_HANDS
from poker.kernels.registry import entry, inline, kernel
from poker.kernels.types import I8, I16, I32, I64, U8, U16

NUM_CLASSES = 7462
HIGH_CARD, PAIR, TWO_PAIR, TRIPS, STRAIGHT, FLUSH, FULL_HOUSE, QUADS, STRAIGHT_FLUSH = range(9)
CATEGORY_START: I64 = np.cumsum([0, 1277, 2860, 858, 858, 10, 1277, 156, 156])
"""[9] lowest rank of each category; the differences are the numbers of distinct hands."""

_SUM_MASK = (1 << 32) - 1
_ROW_BITS = 13
_ROW_MASK = (1 << _ROW_BITS) - 1
_TABLE_SIZE = 1 << 17
_TABLE_MASK = _TABLE_SIZE - 1

KEY_START = 0x3333 << 32
FLUSH_BITS = 0x8888 << 32

_RANK_KEYS: I64 = np.array(
    [
        [456675404, 341966202, 274414308, 144840639, 165264663, 21997494, 40394244],
        [8873207, 94095912, 436621135, 348652426, 490031919, 270382672, 0],
    ],
    dtype=np.int64,
).ravel()[:13]
CARD_KEYS: I64 = np.array([_RANK_KEYS[card // 4] + (1 << (32 + 4 * (card % 4))) for card in range(52)], dtype=np.int64)
"""[52] the key of each card."""
HAND_KEYS: I64 = CARD_KEYS[HAND_CARDS].sum(axis=1)
"""[1326] sum of the keys of each hand's two cards."""


Tables = tuple[U16, I16, I16]
_FILE = Path(__file__).parent / "__pycache__" / "rank_tables_1.npz"
_BITS: I64 = (np.arange(8192)[:, None] >> np.arange(13) & 1).sum(axis=1)
"""[8192] number of ranks in a rank mask."""


def _highest(masks: I64, number: int) -> I64:
    """Return rank masks without all but their `number` highest bits."""
    for _ in range(13):
        masks = np.where(_BITS[masks] > number, masks & (masks - 1), masks)
    return masks


def _straights(masks: I64) -> I64:
    """Return one bit for the best straight in each rank mask, the lowest for the wheel; 0 without one."""
    with_low_ace = masks << 1 | masks >> 12
    runs = with_low_ace & with_low_ace >> 1 & with_low_ace >> 2
    return _highest(runs & runs >> 2, 1)


def _strengths(counts: I64) -> I64:
    """Return order-preserving codes of the best five cards of rank counts [n, 13], suits ignored."""
    mask, pairs, trips, quads = (np.sum((counts >= number) << np.arange(13), axis=1) for number in range(1, 5))
    four, three, two, straight = _highest(quads, 1), _highest(trips, 1), _highest(pairs, 2), _straights(mask)
    none = np.zeros_like(mask)
    kinds: tuple[tuple[Any, int, I64, I64], ...] = (
        (quads > 0, QUADS, four, _highest(mask & ~four, 1)),
        ((trips > 0) & (pairs & ~three > 0), FULL_HOUSE, three, _highest(pairs & ~three, 1)),
        (straight > 0, STRAIGHT, straight, none),
        (trips > 0, TRIPS, three, _highest(mask & ~three, 2)),
        (two & (two - 1) > 0, TWO_PAIR, two, _highest(mask & ~two, 1)),
        (pairs > 0, PAIR, pairs, _highest(mask & ~pairs, 3)),
        (mask > 0, HIGH_CARD, none, _highest(mask, 5)),
    )
    codes = [category << 32 | first << 16 | rest for _, category, first, rest in kinds]
    best: I64 = np.select([holds for holds, *_ in kinds], codes)
    return best


def _multisets() -> I64:
    """Return the counts [73775, 13] of every multiset of 5 to 7 ranks."""
    counts: I64 = np.zeros((1, 0), dtype=np.int64)
    for _ in range(13):
        counts = np.concatenate([np.insert(counts, counts.shape[1], number, axis=1) for number in range(5)])
        counts = counts[counts.sum(axis=1) <= 7]
    large: I64 = counts[counts.sum(axis=1) >= 5]
    return large


def _displace(sums: I64, ranks: I64) -> tuple[U16, I16]:
    """Return row offsets and a table in which every sum finds its rank; rows are placed first-fit, largest first."""
    order = np.argsort(sums & _ROW_MASK, kind="stable")
    starts = np.searchsorted((sums & _ROW_MASK)[order], np.arange(_ROW_MASK + 2))
    offsets, table = np.zeros(_ROW_MASK + 1, dtype=np.uint16), np.full(_TABLE_SIZE, -1, dtype=np.int16)
    used = 0
    for row in np.argsort(starts[:-1] - starts[1:], kind="stable"):
        members = order[starts[row] : starts[row + 1]]
        columns = (sums[members] >> _ROW_BITS) & _TABLE_MASK
        taken = 0
        for column in columns.tolist():
            taken |= used >> column | used << (_TABLE_SIZE - column)
        offset = (~taken & (taken + 1)).bit_length() - 1
        places = (columns + offset) & _TABLE_MASK
        if len(np.unique(places)) < len(places):
            raise RuntimeError("the rank tables are inconsistent: two sums of rank keys collide")
        offsets[row], table[places] = offset, ranks[members]
        for place in places.tolist():
            used |= 1 << place
    return offsets, table


def build_tables() -> Tables:
    """Build the rank tables from the rules of poker.

    Returns:
        uint16 [8192] row offsets, int16 [2^17] ranks by sum of keys, and int16 [8192] ranks of flushes by mask.

    Raises:
        RuntimeError: two sums of rank keys collide.
    """
    counts, masks = _multisets(), np.arange(8192)
    strengths, straight = _strengths(counts), _straights(masks)
    flushes = np.where(straight > 0, STRAIGHT_FLUSH << 32 | straight, FLUSH << 32 | _highest(masks, 5))
    suited = (_BITS >= 5) & (_BITS <= 7)
    classes = np.unique(np.concatenate((strengths[counts.sum(axis=1) == 5], flushes[suited])))
    flush_ranks = np.where(suited, np.searchsorted(classes, flushes), -1).astype(np.int16)
    return *_displace(counts @ _RANK_KEYS, np.searchsorted(classes, strengths)), flush_ranks


def _stored_tables() -> Tables:
    """Return the tables from the file beside the bytecode; if there is none, build and store them in half a second."""
    with contextlib.suppress(OSError, ValueError, KeyError), np.load(_FILE, allow_pickle=False) as stored:
        return stored["offsets"], stored["ranks"], stored["flushes"]
    offsets, ranks, flushes = build_tables()
    with contextlib.suppress(OSError):
        _FILE.parent.mkdir(exist_ok=True)
        own = _FILE.with_suffix(f".{os.getpid()}.npz")
        np.savez(own, offsets=offsets, ranks=ranks, flushes=flushes)
        own.replace(_FILE)
    return offsets, ranks, flushes


_OFFSETS, RANKS, FLUSH_RANKS = _stored_tables()
"""RANKS [2^17]: ranks of hands without a flush, by `place_of_sum`; read-only. FLUSH_RANKS [8192]: rank of a flush by
the 13-bit mask of its suit, -1 unless 5 to 7 bits are set."""
RANKS.setflags(write=False)
_CATEGORY: I8 = (np.searchsorted(CATEGORY_START, np.arange(NUM_CLASSES), side="right") - 1).astype(np.int8)


def category(rank: int) -> int:
    """Return the category of a rank, 0 (high card) .. 8 (straight flush)."""
    return int(_CATEGORY[rank])


@kernel
def place_of_sum(key: int) -> int:
    """Return the place in RANKS of a hand without a flush, given the sum of its keys."""
    return int((_OFFSETS[key & _ROW_MASK] + ((key & _SUM_MASK) >> _ROW_BITS)) & _TABLE_MASK)


@kernel
def _suit_bit(card: int, suit: int) -> int:
    card = int(card)
    return (1 << (card >> 2)) if (card & 3) == suit else 0


@kernel
def showdown_place(key: int, a: int, b: int, board: U8) -> int:
    """Return the place in RANKS of hole cards a, b with a board, or -1 - rank for a flush.

    Args:
        key: sum of KEY_START and the keys of all cards.
        a: first hole card.
        b: second hole card.
        board: uint8 [3..5] cards on the board.
    """
    if key & FLUSH_BITS:
        bits = (key & FLUSH_BITS) >> 35
        suit = int(bits > 1) + int(bits > 16) + int(bits > 256)
        mask = _suit_bit(a, suit) | _suit_bit(b, suit)
        for card in board:
            mask |= _suit_bit(card, suit)
        return -1 - int(FLUSH_RANKS[mask])
    return int(place_of_sum(key))


@kernel
def board_key(board: U8) -> int:
    """Return KEY_START plus the keys of a board's cards.

    Args:
        board: uint8 [3..5] cards on the board.
    """
    key = KEY_START
    for card in board:
        key += CARD_KEYS[card]
    return key


@kernel
def rank_hand(key: int, a: int, b: int, board: U8) -> int:
    """Return the rank of hole cards with a board.

    Args:
        key: `board_key` of the board.
        a: first hole card.
        b: second hole card.
        board: uint8 [3..5] cards on the board.
    """
    place = showdown_place(key + CARD_KEYS[a] + CARD_KEYS[b], a, b, board)
    return int(RANKS[place]) if place >= 0 else -1 - place


@entry("u1_2")
def rank_hands(cards: U8) -> I32:
    """Rank hands.

    Args:
        cards: uint8 [n, 5..7] cards of each hand.

    Returns:
        int32 [n] ranks.

    Raises:
        ValueError: hands have fewer than 5 or more than 7 cards.
    """
    out = np.empty(len(cards), dtype=np.int32)
    if cards.shape[1] == 7:
        _rank_all(cards, 7, out)
    elif cards.shape[1] == 6:
        _rank_all(cards, 6, out)
    elif cards.shape[1] == 5:
        _rank_all(cards, 5, out)
    else:
        raise ValueError("hands to rank have 5, 6 or 7 cards")
    return out


@inline
def _rank_all(cards: U8, size: int, out: I32) -> None:
    """Compute the ranks of hands [n, size]; a constant size unrolls the inner loop, which makes it twice as fast."""
    for i in range(len(cards)):
        key = KEY_START
        for k in range(size):
            key += CARD_KEYS[cards[i, k]]
        place = place_of_sum(key)
        if key & FLUSH_BITS:
            place = showdown_place(key, cards[i, 0], cards[i, 1], cards[i, 2:])
        out[i] = RANKS[place] if place >= 0 else -1 - place


@kernel
def rank_board_into(board: U8, out: I32) -> None:
    """Rank all hands on a board.

    Args:
        board: uint8 [3..5] cards on the board.
        out: int32 [1326] receives the ranks; -1 for hands that share a card with the board.
    """
    key = board_key(board)
    for hand in range(NUM_HANDS):
        out[hand] = RANKS[place_of_sum(key + HAND_KEYS[hand])]
    for suit in range(4):
        if ((key >> (32 + 4 * suit)) & 15) >= 6:
            _raise_flushes(board, suit, out)
    for card in board:
        for hand in HANDS_WITH_CARD[card]:
            out[hand] = -1


@kernel
def _raise_flushes(board: U8, suit: int, out: I32) -> None:
    """Replace the ranks of hands that make a flush in a suit with three or more cards on the board."""
    board_mask, size = 0, 0
    for card in board:
        board_mask |= _suit_bit(card, suit)
        size += (card & 3) == suit
    for hand in range(NUM_HANDS):
        a, b = HAND_CARDS[hand, 0], HAND_CARDS[hand, 1]
        if size + ((a & 3) == suit) + ((b & 3) == suit) >= 5:
            out[hand] = FLUSH_RANKS[board_mask | _suit_bit(a, suit) | _suit_bit(b, suit)]


@entry("u1_1")
def rank_board_hands(board: U8) -> I32:
    """Rank all hands on a board.

    Args:
        board: uint8 [3..5] cards on the board.

    Returns:
        int32 [1326] ranks; -1 for hands that share a card with the board.
    """
    out = np.empty(NUM_HANDS, dtype=np.int32)
    rank_board_into(board, out)
    return out
