"""Random deals as bucket numbers for sampling solvers: hold'em from bucket tables, small games from full tables.

Many threads call these kernels at once. They share only the tables, and each caller owns its random state.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.cards.hands import HAND_OF_CARDS, HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import BOARD_KEYS, canonical_key
from poker.kernels.cards.ranks import CARD_KEYS, KEY_START, showdown_place
from poker.kernels.registry import KERNEL, entry, inline
from poker.kernels.rng import next_below
from poker.kernels.simd import prefetch
from poker.kernels.types import I16, I32, I64, U8, U64

_BLOCK = 64


@njit(**KERNEL)
def draw_cards(rng: U64, deck: int, used: int, cards: U8) -> None:
    """Draw different cards that are not used yet.

    Args:
        rng: uint64 [4] random state; advanced.
        deck: number of cards in the deck.
        used: bit mask of the cards that are not available.
        cards: uint8 [n] receives the cards.
    """
    for i in range(len(cards)):
        card = next_below(rng, deck)
        while (used >> card) & 1:
            card = next_below(rng, deck)
        used |= 1 << card
        cards[i] = card


@entry(
    "u8_1, u1_2r, u1_2r, u1_2r, u1_2r, i2_1r, i4_3, i4_2",
    "u8_1, u1_2r, u2_2r, u2_2r, u2_2r, i2_1r, i4_3, i4_2",
    "u8_1, u1_2r, u2_2r, u2_2r, u1_2r, i2_1r, i4_3, i4_2",
    "u8_1, u1_2r, u2_2r, u1_2r, u1_2r, i2_1r, i4_3, i4_2",
)
def deal_holdem(
    rng: U64,
    preflop: NDArray[Any],
    flop: NDArray[Any],
    turn: NDArray[Any],
    river: NDArray[Any],
    rank_table: I16,
    buckets: I32,
    ranks: I32,
) -> None:
    """Draw random hold'em deals.

    Cards of a block of deals are drawn before the tables are read, so that the cache misses of many deals overlap.
    `buckets` and `ranks` first contain places in the tables, and then the values there.

    Args:
        rng: uint64 [4] random state; advanced.
        preflop: [1, 1326] bucket table.
        flop: [1755, 1326] bucket table of the canonical flops.
        turn: [16432, 1326] bucket table of the canonical turns.
        river: [134459, 1326] bucket table of the canonical rivers.
        rank_table: int16 [2^17] `ranks.RANKS`.
        buckets: int32 [n, P, S] receives the buckets; S is 2 (the last board is the flop) or 4.
        ranks: int32 [n, P] receives the showdown ranks.
    """
    n, num_players, num_streets = buckets.shape
    cards = np.empty(2 * num_players + (5 if num_streets == 4 else 3), dtype=np.uint8)
    board = cards[2 * num_players :]
    rows, images = np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64)
    flops, turns, rivers = flop.reshape(-1), turn.reshape(-1), river.reshape(-1)
    for start in range(0, n, _BLOCK):
        end = min(start + _BLOCK, n)
        for i in range(start, end):
            draw_cards(rng, 52, 0, cards)
            _place(cards, board, rows, images, preflop, buckets[i], ranks[i])
            for p in range(num_players):
                prefetch(rank_table, max(ranks[i, p], 0))
                prefetch(flops, buckets[i, p, 1])
                if num_streets == 4:
                    prefetch(turns, buckets[i, p, 2])
                    prefetch(rivers, buckets[i, p, 3])
        for i in range(start, end):
            for p in range(num_players):
                place, out = ranks[i, p], buckets[i, p]
                ranks[i, p] = rank_table[place] if place >= 0 else -1 - place
                out[1] = flops[out[1]]
                if num_streets == 4:
                    out[2] = turns[out[2]]
                    out[3] = rivers[out[3]]


@inline
def _place(cards: U8, board: U8, rows: I64, images: I64, preflop: NDArray[Any], buckets: I32, ranks: I32) -> None:
    """Compute the places of one deal in the tables: buckets [P, S] and ranks [P]; rows and images are scratch."""
    num_players, num_streets = buckets.shape
    key, board_key = KEY_START, 0
    for k in range(len(board)):
        key += CARD_KEYS[board[k]]
        board_key += BOARD_KEYS[board[k]]
        if k >= 2:
            rows[k - 2], images[k - 2] = canonical_key(k + 1, board_key)
    for p in range(num_players):
        a, b = cards[2 * p], cards[2 * p + 1]
        hand = HAND_OF_CARDS[a, b]
        buckets[p, 0] = preflop[0, hand]
        for street in range(num_streets - 1):
            place = HAND_PERMUTATION[images[street], hand]
            buckets[p, street + 1] = rows[street] * NUM_HANDS + place
        ranks[p] = showdown_place(key + CARD_KEYS[a] + CARD_KEYS[b], a, b, board)


@entry("u8_1, i8, i8_1, i8_1, i4_2, i4_2, i4_3, i4_2")
def deal_small(
    rng: U64, deck: int, board_sizes: I64, offsets: I64, bucket_table: I32, rank_table: I32, buckets: I32, ranks: I32
) -> None:
    """Draw random deals of games with one hole card per player.

    A board of k cards has the number sum of card_i * deck**i.

    Args:
        rng: uint64 [4] random state; advanced.
        deck: number of cards in the deck.
        board_sizes: int64 [S] board cards on each street.
        offsets: int64 [S] first row of each street in `bucket_table`.
        bucket_table: int32 [rows, deck] bucket of each card on each board.
        rank_table: int32 [deck**k, deck] rank of each card on each complete board.
        buckets: int32 [n, P, S] receives the buckets.
        ranks: int32 [n, P] receives the showdown ranks.
    """
    n, num_players, num_streets = buckets.shape
    total = board_sizes[num_streets - 1]
    cards = np.empty(num_players + total, dtype=np.uint8)
    codes = np.zeros(total + 1, dtype=np.int64)
    for i in range(n):
        draw_cards(rng, deck, 0, cards)
        weight = 1
        for k in range(total):
            codes[k + 1] = codes[k] + int(cards[num_players + k]) * weight
            weight *= deck
        for p in range(num_players):
            for street in range(num_streets):
                row = offsets[street] + codes[board_sizes[street]]
                buckets[i, p, street] = bucket_table[row, cards[p]]
            ranks[i, p] = rank_table[codes[total], cards[p]]
