"""Sampled deals for preflop income rates: every player who enters stays to the showdown, and nobody bets."""

import numpy as np

from poker.kernels.cards.hands import HAND_OF_CARDS
from poker.kernels.cards.ranks import board_key, rank_hand
from poker.kernels.registry import entry, kernel
from poker.kernels.rng import next_below, next_float
from poker.kernels.types import F64, I32, U8, U64, Bools

INCOME, SQUARES, COUNT = range(3)


@kernel
def _net(player: int, ranks: I32, enters: Bools, forfeit: float) -> float:
    """Return the net bets of `player`, who enters regardless of `enters`."""
    pot, winners = 1.0, 1
    for other in range(len(ranks)):
        if other == player:
            continue
        if not enters[other]:
            pot += forfeit
            continue
        if ranks[other] > ranks[player]:
            return -1.0
        pot += 1.0
        winners += ranks[other] == ranks[player]
    return pot / winners - 1.0


@entry("i8, i8, f8_1, u1_1, f8, u8_1, f8_2")
def add_rollouts(players: int, deals: int, play: F64, hand_class: U8, forfeit: float, rng: U64, sums: F64) -> None:
    """Deal hands and add up the income of each class of starting hands.

    A player invests one bet on entering. Each player in turn is the one who enters with the dealt hand.

    Args:
        play: float64 [169] probability that another player enters with each class.
        hand_class: uint8 [1326] class of each hand.
        forfeit: bets that a player who does not enter loses.
        rng: uint64 [4] random state; advanced.
        sums: float64 [3, 169] sums of income, its square and the number of hands; updated.
    """
    deck = np.arange(52).astype(np.uint8)
    classes = np.empty(players, dtype=np.int64)
    ranks = np.empty(players, dtype=np.int32)
    enters = np.empty(players, dtype=np.bool_)
    dealt = 5 + 2 * players
    for _ in range(deals):
        for k in range(dealt):
            other = k + next_below(rng, 52 - k)
            deck[k], deck[other] = deck[other], deck[k]
        board = deck[:5]
        key = board_key(board)
        for i in range(players):
            first, second = deck[5 + 2 * i], deck[6 + 2 * i]
            classes[i] = hand_class[HAND_OF_CARDS[first, second]]
            ranks[i] = rank_hand(key, first, second, board)
            enters[i] = next_float(rng) < play[classes[i]]
        for i in range(players):
            net = _net(i, ranks, enters, forfeit)
            sums[INCOME, classes[i]] += net
            sums[SQUARES, classes[i]] += net * net
            sums[COUNT, classes[i]] += 1
