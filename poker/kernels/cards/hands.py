"""Tables over the 1,326 two-card hands of a 52-card deck, shared by all kernels; numpy only, nothing compiled.

Card = rank * 4 + suit. The hand with cards a < b has index b * (b - 1) / 2 + a.
"""

import itertools

import numpy as np

from poker.kernels.types import I16, U8, U16

NUM_RANKS = 13
NUM_SUITS = 4
NUM_CARDS = 52
NUM_HANDS = 1326

HAND_CARDS: U8 = np.array([(a, b) for b in range(NUM_CARDS) for a in range(b)], dtype=np.uint8)
"""[1326, 2] cards a < b of each hand."""

HAND_OF_CARDS: I16 = np.full((NUM_CARDS, NUM_CARDS), -1, dtype=np.int16)
"""[52, 52] hand of two cards in either order, -1 on the diagonal."""
HAND_OF_CARDS[HAND_CARDS[:, 0], HAND_CARDS[:, 1]] = np.arange(NUM_HANDS)
HAND_OF_CARDS[HAND_CARDS[:, 1], HAND_CARDS[:, 0]] = np.arange(NUM_HANDS)

HANDS_WITH_CARD: I16 = np.array([[h for h in row if h >= 0] for row in HAND_OF_CARDS.tolist()], np.int16)
"""[52, 51] the hands that contain a card."""

SUIT_PERMUTATIONS: U8 = np.array(list(itertools.permutations(range(NUM_SUITS))), dtype=np.uint8)
"""[24, 4] every bijection of suits, in lexicographic order; row 0 is the identity."""

CARD_PERMUTATION: U8 = (
    np.arange(NUM_CARDS) // NUM_SUITS * NUM_SUITS + SUIT_PERMUTATIONS[:, np.arange(NUM_CARDS) % NUM_SUITS]
).astype(np.uint8)
"""[24, 52] card after its suit is mapped by a permutation."""

HAND_PERMUTATION: U16 = HAND_OF_CARDS[
    CARD_PERMUTATION[:, HAND_CARDS[:, 0]], CARD_PERMUTATION[:, HAND_CARDS[:, 1]]
].astype(np.uint16)
"""[24, 1326] hand after both suits are mapped by a permutation."""
