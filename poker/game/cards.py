"""Cards and hands: ids, text and masks of the 52-card deck (`poker.game.rules` has the text of smaller ones), and the
card space of any deck: which hands a board leaves and which go together.

Card = rank * 4 + suit with ranks 23456789TJQKA = 0..12 and suits cdhs = 0..3 (the ACPC order). Hand of cards a < b:
index b * (b - 1) / 2 + a, 0..1325.

A range is one weight for each of the H hands; it need not sum to 1.
"""

from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards.hands import (
    CARD_PERMUTATION,
    HAND_CARDS,
    HAND_PERMUTATION,
    NUM_CARDS,
    NUM_HANDS,
    NUM_RANKS,
    NUM_SUITS,
)
from poker.kernels.cards.isomorphism import canonical_board
from poker.kernels.types import Board
from poker.run.errors import PokernetsError

__all__ = [
    "HAND_CARDS",
    "HOLDEM",
    "NUM_CARDS",
    "NUM_HANDS",
    "NUM_RANKS",
    "NUM_SUITS",
    "PREFLOP_CLASS",
    "PREFLOP_CLASS_SIZE",
    "RANKS",
    "SUITS",
    "CanonicalBoard",
    "CardError",
    "CardSpace",
    "card_mask",
    "card_space",
    "card_text",
    "cards_text",
    "class_text",
    "hand_index",
    "hand_text",
    "parse_card",
    "parse_cards",
    "updated_range",
]

Weight = TypeVar("Weight", bound=np.floating[Any])

RANKS = "23456789TJQKA"
SUITS = "cdhs"


class CardError(PokernetsError):
    """Text or numbers that are not cards."""


def hand_index(a: int, b: int) -> int:
    """Index of the hand of two different cards, in either order and of any deck."""
    low, high = (a, b) if a < b else (b, a)
    if low == high or low < 0:
        raise CardError(f"a hand needs two different cards, got {a} and {b}")
    return high * (high - 1) // 2 + low


def parse_card(text: str) -> int:
    """Card of a text like `Ah`."""
    rank, suit = (RANKS.find(text[0].upper()), SUITS.find(text[1].lower())) if len(text) == 2 else (-1, -1)
    if rank < 0 or suit < 0:
        raise CardError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, as in Tc")
    return rank * NUM_SUITS + suit


def parse_cards(text: str) -> tuple[int, ...]:
    """Different cards of a text like `AhKd` or `Ah Kd`, in the order written."""
    compact = "".join(text.split())
    cards = tuple(parse_card(compact[i : i + 2]) for i in range(0, len(compact), 2))
    if len(set(cards)) != len(cards):
        raise CardError(f"{text!r} names a card twice")
    return cards


def card_text(card: int) -> str:
    rank, suit = divmod(int(card), NUM_SUITS)
    return RANKS[rank] + SUITS[suit]


def cards_text(cards: Iterable[int]) -> str:
    return "".join(card_text(card) for card in cards)


def card_mask(cards: Iterable[int]) -> int:
    """Mask with bit c set for each card c."""
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


class CanonicalBoard(NamedTuple):
    """A board as solves and caches take it: its `cards`, and the permutation of suits that leads from those dealt.

    `cards` have each deal in ascending order. `renaming` is a row of `CARD_PERMUTATION`; row 0 changes no suit. Made
    where a board enters, by `of` or, in the suits dealt and for any game, from `Rules.ordered_board`.
    """

    cards: Board
    renaming: int = 0

    @classmethod
    def of(cls, board: Board) -> "CanonicalBoard":
        """A hold'em board in the suits of the flop that stands for all flops equal up to the names of suits."""
        flop, renaming = board[:3], 0
        if flop:
            renaming = int(canonical_board(np.array(flop, dtype=np.uint8))[1])
            board = tuple(CARD_PERMUTATION[renaming, list(board)].tolist())
        return cls((*sorted(board[:3]), *board[3:]), renaming)

    def card(self, card: int) -> int:
        """A card that was dealt, in the suits of the board."""
        return int(CARD_PERMUTATION[self.renaming, card])

    def hand(self, hand: int) -> int:
        """A hand that was dealt, in the suits of the board."""
        return int(HAND_PERMUTATION[self.renaming, hand])

    def renamed(self, weights: NDArray[Weight]) -> NDArray[Weight]:
        """[H] weights of hands dealt, in the suits of the board."""
        out = np.empty_like(weights)
        out[HAND_PERMUTATION[self.renaming]] = weights
        return out

    def dealt(self, rows: NDArray[Weight]) -> NDArray[Weight]:
        """[H, ...] rows of hands in the suits of the board, in those dealt; the rows themselves where these are the
        same."""
        return rows[HAND_PERMUTATION[self.renaming]] if self.renaming else rows


