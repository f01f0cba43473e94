"""Numbers, text and masks of cards and hands, and the card space of a deck.

Card = rank * 4 + suit with ranks 23456789TJQKA = 0..12 and suits cdhs = 0..3 (the ACPC order). The hand with cards a <
b has index b * (b - 1) / 2 + a, 0..1325. A range is one weight for each of the H hands and need not sum to 1.
`poker.game.rules` has the text of cards in smaller decks.
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

__all__ = ["HAND_CARDS", "NUM_CARDS", "NUM_HANDS", "NUM_RANKS", "NUM_SUITS"]
"""Names of the kernels that are imported from here, besides the names defined here."""

Weight = TypeVar("Weight", bound=np.floating[Any])

RANKS = "23456789TJQKA"
SUITS = "cdhs"


class CardError(PokernetsError):
    """Text or numbers that are not cards."""


def hand_index(a: int, b: int) -> int:
    """Return the index of a two-card hand in any deck.

    Args:
        a: one card.
        b: the other card, in either order.

    Raises:
        CardError: the cards are equal or negative.
    """
    low, high = (a, b) if a < b else (b, a)
    if low == high or low < 0:
        raise CardError(f"a hand needs two different cards, got {a} and {b}")
    return high * (high - 1) // 2 + low


def parse_card(text: str) -> int:
    """Return the card number of a text like `Ah`.

    Raises:
        CardError: the text is not a card.
    """
    rank, suit = (RANKS.find(text[0].upper()), SUITS.find(text[1].lower())) if len(text) == 2 else (-1, -1)
    if rank < 0 or suit < 0:
        raise CardError(f"{text!r} is not a card: write a rank of {RANKS} and a suit of {SUITS}, as in Tc")
    return rank * NUM_SUITS + suit


def parse_cards(text: str) -> tuple[int, ...]:
    """Return the card numbers of a text like `AhKd` or `Ah Kd`, in the order written.

    Raises:
        CardError: a card cannot be read or appears twice.
    """
    compact = "".join(text.split())
    cards = tuple(parse_card(compact[i : i + 2]) for i in range(0, len(compact), 2))
    if len(set(cards)) != len(cards):
        raise CardError(f"{text!r} names a card twice")
    return cards


def card_text(card: int) -> str:
    """Return the text of a card number, such as `Ah`."""
    rank, suit = divmod(int(card), NUM_SUITS)
    return RANKS[rank] + SUITS[suit]


def cards_text(cards: Iterable[int]) -> str:
    """Return the text of several cards, such as `AhKd`."""
    return "".join(card_text(card) for card in cards)


def card_mask(cards: Iterable[int]) -> int:
    """Return the bit mask in which bit c is set for each card c."""
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


class CanonicalBoard(NamedTuple):
    """A board in canonical suits, which solvers and caches use as a key.

    The cards of each deal are in ascending order. Create it where a board enters the program. Use `of` for hold'em; use
    `Rules.ordered_board` to keep the dealt suits or for another game.

    Attributes:
        renaming: row of `CARD_PERMUTATION` that maps dealt suits to the board's suits; row 0 changes no suit.
    """

    cards: Board
    renaming: int = 0

    @classmethod
    def of(cls, board: Board) -> "CanonicalBoard":
        """Return the canonical form of a hold'em board.

        Flops that differ only in the names of suits share one canonical flop.

        Args:
            board: [0 or 3 to 5] cards as dealt.
        """
        flop, renaming = board[:3], 0
        if flop:
            renaming = int(canonical_board(np.array(flop, dtype=np.uint8))[1])
            board = tuple(CARD_PERMUTATION[renaming, list(board)].tolist())
        return cls((*sorted(board[:3]), *board[3:]), renaming)

    def card(self, card: int) -> int:
        """Map a dealt card to the suits of this board."""
        return int(CARD_PERMUTATION[self.renaming, card])

    def hand(self, hand: int) -> int:
        """Map the index of a dealt hand to the suits of this board."""
        return int(HAND_PERMUTATION[self.renaming, hand])

    def renamed(self, weights: NDArray[Weight]) -> NDArray[Weight]:
        """Reorder a range from dealt suits to the suits of this board.

        Args:
            weights: [H] weights of hands in the dealt suits.

        Returns:
            [H] the same weights, indexed by hands in the suits of this board.
        """
        out = np.empty_like(weights)
        out[HAND_PERMUTATION[self.renaming]] = weights
        return out

    def dealt(self, rows: NDArray[Weight]) -> NDArray[Weight]:
        """Reorder rows from the suits of this board to the dealt suits.

        Args:
            rows: [H, ...] one row per hand in the suits of this board.

        Returns:
            [H, ...] the rows in the dealt suits; `rows` itself if no suit changes.
        """
        return rows[HAND_PERMUTATION[self.renaming]] if self.renaming else rows


class CardSpace:
    """The H hands of one or two cards from a deck, in the order of their indices.

    Attributes:
        hand_cards: uint8 [H, num_hole_cards] cards of each hand, lower card first.
        masks: uint64 [H] bit mask of the cards of each hand.
    """

    def __init__(self, deck_size: int, num_hole_cards: int) -> None:
        """Enumerate the hands.

        Args:
            deck_size: number of cards in the deck, at most 64.
            num_hole_cards: cards per hand, 1 or 2.
        """
        columns = np.tril_indices(deck_size, -1)[::-1] if num_hole_cards == 2 else (np.arange(deck_size),)
        self.hand_cards: NDArray[np.uint8] = np.stack(columns, axis=1).astype(np.uint8)
        self.masks: NDArray[np.uint64] = np.bitwise_or.reduce(np.uint64(1) << self.hand_cards.astype(np.uint64), axis=1)
        self._has = (self.hand_cards[:, :, None] == np.arange(deck_size)).any(axis=1).astype(np.float64)

    def live(self, board: Iterable[int]) -> NDArray[np.bool_]:
        """Return which hands share no card with the board.

        Returns:
            bool [H].
        """
        free: NDArray[np.bool_] = (self.masks & np.uint64(card_mask(board))) == 0
        return free

    @cached_property
    def disjoint(self) -> NDArray[np.bool_]:
        """Boolean [H, H] pairs of hands that share no card; read-only."""
        pairs: NDArray[np.bool_] = self._has @ self._has.T == 0
        pairs.setflags(write=False)
        return pairs

    def possible(self, board: Iterable[int]) -> NDArray[np.bool_]:
        """Return which pairs of hands share no card with each other or the board.

        Returns:
            bool [H, H].
        """
        live = self.live(board)
        pairs: NDArray[np.bool_] = self.disjoint & live & live[:, None]
        return pairs

    def compatible_mass(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sum, for each hand, the weights of all hands that share no card with it.

        The result is the total weight, minus the hands that contain one of its cards, plus the hand that contains both.

        Args:
            weights: [..., H] weights of the other player's hands.

        Returns:
            float64 [..., H] compatible weight of each hand, never negative.
        """
        blocked = self._has @ (weights @ self._has) if weights.ndim == 1 else weights @ self._has @ self._has.T
        if self.hand_cards.shape[1] == 2:
            blocked -= weights
        mass: NDArray[np.float64] = np.maximum(weights.sum(axis=-1, keepdims=True) - blocked, 0.0)
        return mass


