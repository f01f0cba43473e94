"""Cards and two-card hands of the 52-card deck: ids, text and masks. `poker.rules` does the same for smaller decks.

Card = rank * 4 + suit with ranks 23456789TJQKA = 0..12 and suits cdhs = 0..3 (the ACPC order). Hand of cards a < b:
index b * (b - 1) / 2 + a, 0..1325.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.kernels.cards.hands import HAND_CARDS, NUM_CARDS, NUM_HANDS, NUM_RANKS, NUM_SUITS

__all__ = [
    "HAND_CARDS",
    "HAND_MASKS",
    "NUM_CARDS",
    "NUM_HANDS",
    "NUM_RANKS",
    "NUM_SUITS",
    "PREFLOP_CLASS",
    "PREFLOP_CLASS_SIZE",
    "RANKS",
    "SUITS",
    "CardError",
    "card_mask",
    "card_text",
    "cards_text",
    "class_text",
    "hand_index",
    "hand_text",
    "live_hands",
    "parse_card",
    "parse_cards",
]

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
    """Bit c is set for each card c."""
    mask = 0
    for card in cards:
        mask |= 1 << int(card)
    return mask


HAND_MASKS: NDArray[np.uint64] = np.uint64(1) << HAND_CARDS[:, 0].astype(np.uint64) | np.uint64(1) << HAND_CARDS[
    :, 1
].astype(np.uint64)
"""[1326] the two bits of each hand."""


def live_hands(board: Iterable[int]) -> NDArray[np.bool_]:
    """[1326] hands that share no card with the board."""
    free: NDArray[np.bool_] = (HAND_MASKS & np.uint64(card_mask(board))) == 0
    return free


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
