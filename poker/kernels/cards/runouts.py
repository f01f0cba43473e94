"""Showdowns on the completions of a board: ranks of known hands, margins against a range, fitted board subsets."""

import numpy as np

from poker.kernels.cards.ranks import board_key, rank_hand
from poker.kernels.registry import entry, kernel
from poker.kernels.types import F64, I16, I64, U8


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


@entry("i2_2, i2_2, u1_2, f8_2, f8_1, i8_2")
def fit_boards(order: I16, ranks: I16, cards: U8, ranges: F64, multiplicity: F64, trials: I64) -> I64:
    """Choose a few of N final boards so that sums over them fit the sums over all (`poker.solvers.vector.rivers`).

    Args:
        order: int16 [N, H] hands of each board, weakest first; blocked hands come before them.
        ranks: int16 [N, H] strength of every hand, -1 where the board blocks it.
        cards: uint8 [H, 2] cards of every hand.
        ranges: float64 [2, H] weights of both players' hands.
        multiplicity: float64 [N] number of boards that each represents.
        trials: int64 [T, n] choices to try; the best one is improved.

    Returns:
        int64 [n] numbers of the chosen boards.
    """
    boards, hands = ranks.shape
    gram = np.zeros((boards, boards))
    mass, margin, out = np.zeros((hands, boards)), np.zeros((hands, boards)), np.empty(hands)
    by_card = np.empty(256)
    sums = np.empty((3, boards))
    for player in range(2):
        other = ranges[1 - player]
        for board in range(boards):
            first = np.sum(ranks[board] < 0)
            live = order[board, first:]
            showdown_margins(live.reshape(1, -1), ranks[board][live].reshape(1, -1), cards, other, out)
            by_card[:] = 0.0
            for hand in live:
                by_card[cards[hand, 0]] += other[hand]
                by_card[cards[hand, 1]] += other[hand]
            total = np.sum(by_card) / 2
            for hand in range(hands):
                met = total - by_card[cards[hand, 0]] - by_card[cards[hand, 1]] + other[hand]
                mass[hand, board] = met if ranks[board, hand] >= 0 else 0.0
                margin[hand, board] = out[hand]
        for hand in range(hands):
            mean = np.sum(multiplicity * mass[hand]) / np.sum(multiplicity)
            if ranges[player, hand] > 0 and mean > 1e-12:
                scale = np.sqrt(ranges[player, hand] / mean)
                for board in range(boards):
                    met, won = mass[hand, board], margin[hand, board]
                    sums[0, board], sums[1, board] = scale * met, scale * won
                    sums[2, board] = scale * won * won / max(met, 1e-12)
                _add_products(sums, multiplicity, gram)
    chosen: I64 = _improved(gram, multiplicity, trials)
    return chosen


@kernel
def _add_products(sums: F64, multiplicity: F64, gram: F64) -> None:
    """Add to gram [N, N] the products of the deviations of `sums` [3, N] from their means, times the multiplicity."""
    for row in sums:
        row[:] = (row - np.sum(row * multiplicity) / np.sum(multiplicity)) * multiplicity
        for a in range(len(row)):
            for b in range(len(row)):
                gram[a, b] += row[a] * row[b]


@kernel
def _improved(gram: F64, multiplicity: F64, trials: I64) -> I64:
    """Return the trial with the smallest error, improved by the best exchange of one board until none lowers it."""
    size, least = trials.shape[1], np.inf
    chosen = trials[0].copy()
    for trial in trials:
        total, weight = 0.0, 0.0
        for a in trial:
            weight += multiplicity[a]
            for b in trial:
                total += gram[a, b]
        if total < least * weight**2:
            least, chosen[:] = total / weight**2, trial
    inside = np.zeros(len(gram), np.bool_)
    inside[chosen] = True
    place, better = 0, 0
    while place >= 0:
        total, weight, place = 0.0, 0.0, -1
        shared = np.zeros(len(gram))
        for a in chosen:
            weight += multiplicity[a]
            shared += gram[a]
        for a in chosen:
            total += shared[a]
        least = (1 - 1e-9) * total / weight**2
        for i in range(size):
            a = chosen[i]
            for b in range(len(gram)):
                exchanged = total - 2 * shared[a] + gram[a, a] + 2 * (shared[b] - gram[a, b]) + gram[b, b]
                if not inside[b] and exchanged < least * (weight - multiplicity[a] + multiplicity[b]) ** 2:
                    least = exchanged / (weight - multiplicity[a] + multiplicity[b]) ** 2
                    place, better = i, b
        if place >= 0:
            inside[chosen[place]], inside[better] = False, True
            chosen[place] = better
    return np.sort(chosen)