@lru_cache(maxsize=8)
def card_space(deck_size: int, num_hole_cards: int) -> CardSpace:
    """Return the card space of a deck, from a cache; `Rules.space` gives that of a game."""
    return CardSpace(deck_size, num_hole_cards)


HOLDEM = card_space(NUM_CARDS, 2)


def updated_range(weights: NDArray[Weight], likelihood: NDArray[Any]) -> NDArray[Weight] | None:
    """Apply Bayes' rule to a range.

    Args:
        weights: [H] weights before the observation.
        likelihood: [H] probability of the observation with each hand.

    Returns:
        [H] the products, scaled to sum to 1; None if all products are 0.
    """
    product: NDArray[Weight] = weights * likelihood
    total = product.sum(dtype=np.float64)
    return product / product.dtype.type(total) if total > 0.0 else None


NO_CARD = 255
"""Marks an empty place in stored rows of cards."""
RARE = 1e-4
"""Weight relative to a range's largest below which we ignore a hand, because a solve is inaccurate for it."""


def without_rare(ranges: NDArray[Weight]) -> NDArray[Weight]:
    """Set hands with less than RARE of the largest weight to 0.

    Args:
        ranges: [..., H] weights of hands.

    Returns:
        [..., H] the ranges without rare hands.
    """
    return np.where(ranges < RARE * ranges.max(axis=-1, keepdims=True), ranges.dtype.type(0), ranges)


def hand_text(index: int) -> str:
    """Return the text of a hold'em hand, such as `AhKd`, with the higher card first."""
    return cards_text(HAND_CARDS[index][::-1])


def _preflop_classes() -> NDArray[np.uint8]:
    ranks, suits = HAND_CARDS // NUM_SUITS, HAND_CARDS % NUM_SUITS
    low, high = ranks[:, 0], ranks[:, 1]
    suited = suits[:, 0] == suits[:, 1]
    return np.where(suited, high * NUM_RANKS + low, low * NUM_RANKS + high).astype(np.uint8)


PREFLOP_CLASS: NDArray[np.uint8] = _preflop_classes()
"""[1326] class of each hand on the 13 x 13 grid: row * 13 + column; (high, low) is suited, (low, high) offsuit."""

PREFLOP_CLASS_SIZE: NDArray[np.int64] = np.bincount(PREFLOP_CLASS, minlength=NUM_RANKS * NUM_RANKS)
"""[169] number of hands in each class: 4 suited, 6 paired, 12 offsuit."""


def class_text(preflop_class: int) -> str:
    """Return the name of a preflop class: `AA`, `AKs` or `AKo`."""
    row, column = divmod(int(preflop_class), NUM_RANKS)
    if row == column:
        return RANKS[row] * 2
    return RANKS[row] + RANKS[column] + "s" if row > column else RANKS[column] + RANKS[row] + "o"