class CardSpace:
    """The H hands of `num_hole_cards` (1 or 2) out of `deck_size` cards, in the order of their indices.

    `hand_cards` uint8 [H, num_hole_cards], lower card first; `masks` uint64 [H] a bit for each card held.
    """

    def __init__(self, deck_size: int, num_hole_cards: int) -> None:
        columns = np.tril_indices(deck_size, -1)[::-1] if num_hole_cards == 2 else (np.arange(deck_size),)
        self.hand_cards: NDArray[np.uint8] = np.stack(columns, axis=1).astype(np.uint8)
        self.masks: NDArray[np.uint64] = np.bitwise_or.reduce(np.uint64(1) << self.hand_cards.astype(np.uint64), axis=1)
        self._held = (self.hand_cards[:, :, None] == np.arange(deck_size)).any(axis=1).astype(np.float64)

    def live(self, board: Iterable[int]) -> NDArray[np.bool_]:
        """[H] hands that share no card with the board."""
        free: NDArray[np.bool_] = (self.masks & np.uint64(card_mask(board))) == 0
        return free

    @cached_property
    def disjoint(self) -> NDArray[np.bool_]:
        """[H, H] pairs of hands that share no card; read-only."""
        pairs: NDArray[np.bool_] = self._held @ self._held.T == 0
        pairs.setflags(write=False)
        return pairs

    def possible(self, board: Iterable[int]) -> NDArray[np.bool_]:
        """[H, H] pairs of hands that share no card with each other or the board."""
        live = self.live(board)
        pairs: NDArray[np.bool_] = self.disjoint & live & live[:, None]
        return pairs

    def compatible_mass(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """[..., H] the weight of the hands that share no card with each hand: all, less those that hold one of its
        cards, plus the one that holds both."""
        blocked = self._held @ (weights @ self._held) if weights.ndim == 1 else weights @ self._held @ self._held.T
        if self.hand_cards.shape[1] == 2:
            blocked -= weights
        mass: NDArray[np.float64] = np.maximum(weights.sum(axis=-1, keepdims=True) - blocked, 0.0)
        return mass


@lru_cache(maxsize=8)
def card_space(deck_size: int, num_hole_cards: int) -> CardSpace:
    """The card space of a deck, made once (`Rules.space` of a game)."""
    return CardSpace(deck_size, num_hole_cards)


HOLDEM = card_space(NUM_CARDS, 2)


def updated_range(weights: NDArray[Weight], likelihood: NDArray[Any]) -> NDArray[Weight] | None:
    """Bayes' rule: weights [H] times the likelihood [H] of what was seen, scaled to sum to 1; None if that is 0."""
    product: NDArray[Weight] = weights * likelihood
    total = product.sum(dtype=np.float64)
    return product / product.dtype.type(total) if total > 0.0 else None


NO_CARD = 255
"""Stands for no card in stored rows of cards."""
RARE = 1e-4
"""Weight, relative to the largest of a range, below which a hand counts as not in it: a solve says little about it."""


def without_rare(ranges: NDArray[Weight]) -> NDArray[Weight]:
    """[..., H] ranges without their rare hands."""
    return np.where(ranges < RARE * ranges.max(axis=-1, keepdims=True), ranges.dtype.type(0), ranges)


def hand_text(index: int) -> str:
    """`AhKd`: the higher card first."""
    return cards_text(HAND_CARDS[index][::-1])


def _preflop_classes() -> NDArray[np.uint8]:
    ranks, suits = HAND_CARDS // NUM_SUITS, HAND_CARDS % NUM_SUITS
    low, high = ranks[:, 0], ranks[:, 1]
    suited = suits[:, 0] == suits[:, 1]
    return np.where(suited, high * NUM_RANKS + low, low * NUM_RANKS + high).astype(np.uint8)


PREFLOP_CLASS: NDArray[np.uint8] = _preflop_classes()
"""[1326] one of 169 classes on the 13 x 13 grid: row * 13 + column, (high, low) suited, (low, high) offsuit."""

PREFLOP_CLASS_SIZE: NDArray[np.int64] = np.bincount(PREFLOP_CLASS, minlength=NUM_RANKS * NUM_RANKS)
"""[169] hands in each class: 4 suited, 6 paired, 12 offsuit."""


def class_text(preflop_class: int) -> str:
    """`AA`, `AKs` or `AKo`."""
    row, column = divmod(int(preflop_class), NUM_RANKS)
    if row == column:
        return RANKS[row] * 2
    return RANKS[row] + RANKS[column] + "s" if row > column else RANKS[column] + RANKS[row] + "o"
