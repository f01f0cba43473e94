"""Exact strength of all hands on a board, now and over every completion of the board.

L is the number of live hands of the board (1,176 on a flop, 1,128 on a turn, 1,081 on a river), in the order of their
indices. N is the number of completions of the board to five cards (1,176, 48 or 1). Ranks are int8: they number the
different strengths of the live hands of one board from LOWEST on. No board has more than 136. A rank is BLOCKED where a
hand and a completion share a card. Opponents are uniform over the hands that share no card with the board or with
one's own hand. Everything is counted in integers, so results do not depend on order or threads. Callers divide.
"""

import numpy as np

from poker.kernels.cards.hands import HAND_CARDS, NUM_HANDS
from poker.kernels.cards.ranks import rank_board_into
from poker.kernels.registry import entry, inline, kernel
from poker.kernels.threads import over_rows
from poker.kernels.types import F32, I8, I16, I32, I64, U8

LOWEST, BLOCKED = -128, 127
MAX_CLUSTERS = 8
_TILE = 32
_WIN_TILE = 26
_MOST = 15 * 8
"""Completions whose wins fit in int8."""
_VECTOR = 64
_EVERY = 52
"""Column with the counts of all hands; the other columns count the hands with each card."""


@entry("u1_1")
def live_hand_list(board: U8) -> I16:
    """List the hands that share no card with a board.

    Args:
        board: uint8 [0..5] cards on the board.

    Returns:
        int16 [L] hands in ascending order.
    """
    dead = np.zeros(52, dtype=np.bool_)
    for card in board:
        dead[card] = True
    out = np.empty(NUM_HANDS, dtype=np.int16)
    size = 0
    for hand in range(NUM_HANDS):
        if not (dead[HAND_CARDS[hand, 0]] or dead[HAND_CARDS[hand, 1]]):
            out[size] = hand
            size += 1
    return out[:size]


