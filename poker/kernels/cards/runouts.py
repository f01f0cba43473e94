"""Showdowns on the completions of a board: ranks of known hands, and margins against a range."""

import numpy as np

from poker.kernels.cards.ranks import board_key, rank_hand
from poker.kernels.registry import entry
from poker.kernels.types import F64, I16, U8


@entry("u1_1, u1_2")
def runout_ranks(board: U8, hands: U8) -> I16:
    """Rank known hands on every completion of a board.

    Args:
        board: uint8 [0..5] cards on the board.
        hands: uint8 [P, 2] hole cards of each player.

    Returns:
        int16 [N, P] ranks on the N completions to five cards that use none of these cards.
    """
    dead = np.zeros(52, dtype=np.bool_)
    for card in board:
        dead[card] = True
    for hand in hands:
        dead[hand[0]] = True
        dead[hand[1]] = True
    deck = np.flatnonzero(~dead)
    size, missing = len(deck), 5 - len(board)
    count = 1
    for k in range(missing):
        count = count * (size - k) // (k + 1)
    full = np.empty(5, dtype=np.uint8)
    full[: len(board)] = board
    chosen = np.arange(missing)
    out = np.empty((count, len(hands)), dtype=np.int16)
    for row in range(count):
        for k in range(missing):
            full[len(board) + k] = deck[chosen[k]]
        key = board_key(full)
        for player in range(len(hands)):
            out[row, player] = rank_hand(key, hands[player, 0], hands[player, 1], full)
        place = missing - 1
        while place >= 0 and chosen[place] == size - missing + place:
            place -= 1
        if place >= 0:
            chosen[place] += 1
            for k in range(place + 1, missing):
                chosen[k] = chosen[k - 1] + 1
    return out


@entry("i2_2, i2_2, u1_2, f8_1, f8_1")
def showdown_margins(order: I16, ranks: I16, cards: U8, weights: F64, out: F64) -> None:
    """Compute the weight of opponent hands that each hand beats, minus the weight of those that beat it.

    The result is summed over N boards. Hands that share a card are not compared. On each board one sweep over groups of
    equal rank, weakest first, tracks the weight passed so far in total and by card.

    Args:
        order: int16 [N, n] hands that each board leaves, weakest first.
        ranks: int16 [N, n] their ranks.
        cards: uint8 [H, 2] cards of each hand.
        weights: float64 [H] weights of the opponent's hands.
        out: float64 [H] receives the result.
    """
    by_card, passed = np.empty(52), np.empty(52)
    out[:] = 0.0
    size = order.shape[1]
    for row in range(len(order)):
        hands, strength = order[row], ranks[row]
        by_card[:] = 0.0
        passed[:] = 0.0
        total, below = 0.0, 0.0
        for hand in hands:
            total += weights[hand]
            by_card[cards[hand, 0]] += weights[hand]
            by_card[cards[hand, 1]] += weights[hand]
        start = 0
        while start < size:
            end = start
            while end < size and strength[end] == strength[start]:
                hand = hands[end]
                out[hand] += below - passed[cards[hand, 0]] - passed[cards[hand, 1]]
                end += 1
            for i in range(start, end):
                hand = hands[i]
                below += weights[hand]
                passed[cards[hand, 0]] += weights[hand]
                passed[cards[hand, 1]] += weights[hand]
            for i in range(start, end):
                a, b = cards[hands[i], 0], cards[hands[i], 1]
                out[hands[i]] -= (total - below) - (by_card[a] - passed[a]) - (by_card[b] - passed[b])
            start = end
