"""The share of the pot that one hand wins on average against opponents with restricted hands, by sampling deals."""

import numpy as np

from poker.kernels.cards.hands import HAND_CARDS, NUM_HANDS
from poker.kernels.cards.ranks import board_key, rank_hand
from poker.kernels.registry import entry
from poker.kernels.rng import next_below, next_float
from poker.kernels.types import F32, U8, U64

_TRIES = 500


@entry("u1_1, u1_1, i8, f4_1, f4_1, f8, i8, u8_1")
def sampled_equity(
    hand: U8, board: U8, board_size: int, strength: F32, floors: F32, noise: float, samples: int, rng: U64
) -> float:
    """Expected share of the pot in 0..1 of `hand` [2] when the board is dealt to `board_size` (3 to 5) cards.

    Opponent i holds a random hand whose `strength` [1326] is at least `floors[i]`, or, with probability `noise`, any
    random hand. `rng` [4] is advanced.
    """
    opponents = len(floors)
    full = np.empty(board_size, dtype=np.uint8)
    full[: len(board)] = board
    given = np.uint64(1) << np.uint64(hand[0]) | np.uint64(1) << np.uint64(hand[1])
    for card in board:
        given |= np.uint64(1) << np.uint64(card)
    held = np.zeros(opponents, dtype=np.int64)
    total = 0.0
    for _ in range(samples):
        used = given
        for i in range(opponents):
            loose = next_float(rng) < noise
            for attempt in range(_TRIES):
                k = next_below(rng, NUM_HANDS)
                mask = np.uint64(1) << np.uint64(HAND_CARDS[k, 0]) | np.uint64(1) << np.uint64(HAND_CARDS[k, 1])
                if mask & used == 0 and (loose or strength[k] >= floors[i] or attempt > _TRIES // 2):
                    break
            used |= mask
            held[i] = k
        for i in range(len(board), board_size):
            card = next_below(rng, 52)
            while used >> np.uint64(card) & np.uint64(1):
                card = next_below(rng, 52)
            used |= np.uint64(1) << np.uint64(card)
            full[i] = card
        key = board_key(full)
        own = rank_hand(key, hand[0], hand[1], full)
        sharing = 1
        for i in range(opponents):
            other = rank_hand(key, HAND_CARDS[held[i], 0], HAND_CARDS[held[i], 1], full)
            if other > own:
                sharing = 0
                break
            sharing += other == own
        if sharing:
            total += 1.0 / sharing
    return total / samples
