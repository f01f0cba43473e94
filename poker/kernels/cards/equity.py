"""The average share of the pot that one hand wins against opponents with restricted hands, by sampled deals."""

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
    """Estimate the share of the pot that a hand wins at a showdown.

    Opponent i has a random hand whose strength is at least `floors[i]`, or any random hand with probability `noise`.

    Args:
        hand: uint8 [2] cards of the hand.
        board: uint8 [0..5] cards on the board.
        board_size: number of cards to which the board is dealt, 3 to 5.
        strength: float32 [1326] strength of every hand.
        floors: float32 [opponents] smallest strength of each opponent's hand.
        noise: probability of ignoring the floor, 0 to 1.
        samples: number of deals.
        rng: uint64 [4] random state; advanced.

    Returns:
        Mean share of the pot, 0 to 1.
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
