"""Features read off cards without dealing any: made hands, draws and the texture of a board, for all hands at once.

Counts here are integers; `poker.features.leaf` scales them. A board has 0, 3, 4 or 5 cards. Rows of hands that share a
card with the board hold 0.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.cards import HAND_CARDS, HOLDEM, NUM_RANKS, NUM_SUITS
from poker.kernels.cards.ranks import CATEGORY_START, rank_board_hands

Ints = NDArray[np.int64]

_RANKS: Ints = (HAND_CARDS // NUM_SUITS).astype(np.int64)
_SUITS: Ints = (HAND_CARDS % NUM_SUITS).astype(np.int64)
_FIVE = 0b11111


class HandShape(NamedTuple):
    """Each field [1326]. Without a board a pocket pair is one pair and both hole cards are overcards."""

    category: Ints  # best hand made now: 0 high card .. 8 straight flush
    suited: Ints  # cards of one suit among hand and board, the most for a suit of a hole card
    straight_outs: Ints  # unseen cards that complete five ranks in a row; 0 where there are five already
    overcards: Ints  # hole cards that rank above every board card


class BoardTexture(NamedTuple):
    """Features of the board alone; all 0 without one."""

    pairing: float  # 0 no pair, 0.5 one pair, 1 trips or two pair (and better)
    suited: int  # most cards of one suit
    straight_windows: int  # windows of five ranks (there are ten) that hold three or more ranks of the board
    high_rank: int


def hand_shape(board: Sequence[int]) -> HandShape:
    """Shapes of all hands on `board`."""
    cards = np.asarray(board, dtype=np.int64)
    live = HOLDEM.live(cards.tolist())
    mask = np.bitwise_or.reduce(1 << (cards // NUM_SUITS), initial=0) | (1 << _RANKS[:, 0]) | (1 << _RANKS[:, 1])
    highest = int((cards // NUM_SUITS).max(initial=-1))
    fields = (_categories(cards), _most_suited(cards), _straight_outs(mask), (highest < _RANKS).sum(axis=1))
    return HandShape(*(np.where(live, field, 0) for field in fields))


def board_texture(board: Sequence[int]) -> BoardTexture:
    """Texture of `board`."""
    if not len(board):
        return BoardTexture(0.0, 0, 0, 0)
    cards = np.asarray(board, dtype=np.int64)
    ranks = np.bincount(cards // NUM_SUITS, minlength=NUM_RANKS)
    extra = int((ranks - 1).clip(min=0).sum())
    with_low_ace = np.concatenate([ranks[-1:], ranks]) > 0
    windows = np.lib.stride_tricks.sliding_window_view(with_low_ace, 5).sum(axis=1)
    return BoardTexture(
        pairing=min(0.5 * extra, 1.0),
        suited=int(np.bincount(cards % NUM_SUITS).max()),
        straight_windows=int((windows >= 3).sum()),
        high_rank=int((cards // NUM_SUITS).max()),
    )


def _categories(cards: Ints) -> Ints:
    if not len(cards):
        return np.asarray(_RANKS[:, 0] == _RANKS[:, 1], dtype=np.int64)
    ranks = rank_board_hands(cards.astype(np.uint8))
    return np.asarray(np.searchsorted(CATEGORY_START, ranks, side="right") - 1)


def _most_suited(cards: Ints) -> Ints:
    on_board = np.bincount(cards % NUM_SUITS, minlength=NUM_SUITS)
    return np.asarray(on_board[_SUITS].max(axis=1) + 1 + (_SUITS[:, 0] == _SUITS[:, 1]))


def _straight_outs(mask: Ints) -> Ints:
    """Straight outs of rank masks. A rank that completes a straight is not held yet: four cards of it are unseen."""
    completing = np.zeros_like(mask)
    for rank in range(NUM_RANKS):
        completing += ~_has_straight(mask) & _has_straight(mask | (1 << rank))
    return 4 * completing


def _has_straight(mask: Ints) -> NDArray[np.bool_]:
    with_low_ace = mask << 1 | mask >> (NUM_RANKS - 1)
    found = np.zeros(mask.shape, dtype=bool)
    for low in range(NUM_RANKS - 3):
        found |= with_low_ace >> low & _FIVE == _FIVE
    return found