@entry("u1_1")
def completions(board: U8) -> U8:
    """List every completion of a board to five cards.

    Args:
        board: uint8 [3..5] cards on the board.

    Returns:
        uint8 [N, 5] complete boards.
    """
    used = np.uint64(0)
    for card in board:
        used |= np.uint64(1) << np.uint64(card)
    deck = [card for card in range(52) if not used >> np.uint64(card) & np.uint64(1)]
    given, size = len(board), len(deck)
    out = np.empty(((1, size, size * (size - 1) // 2)[5 - given], 5), dtype=np.uint8)
    row = 0
    for j in range(size if given < 5 else 1):
        for i in range(j if given == 3 else 1):
            for k in range(given):
                out[row, k] = board[k]
            if given == 3:
                out[row, 3] = deck[i]
            if given < 5:
                out[row, 4] = deck[j]
            row += 1
    return out


@inline
def _bits(word: np.uint64) -> np.int64:
    """Return the number of bits that are set, in a form that LLVM knows as one instruction."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    fours = (pairs & np.uint64(0x3333333333333333)) + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((eights * np.uint64(0x0101010101010101)) >> np.uint64(56))


@kernel
def _live_ranks(board: U8, live: I16, full: I32, out: I8) -> None:
    """Compute the ranks [L] of the live hands on a board with at least as many cards; `full` [1326] is scratch."""
    rank_board_into(board, full)
    present, before = np.zeros(128, dtype=np.uint64), np.empty(128, dtype=np.int64)
    for hand in live:
        place = full[hand] & 8191
        present[place >> 6] |= np.uint64(1) << np.uint64(place & 63)
    number = LOWEST
    for word in range(len(present)):
        before[word] = number
        number += _bits(present[word])
    for k in range(len(live)):
        place = full[live[k]] & 8191
        lower = present[place >> 6] & ((np.uint64(1) << np.uint64(place & 63)) - np.uint64(1))
        rank = before[place >> 6] + _bits(lower)
        out[k] = rank if full[live[k]] >= 0 else BLOCKED


@entry("u1_1, i2_1")
def completion_ranks(board: U8, live: I16) -> I8:
    """Rank the live hands on every completion of a board.

    Args:
        board: uint8 [3..5] cards on the board.
        live: int16 [L] live hands.

    Returns:
        int8 [N, L] ranks, BLOCKED where a hand and a completion share a card.
    """
    boards = completions(board)
    full = np.empty(NUM_HANDS, dtype=np.int32)
    out = np.empty((len(boards), len(live)), dtype=np.int8)
    for row in range(len(boards)):
        _live_ranks(boards[row], live, full, out[row])
    return out


@kernel
def _sort_by_rank(ranks: I8, order: I16) -> None:
    """Sort the positions of ranks [L] into `order`, BLOCKED ones last."""
    start = np.zeros(257, dtype=np.int16)
    for rank in ranks:
        start[rank + 129] += 1
    for i in range(1, len(start)):
        start[i] += start[i - 1]
    for k in range(len(ranks)):
        order[start[ranks[k] + 128]] = k
        start[ranks[k] + 128] += 1


@kernel
def _strength(ranks: I8, cards: U8, counts: I16, out: I16) -> None:
    """Compute 2 * (opponents beaten) + (opponents tied) for each rank [L] with cards [L, 2]; -1 where BLOCKED.

    `counts` [256, 64] is scratch: the hands of each rank that have a card, and all hands of the rank. Running sums turn
    them into twice the hands below the rank plus the hands of the rank.
    """
    size = np.int64(0)
    for rank in ranks:
        size = max(size, np.int64(rank) + 129 if rank != BLOCKED else size)
    counts[:size] = 0
    for k in range(len(ranks)):
        of_rank = counts[ranks[k] + 128]
        of_rank[cards[k, 0]] += 1
        of_rank[cards[k, 1]] += 1
        of_rank[_EVERY] += 1
    below = np.zeros(counts.shape[1], dtype=np.int16)
    for rank in range(size):
        for card in range(len(below)):
            here = counts[rank, card]
            counts[rank, card] = below[card] + below[card] + here
            below[card] += here
    for k in range(len(ranks)):
        of_rank = counts[ranks[k] + 128]
        beaten = of_rank[_EVERY] - of_rank[cards[k, 0]] - of_rank[cards[k, 1]] + 1  # the hand itself is in all three
        out[k] = beaten if ranks[k] != BLOCKED else -1


@kernel
def _live_cards(live: I16) -> U8:
    out = np.empty((len(live), 2), dtype=np.uint8)
    for k in range(len(live)):
        out[k, 0] = HAND_CARDS[live[k], 0]
        out[k, 1] = HAND_CARDS[live[k], 1]
    return out


@entry("u1_1, i2_1")
def board_strength_into(board: U8, out: I16) -> None:
    """Compute 2 * (opponents beaten now) + (opponents tied now) for all hands on a board.

    Divide by 2 * C(50 - cards, 2) for hand strength: 2162, 2070 or 1980.

    Args:
        board: uint8 [3..5] cards on the board.
        out: int16 [1326] receives the counts; -1 for hands that share a card with the board.
    """
    live = live_hand_list(board)
    ranks, strength = np.empty(len(live), dtype=np.int8), np.empty_like(live)
    _live_ranks(board, live, np.empty(NUM_HANDS, dtype=np.int32), ranks)
    _strength(ranks, _live_cards(live), np.empty((256, _VECTOR), dtype=np.int16), strength)
    out[:] = -1
    for k in range(len(live)):
        out[live[k]] = strength[k]


@entry("i8, i8, u1_2, i2_2")
def _strength_rows(first: int, last: int, boards: U8, out: I16) -> None:
    for i in range(first, last):
        board_strength_into(boards[i], out[i])


def boards_strength(boards: U8) -> I16:
    """Compute the counts of `board_strength_into` for several boards, on all threads.

    Args:
        boards: uint8 [n, 3..5] boards.

    Returns:
        int16 [n, 1326] counts; -1 for hands that share a card with the board.
    """
    out = np.empty((len(boards), NUM_HANDS), dtype=np.int16)
    over_rows(_strength_rows, len(boards), boards, out)
    return out


@entry("i1_2, i2_1")
def completion_strength(ranks: I8, live: I16) -> I16:
    """Compute river strength on every completion.

    Args:
        ranks: int8 [N, L] result of `completion_ranks`.
        live: int16 [L] live hands.

    Returns:
        int16 [N, L] strength 0..1980, -1 where BLOCKED.
    """
    cards = _live_cards(live)
    out, counts = np.empty(ranks.shape, dtype=np.int16), np.empty((256, _VECTOR), dtype=np.int16)
    for row in range(len(ranks)):
        _strength(ranks[row], cards, counts, out[row])
    return out


@entry("i2_2")
def strength_moments(strength: I16) -> I64:
    """Sum strength and its square over completions, without BLOCKED entries.

    Args:
        strength: int16 [N, L] result of `completion_strength`.

    Returns:
        int64 [2, L] sums of strength and of its square.
    """
    out = np.zeros((2, strength.shape[1]), dtype=np.int64)
    for row in strength:
        for k in range(len(row)):
            value = max(int(row[k]), 0)
            out[0, k] += value
            out[1, k] += value * value
    return out


@inline
def _count_eight(ranks: I8, bounds: I8, r: int, first: int, last: int, out: I8) -> None:
    """Add the wins of hands first..last on completions r..r + 8 to the rows of `out`.

    With eight completions at a time the counts are read and written an eighth as often.
    """
    a, b, c, d = ranks[r], ranks[r + 1], ranks[r + 2], ranks[r + 3]
    e, f, g, h = ranks[r + 4], ranks[r + 5], ranks[r + 6], ranks[r + 7]
    for i in range(first, last):
        wins = out[i - first]
        ra, rb, rc, rd = bounds[r, i], bounds[r + 1, i], bounds[r + 2, i], bounds[r + 3, i]
        re, rf, rg, rh = bounds[r + 4, i], bounds[r + 5, i], bounds[r + 6, i], bounds[r + 7, i]
        for j in range(ranks.shape[1]):
            four = np.int8(a[j] < ra) + np.int8(b[j] < rb) + np.int8(c[j] < rc) + np.int8(d[j] < rd)
            more = np.int8(e[j] < re) + np.int8(f[j] < rf) + np.int8(g[j] < rg) + np.int8(h[j] < rh)
            wins[j] += four + more


@entry("i1_2, i8, i8")
def count_wins(ranks: I8, first: int, last: int) -> I16:
    """Count the completions on which some hands rank above each other hand.

    Pairs that share a card are counted too, and their counts have no meaning. The inner loop runs over the other hand
    with SIMD in 8-bit lanes.

    Args:
        ranks: int8 [N, L] ranks on every completion.
        first: first hand i to compare.
        last: end of the hands to compare.

    Returns:
        int16 [last - first, L] completions on which hand i ranks above hand j.
    """
    N, L = ranks.shape
    out = np.zeros((last - first, L), dtype=np.int16)
    padded = np.zeros((N, -(-L // _VECTOR) * _VECTOR), dtype=np.int8)
    bounds = np.empty_like(ranks)  # ranks below them lose; no rank loses to a BLOCKED one
    for r in range(N):
        for j in range(L):
            padded[r, j] = ranks[r, j]
            bounds[r, j] = ranks[r, j] - np.int8(255 * (ranks[r, j] == BLOCKED))
    wins = np.empty((_TILE, padded.shape[1]), dtype=np.int8)
    for tile in range(first, last, _TILE):
        end = min(tile + _TILE, last)
        for begin in range(0, N, _MOST):
            stop = min(begin + _MOST, N)
            wins[:] = 0
            for r in range(begin, stop - 7, 8):
                _count_eight(padded, bounds, r, tile, end, wins)
            for r in range(stop - (stop - begin) % 8, stop):
                for i in range(tile, end):
                    for j in range(L):
                        wins[i - tile, j] += np.int8(padded[r, j] < bounds[r, i])
            for i in range(tile, end):
                for j in range(L):
                    out[i - first, j] += wins[i - tile, j]
    return out


@entry("i1_2, i8")
def hand_margins(ranks: I8, hand: int) -> I16:
    """Count the completions on which one hand ranks above each hand, minus those on which it ranks below.

    BLOCKED counts as the highest rank. Two hands that share no card are each blocked on the same number of completions
    while the other is not, so these cancel. Pairs that share a card are counted too, and their counts have no meaning.

    Args:
        ranks: int8 [N, L] ranks on every completion.
        hand: position of the hand among the live ones.

    Returns:
        int16 [L] margins.
    """
    out = np.zeros(ranks.shape[1], dtype=np.int16)
    for row in ranks:
        own = row[hand]
        for j in range(len(row)):
            out[j] += np.int16(row[j] < own) - np.int16(row[j] > own)
    return out


@entry("i2_2, i2_1, i8")
def equity_matrix(wins: I16, live: I16, completions: int) -> F32:
    """Compute all-in equities from counts of wins.

    Args:
        wins: int16 [L, L] result of `count_wins`.
        live: int16 [L] live hands.
        completions: number of completions that two given hands allow.

    Returns:
        float32 [1326, 1326] probability that the row's hand wins plus half the probability of a tie; 0 for impossible
        pairs.
    """
    L = len(live)
    cards = _live_cards(live)
    out = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.float32)
    for i in range(L):
        a, b = cards[i, 0], cards[i, 1]
        for j in range(i):
            if a in (cards[j, 0], cards[j, 1]) or b in (cards[j, 0], cards[j, 1]):
                continue
            margin = (np.int64(wins[i, j]) - np.int64(wins[j, i])) / (2.0 * completions)
            out[live[i], live[j]] = 0.5 + margin
            out[live[j], live[i]] = 0.5 - margin
    return out


@entry("i8, i8, u1_2, i8_3")
def _moment_rows(first: int, last: int, boards: U8, out: I64) -> None:
    for i in range(first, last):
        live = live_hand_list(boards[i])
        moments = strength_moments(completion_strength(completion_ranks(boards[i], live), live))
        for k in range(len(live)):
            out[i, 0, live[k]] = moments[0, k]
            out[i, 1, live[k]] = moments[1, k]


def boards_moments(boards: U8) -> I64:
    """Compute `strength_moments` of every hand over the completions of several boards, on all threads.

    Args:
        boards: uint8 [n, 3..5] boards.

    Returns:
        int64 [n, 2, 1326] sums of river strength and of its square.
    """
    out = np.zeros((len(boards), 2, NUM_HANDS), dtype=np.int64)
    over_rows(_moment_rows, len(boards), boards, out)
    return out


@entry("i8, i8, u1_2, u1_3")
def _distribution_rows(first: int, last: int, boards: U8, out: U8) -> None:
    bins = out.shape[2]
    for i in range(first, last):
        live = live_hand_list(boards[i])
        strength = completion_strength(completion_ranks(boards[i], live), live)
        for row in range(len(strength)):
            for k in range(len(live)):
                if strength[row, k] >= 0:
                    out[i, k, min(int(strength[row, k]) * bins // 1980, bins - 1)] += 1
        for k in range(len(live)):
            for b in range(1, bins):
                out[i, k, b] += out[i, k, b - 1]


def boards_distribution(boards: U8, bins: int) -> U8:
    """Count the completions of turn boards by river strength, on all threads.

    The bins divide 0..1 equally, and strength 1 falls into the last bin.

    Args:
        boards: uint8 [n, 4] turn boards.

    Returns:
        uint8 [n, L, bins] completions with river strength in bins 0..b, out of 46 for each live hand.
    """
    out = np.zeros((len(boards), 1128, bins), dtype=np.uint8)
    over_rows(_distribution_rows, len(boards), boards, out)
    return out


@entry("i8, i8, u1_2, i1_2")
def _rank_rows(first: int, last: int, boards: U8, out: I8) -> None:
    """Compute the ranks [n, 1326] of all hands on boards [n, 3..5]."""
    everyone, full = np.arange(NUM_HANDS).astype(np.int16), np.empty(NUM_HANDS, dtype=np.int32)
    for i in range(first, last):
        _live_ranks(boards[i], everyone, full, out[i])


@entry("i8, i8, i1_2, i8, i8_2")
def _add_win_tiles(first: int, last: int, ranks: I8, weight: int, wins: I64) -> None:
    """Add the weighted wins of tiles of `_WIN_TILE` hands."""
    for start in range(first * _WIN_TILE, last * _WIN_TILE, _WIN_TILE):
        counted = count_wins(ranks, start, start + _WIN_TILE)
        for i in range(_WIN_TILE):
            for j in range(NUM_HANDS):
                wins[start + i, j] += weight * counted[i, j]


def add_preflop_wins(boards: U8, weight: int, wins: I64) -> None:
    """Add a weight for every board on which one hand beats another.

    Args:
        boards: uint8 [n, 5] complete boards, n < 32768.
        weight: number to add.
        wins: int64 [1326, 1326] sums for the row's hand beating the column's; updated.
    """
    ranks = np.empty((len(boards), NUM_HANDS), dtype=np.int8)
    over_rows(_rank_rows, len(boards), boards, ranks)
    over_rows(_add_win_tiles, NUM_HANDS // _WIN_TILE, ranks, weight, wins)


@kernel
def _equity_against(board: U8, cluster_of: I8, full_scale: int, out: I16) -> None:
    """Compute the equity [L, C] of the live hands of a river against each cluster of opponents' hands.

    The result is multiplied by `full_scale`. The sweep is that of `_strength`, with a counter for each of eight
    clusters (C <= 8). This constant lets the compiler vectorise the inner loops. A cluster without compatible hands
    counts as equity one half.
    """
    live = live_hand_list(board)
    cards = _live_cards(live)
    ranks, order = np.empty(len(live), dtype=np.int8), np.empty_like(live)
    _live_ranks(board, live, np.empty(NUM_HANDS, dtype=np.int32), ranks)
    _sort_by_rank(ranks, order)
    below, every = np.zeros((53, MAX_CLUSTERS), dtype=np.int32), np.zeros((53, MAX_CLUSTERS), dtype=np.int32)
    for k in range(len(live)):
        _count(every, cards[k], cluster_of[live[k]])
    wins = np.zeros((len(live), MAX_CLUSTERS), dtype=np.int32)
    start = 0
    while start < len(live):
        end = start
        while end < len(live) and ranks[order[end]] == ranks[order[start]]:
            end += 1
        for i in range(start, end):
            _add_others(below, cards[order[i]], wins, order[i])
        for i in range(start, end):
            _count(below, cards[order[i]], cluster_of[live[order[i]]])
        for i in range(start, end):
            _add_others(below, cards[order[i]], wins, order[i])
            wins[order[i], cluster_of[live[order[i]]]] += 1
        start = end
    total = np.empty((1, MAX_CLUSTERS), dtype=np.int32)
    for k in range(len(live)):
        total[:] = 0
        _add_others(every, cards[k], total, 0)
        total[0, cluster_of[live[k]]] += 1
        for c in range(out.shape[1]):
            doubled = max(2 * total[0, c], 1)
            share = wins[k, c] if total[0, c] > 0 else 0.5
            out[k, c] = np.int16(np.float32(share) * np.float32(full_scale) / np.float32(doubled) + np.float32(0.5))


@kernel
def _count(counts: I32, hand: U8, cluster: int) -> None:
    """Add a hand to the counts of its cluster: by card (rows 0..51) and in total (row 52)."""
    counts[hand[0], cluster] += 1
    counts[hand[1], cluster] += 1
    counts[52, cluster] += 1


@kernel
def _add_others(counts: I32, hand: U8, out: I32, row: int) -> None:
    """Add to a row of `out` the counted hands without a card of `hand`; one too few if the hand itself was counted."""
    a, b = hand[0], hand[1]
    for c in range(MAX_CLUSTERS):
        out[row, c] += counts[52, c] - counts[a, c] - counts[b, c]


@entry("i8, i8, u1_2, i1_1, i8, i2_3")
def _equity_rows(first: int, last: int, boards: U8, cluster_of: I8, full_scale: int, out: I16) -> None:
    for i in range(first, last):
        _equity_against(boards[i], cluster_of, full_scale, out[i])


def boards_equity_against(boards: U8, cluster_of: I8, num_clusters: int, full_scale: int) -> I16:
    """Compute equities against clusters of opponents' hands on several rivers, on all threads.

    Args:
        boards: uint8 [n, 5] complete boards.
        cluster_of: int8 [1326] cluster of each hand.
        num_clusters: number of clusters C, at most MAX_CLUSTERS.
        full_scale: value that represents equity 1.

    Returns:
        int16 [n, L, C] equities times `full_scale`.
    """
    out = np.empty((len(boards), 1081, num_clusters), dtype=np.int16)
    over_rows(_equity_rows, len(boards), boards, cluster_of, full_scale, out)
    return out
