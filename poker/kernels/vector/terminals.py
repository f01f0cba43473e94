"""Payoffs at the terminals of a board: folds and showdowns sixteen rows at a time, run-outs four at a time."""

from typing import Any, NamedTuple

import numpy as np

from poker.kernels.registry import inline, kernel
from poker.kernels.simd import (
    any_positive,
    fma,
    lanes_to_rows,
    lanes_to_rows8,
    load,
    load8,
    load32,
    load_int16,
    rows_to_lanes,
    rows_to_lanes8,
    splat,
    splat8,
    splat32,
    store,
    total,
)
from poker.kernels.types import F32, I16, I32, I64
from poker.kernels.vector.arrays import (
    CARDS,
    CLUSTERS,
    DUMP_ROW,
    LANES_IN,
    LANES_OUT,
    LEAF_LANES,
    PREFIX,
    REACH,
    STRIDE,
    VALUE,
    ZERO_ROW,
    Boards,
    HandLists,
    Sweep,
)


class Leaves(NamedTuple):
    """The fields of a `Sweep` that leaves read; leaves have their own kernel, because it compiles faster separately.

    Attributes:
        leaves: int32 [n, 4] leaf rows.
        boards: all boards.
        lists: live hands of the boards.
        areas: int64 [7] offsets of areas in scratch memory.
        cluster: int32 [2, H] cluster of each hand.
        num_clusters: int32 [2] number of clusters.
        alike: whether the hands of a cluster play alike.
        leaf_matrix: int64 [2, L, K] start of each matrix in `leaf_values`.
        leaf_values: float32 [n] values.
        num_card_slots: number of card values.
    """

    leaves: I32
    boards: Boards
    lists: HandLists
    areas: I64
    cluster: I32
    num_clusters: I32
    alike: bool
    leaf_matrix: I64
    leaf_values: F32
    num_card_slots: int


@inline
def _fold_lanes(sweep: Sweep, p: int, board: int, work: F32, lanes: int, get: Any, fill: Any) -> None:
    """Compute the mass of the opponent's hands compatible with each own hand, for the rows in the input lanes."""
    boards, lists = sweep.boards, sweep.lists
    x, out, cards = sweep.areas[LANES_IN], sweep.areas[LANES_OUT], sweep.areas[CARDS]
    own, theirs = boards.list_start[p, board], 2 * boards.list_start[1 - p, board]
    doubled = fill(0.0)
    for c in range(sweep.num_card_slots):
        begin = theirs + np.int64(lists.card_start[1 - p, board, c])
        end = theirs + np.int64(lists.card_start[1 - p, board, c + 1])
        even, odd = fill(0.0), fill(0.0)
        for k in range(begin, end - 1, 2):
            even = even + get(work, x + lanes * np.int64(lists.by_card[k]))
            odd = odd + get(work, x + lanes * np.int64(lists.by_card[k + 1]))
        if (end - begin) & 1:
            even = even + get(work, x + lanes * np.int64(lists.by_card[end - 1]))
        even = even + odd
        store(work, cards + lanes * c, even)
        doubled = doubled + even
    mass = doubled * fill(0.5)
    for i in range(boards.size[p, board]):
        c = cards + lanes * np.int64(lists.card0[own + i])
        d = cards + lanes * np.int64(lists.card1[own + i])
        both = get(work, x + lanes * np.int64(lists.same[own + i]))
        store(work, out + lanes * i, (mass - get(work, c)) - (get(work, d) - both))


@inline
def _show_lanes(sweep: Sweep, p: int, board: int, work: F32, lanes: int, get: Any, fill: Any) -> None:
    """Compute the mass of compatible weaker hands minus that of stronger ones, for the rows in the input lanes.

    With prefix sums P over hands in order of strength, weaker - stronger = P[less] + P[upto] - P[all]. This is computed
    over all hands, and then subtracted for the hands that contain each of the two cards.
    """
    boards, lists = sweep.boards, sweep.lists
    x, out, prefix = sweep.areas[LANES_IN], sweep.areas[LANES_OUT], sweep.areas[PREFIX]
    own, count = boards.list_start[p, board], boards.size[1 - p, board]
    mass = fill(0.0)
    for j in range(count):
        store(work, prefix + lanes * j, mass)
        mass = mass + get(work, x + lanes * j)
    store(work, prefix + lanes * np.int64(count), mass)
    for i in range(boards.size[p, board]):
        less = get(work, prefix + lanes * np.int64(lists.less[own + i]))
        upto = get(work, prefix + lanes * np.int64(lists.upto[own + i]))
        store(work, out + lanes * i, less - (mass - upto))
    theirs = 2 * boards.list_start[1 - p, board]
    for c in range(sweep.num_card_slots):
        begin = np.int64(lists.card_start[p, board, c])
        end = np.int64(lists.card_start[p, board, c + 1])
        first = np.int64(lists.card_start[1 - p, board, c])
        last = np.int64(lists.card_start[1 - p, board, c + 1])
        if begin == end or first == last:
            continue
        part = fill(0.0)
        for k in range(last - first):
            store(work, prefix + lanes * k, part)
            part = part + get(work, x + lanes * np.int64(lists.by_card[theirs + first + k]))
        store(work, prefix + lanes * (last - first), part)
        for k in range(2 * own + begin, 2 * own + end):
            less = get(work, prefix + lanes * np.int64(lists.card_less[k]))
            upto = get(work, prefix + lanes * np.int64(lists.card_upto[k]))
            at = out + lanes * np.int64(lists.by_card[k])
            store(work, at, get(work, at) - (less - (part - upto)))


@inline
def _evaluate_lanes(
    sweep: Sweep,
    p: int,
    street: int,
    board: int,
    table: I32,
    group: int,
    end: int,
    showdown: int,
    work: F32,
    rows: I64,
    lanes: int,
    get: Any,
    fill: Any,
    to_lanes: Any,
    to_rows: Any,
) -> None:
    """Evaluate as many rows of `table` from `group` on as there are lanes."""
    boards = sweep.boards
    stride, reach, value = sweep.place[STRIDE, street], sweep.place[REACH, street], sweep.place[VALUE, street]
    x, out = sweep.areas[LANES_IN], sweep.areas[LANES_OUT]
    theirs, own = boards.padded[1 - p, board], boards.padded[p, board]
    for r in range(lanes):
        rows[r] = reach + table[group + r, 0] * stride if group + r < end else sweep.areas[ZERO_ROW]
    for i in range(0, theirs, lanes):
        to_lanes(work, rows, i, work, x + lanes * i)
    store(work, x + lanes * np.int64(theirs), fill(0.0))
    if showdown:
        _show_lanes(sweep, p, board, work, lanes, get, fill)
    else:
        _fold_lanes(sweep, p, board, work, lanes, get, fill)
    for i in range(boards.size[p, board], own):
        store(work, out + lanes * i, fill(0.0))
    for r in range(lanes):
        rows[r] = value + table[group + r, 1] * stride if group + r < end else sweep.areas[DUMP_ROW]
    for i in range(0, own, lanes):
        to_rows(work, out + lanes * i, work, rows, i)


@inline
def _terminal_rows(
    sweep: Sweep, p: int, street: int, board: int, table: I32, begin: int, end: int, showdown: int, work: F32, rows: I64
) -> None:
    """Evaluate rows begin..end of `table`, 16 at a time; a last group of at most 8 takes half the time."""
    for at in range(begin, end, 16):
        if end - at > 8:
            _evaluate_lanes(
                sweep, p, street, board, table, at, end, showdown, work, rows, 16, load, splat, rows_to_lanes,
                lanes_to_rows,
            )  # fmt: skip
        else:
            _evaluate_lanes(
                sweep, p, street, board, table, at, end, showdown, work, rows, 8, load8, splat8, rows_to_lanes8,
                lanes_to_rows8,
            )  # fmt: skip


@inline
def _width(sweep: Leaves, p: int) -> int:
    """Return the length of a line of p's matrices: its clusters, padded."""
    return (int(sweep.num_clusters[p]) + LEAF_LANES - 1) // LEAF_LANES * LEAF_LANES


@inline
def _list_clusters(sweep: Leaves, p: int, board: int, places: I64, lines: I64, starts: I64) -> None:
    """List the clusters of the opponent's hands that contain each card.

    Args:
        p: the player whose values are computed.
        board: index of the board.
        places: int64 [2 n] receives two entries for each of the opponent's hands, one for each of its cards; the
            last entry for hands without a cluster.
        lines: int64 [2 n + 1] receives one entry for each card and each cluster of hands with that card: where the
            cluster's line begins in a matrix.
        starts: int64 [cards + 1] receives the first entry of each card.
    """
    lists, q, width = sweep.lists, 1 - p, _width(sweep, p)
    theirs, count, dump = sweep.boards.list_start[q, board], 0, len(lines) - 1
    place = np.full(sweep.num_clusters[q], -1, np.int64)
    for c in range(sweep.num_card_slots):
        starts[c] = count
        for k in range(lists.card_start[q, board, c], lists.card_start[q, board, c + 1]):
            j = np.int64(lists.by_card[2 * theirs + k])
            cluster = sweep.cluster[q, lists.hand[theirs + j]]
            entry = dump
            if cluster >= 0:
                if place[cluster] < starts[c]:
                    place[cluster], lines[count], count = count, width * cluster, count + 1
                entry = place[cluster]
            places[2 * j + (lists.card0[theirs + j] != c)] = entry
    starts[sweep.num_card_slots] = count


@inline
def _add_weights(
    places: I64, starts: I64, lines: I64, reach: int, work: F32, listed: I64, weights: F32, arrived: I64, ends: I64
) -> int:
    """Add the reach of the opponent's hands by card and cluster, and list the entries that are not 0.

    Neighbours in the list of hands are often in one cluster, so they are not added one after the other.

    Args:
        places: int64 [2 n] entries of each hand.
        starts: int64 [cards + 1] first entry of each card.
        lines: int64 [2 n + 1] line of each entry.
        reach: where the reach row begins in `work`.
        work: float32 scratch memory.
        listed: int64 [n + 1] scratch for the hands that arrive.
        weights: float32 [2 n + 17] receives the weights of the listed entries.
        arrived: int64 [2 n + 1] receives their lines.
        ends: int64 [cards + 1] receives the first listed entry of each card.

    Returns:
        Number of hands that arrive.
    """
    hands, arrivals, count = len(listed) - 1, 0, 0
    for block in range(0, hands, 16):
        if any_positive(load(work, reach + block)):
            for j in range(block, min(block + 16, hands)):
                listed[np.uint64(arrivals)] = j
                arrivals += work[np.uint64(reach + j)] != 0
    for i in range(0, starts[len(starts) - 1], 16):
        store(weights, i, splat(0.0))
    for first in range(4):
        for n in range(first, arrivals, 4):
            j = listed[np.uint64(n)]
            weight = work[np.uint64(reach + j)]
            weights[np.uint64(places[np.uint64(2 * j)])] += weight
            weights[np.uint64(places[np.uint64(2 * j + 1)])] += weight
    for c in range(len(starts) - 1):
        ends[c] = count
        for n in range(starts[c], starts[c + 1]):
            weight = weights[np.uint64(n)]
            weights[np.uint64(count)], arrived[np.uint64(count)] = weight, lines[np.uint64(n)]
            count += weight != 0
    ends[len(starts) - 1] = count
    return arrivals


@inline
def _sum_leaf(
    values: F32, matrix: int, width: int, weights: F32, arrived: I64, ends: I64, area: int, work: F32
) -> None:
    """Sum the values of each cluster of p against the opponent's hands that contain card c, in row c of `area`.

    The row after those has the sum against all hands: half of the sum of the others, as every hand contains two cards.
    """
    cards = len(ends) - 1
    for begin in range(0, width, LEAF_LANES):
        every = splat32(0.0)
        for c in range(cards):
            with_card = splat32(0.0)
            for n in range(ends[c], ends[c + 1]):
                line = load32(values, matrix + begin + arrived[np.uint64(n)])
                with_card = fma(line, splat32(weights[np.uint64(n)]), with_card)
            store(work, area + c * width + begin, with_card)
            every = every + with_card
        store(work, area + cards * width + begin, every * splat32(0.5))


@inline
def _class_rows(
    sweep: Leaves, p: int, board: int, begin: int, end: int, stride: int, reaches: int, values: int, work: F32
) -> None:
    """Compute p's values at leaves begin..end if hands of a cluster play alike: only sums over clusters matter."""
    lists, q = sweep.lists, 1 - p
    own, theirs = sweep.boards.list_start[p, board], sweep.boards.list_start[q, board]
    hands, opponents = sweep.boards.size[p, board], sweep.boards.size[q, board]
    width, area, clusters = _width(sweep, p), sweep.areas[CLUSTERS], sweep.num_clusters[q]
    sums, place = np.empty(hands, np.uint64), np.empty(opponents, np.uint64)
    for i in range(hands):
        sums[i] = area + np.int64(sweep.cluster[p, lists.hand[own + i]])
    for j in range(opponents):
        place[j] = sweep.cluster[q, lists.hand[theirs + j]]
    weights, arrived, ends = np.empty(clusters + 1, np.float32), np.empty(clusters + 1, np.int64), np.zeros(2, np.int64)
    for row in range(begin, end):
        leaf = sweep.leaves[row]
        reach, value, count = reaches + leaf[0] * stride, values + leaf[1] * stride, 0
        weights[:] = 0.0
        for first in range(8):  # neighbours are often in one cluster
            for j in range(first, opponents, 8):
                weights[place[np.uint64(j)]] += work[np.uint64(reach + j)]
        for cluster in range(clusters):
            weight = weights[np.uint64(cluster)]
            weights[np.uint64(count)], arrived[np.uint64(count)] = weight, width * cluster
            count += weight != 0
        ends[1] = count
        _sum_leaf(sweep.leaf_values, sweep.leaf_matrix[p, leaf[2], leaf[3]], width, weights, arrived, ends, area, work)
        for i in range(hands):
            work[np.uint64(value + i)] = work[sums[np.uint64(i)]]


@kernel
def _leaf_rows(
    sweep: Leaves, p: int, board: int, begin: int, end: int, stride: int, reaches: int, values: int, work: F32
) -> None:
    """Compute p's values at leaves begin..end: expectations of cluster matrices over the opponent's compatible hands.

    The value of a hand is the value of its cluster against all hands, minus its value against those with either card.
    """
    boards, lists = sweep.boards, sweep.lists
    if sweep.alike:
        _class_rows(sweep, p, board, begin, end, stride, reaches, values, work)
        return
    own, hands, opponents = boards.list_start[p, board], boards.size[p, board], boards.size[1 - p, board]
    width, area, cards = _width(sweep, p), sweep.areas[CLUSTERS], sweep.num_card_slots
    every, first, second = np.empty(hands, np.uint64), np.empty(hands, np.uint64), np.empty(hands, np.uint64)
    twins, twin_at = np.full(opponents, -1, np.int64), np.empty(opponents, np.int64)
    for i in range(hands):
        hand = lists.hand[own + i]
        k, other = np.int64(sweep.cluster[p, hand]), np.int64(sweep.cluster[1 - p, hand])
        at = area + k if k >= 0 else sweep.areas[ZERO_ROW]
        rows = width if k >= 0 else 0
        every[i] = at + rows * cards
        first[i], second[i] = at + rows * np.int64(lists.card0[own + i]), at + rows * np.int64(lists.card1[own + i])
        twin = np.int64(lists.same[own + i])
        if twin < opponents and min(k, other) >= 0:
            twins[twin], twin_at[twin] = i, width * other + k
    places, entries = np.empty(2 * opponents, np.int64), 2 * opponents + 1
    lines, arrived = np.empty(entries, np.int64), np.empty(entries, np.int64)
    weights, listed = np.empty(entries + 16, np.float32), np.empty(opponents + 1, np.int64)
    starts, ends = np.empty(cards + 1, np.int64), np.empty(cards + 1, np.int64)
    _list_clusters(sweep, p, board, places, lines, starts)
    count, last = 0, -1
    for row in range(begin, end):
        leaf = sweep.leaves[row]
        matrix, reach = sweep.leaf_matrix[p, leaf[2], leaf[3]], reaches + leaf[0] * stride
        value = values + leaf[1] * stride
        if reach != last:
            count, last = _add_weights(places, starts, lines, reach, work, listed, weights, arrived, ends), reach
        if count == 0:
            for i in range(0, hands, 16):
                store(work, value + i, splat(0.0))
            continue
        _sum_leaf(sweep.leaf_values, matrix, width, weights, arrived, ends, area, work)
        for i in range(hands):
            work[np.uint64(value + i)] = work[every[i]] - (work[first[i]] + work[second[i]])
        for n in range(count):  # both sums contain the value of a hand against itself
            j = np.uint64(listed[n])
            if twins[j] >= 0:
                same = sweep.leaf_values[np.uint64(matrix + twin_at[j])] * work[np.uint64(reach) + j]
                work[np.uint64(value + twins[j])] += same


@inline
def _leaves(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32) -> None:
    """Compute p's values at the depth limit."""
    batches, place = sweep.batches, sweep.place
    begin, end = batches.leaf_start[p, batch], batches.leaf_start[p, batch + 1]
    if begin < end:
        leaves = Leaves(
            batches.leaves, sweep.boards, sweep.lists, sweep.areas, sweep.cluster, sweep.num_clusters,
            sweep.alike, sweep.leaf_matrix, sweep.leaf_values, sweep.num_card_slots,
        )  # fmt: skip
        _leaf_rows(
            leaves, np.int64(p), np.int64(board), np.int64(begin), np.int64(end), place[STRIDE, street],
            place[REACH, street], place[VALUE, street], work,
        )  # fmt: skip


@inline
def _runout_rows_of_0(
    matrix: I16, start: int, width: int, theirs: int, work: F32, reach: I64, value: I64, listed: I64
) -> None:
    """Compute four rows value[i] = sum over j of matrix[j, i] * reach[j], two arriving hands j at a time."""
    a, b, c, d = reach[0], reach[1], reach[2], reach[3]
    count = 0
    for j in range(theirs):
        listed[count] = j
        count += work[a + j] + work[b + j] + work[c + j] + work[d + j] != 0.0
    va, vb, vc, vd = value[0], value[1], value[2], value[3]
    for i in range(0, width, 16):
        store(work, va + i, splat(0.0))
        store(work, vb + i, splat(0.0))
        store(work, vc + i, splat(0.0))
        store(work, vd + i, splat(0.0))
    for n in range(0, count - 1, 2):
        j, k = listed[n], listed[n + 1]
        one, other = start + j * width, start + k * width
        a0, b0, c0, d0 = splat(work[a + j]), splat(work[b + j]), splat(work[c + j]), splat(work[d + j])
        a1, b1, c1, d1 = splat(work[a + k]), splat(work[b + k]), splat(work[c + k]), splat(work[d + k])
        for i in range(0, width, 16):
            m0, m1 = load_int16(matrix, one + i), load_int16(matrix, other + i)
            store(work, va + i, fma(m0, a0, fma(m1, a1, load(work, va + i))))
            store(work, vb + i, fma(m0, b0, fma(m1, b1, load(work, vb + i))))
            store(work, vc + i, fma(m0, c0, fma(m1, c1, load(work, vc + i))))
            store(work, vd + i, fma(m0, d0, fma(m1, d1, load(work, vd + i))))
    if count & 1:
        j = listed[count - 1]
        a0, b0, c0, d0 = splat(work[a + j]), splat(work[b + j]), splat(work[c + j]), splat(work[d + j])
        for i in range(0, width, 16):
            m0 = load_int16(matrix, start + j * width + i)
            store(work, va + i, fma(m0, a0, load(work, va + i)))
            store(work, vb + i, fma(m0, b0, load(work, vb + i)))
            store(work, vc + i, fma(m0, c0, load(work, vc + i)))
            store(work, vd + i, fma(m0, d0, load(work, vd + i)))


@inline
def _runout_rows_of_1(
    matrix: I16, start: int, width: int, own: int, work: F32, reach: I64, value: I64, listed: I64
) -> None:
    """Compute four rows value[j] = - sum over i of matrix[j, i] * reach[i], sixteen hands i at a time."""
    a, b, c, d = reach[0], reach[1], reach[2], reach[3]
    count = 0
    for i in range(0, width, 16):
        listed[count] = i
        count += total((load(work, a + i) + load(work, b + i)) + (load(work, c + i) + load(work, d + i))) != 0.0
    for j in range(own):
        row = start + j * width
        va, vb, vc, vd = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for n in range(count):
            i = listed[n]
            results = load_int16(matrix, row + i)
            va = fma(results, load(work, a + i), va)
            vb = fma(results, load(work, b + i), vb)
            vc = fma(results, load(work, c + i), vc)
            vd = fma(results, load(work, d + i), vd)
        work[value[0] + j] = -total(va)
        work[value[1] + j] = -total(vb)
        work[value[2] + j] = -total(vc)
        work[value[3] + j] = -total(vd)


@kernel
def _four_runouts(
    p: int,
    matrix: I16,
    start: int,
    width: int,
    hands: int,
    table: I32,
    row: int,
    end: int,
    reach: int,
    value: int,
    stride: int,
    zero_row: int,
    dump_row: int,
    work: F32,
    rows: I64,
) -> None:
    """Do the work of `four_runouts` without the sweep, because passing it costs as much as a small river."""
    listed = np.empty(max(width, hands) + 1, np.int64)
    for r in range(4):
        rows[r] = reach + table[row + r, 0] * stride if row + r < end else zero_row
        rows[4 + r] = value + table[row + r, 1] * stride if row + r < end else dump_row
    if p == 0:
        _runout_rows_of_0(matrix, start, width, hands, work, rows[:4], rows[4:8], listed)
    else:
        _runout_rows_of_1(matrix, start, width, hands, work, rows[:4], rows[4:8], listed)


@inline
def four_runouts(
    sweep: Sweep,
    control: int,
    starts: I32,
    table: I32,
    p: int,
    street: int,
    board: int,
    batch: int,
    part: int,
    work: F32,
    rows: I64,
) -> None:
    """Evaluate all-ins with cards to come, or controls, four rows at a time; hands that do not arrive are skipped.

    Args:
        control: 0 for all-ins, 1 for controls.
        starts: int32 [2, Q + 1] first row of each batch in `table`.
        table: int32 [n, 4] run-out or control rows.
        p: the player being updated.
        street: street of the batch.
        board: index of the board.
        part: number of the group of four rows.
        work: float32 [n] scratch memory.
        rows: int64 [64] scratch for row offsets.
    """
    boards, place, areas = sweep.boards, sweep.place, sweep.areas
    _four_runouts(
        p, sweep.runout_matrix, sweep.runout_at[control, board], np.int64(boards.padded[0, board]),
        np.int64(boards.size[1, board]), table, np.int64(starts[p, batch] + 4 * part),
        np.int64(starts[p, batch + 1]), place[REACH, street], place[VALUE, street], place[STRIDE, street],
        areas[ZERO_ROW], areas[DUMP_ROW], work, rows,
    )  # fmt: skip


@inline
def _mix_rows(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32) -> None:
    """Compute mixed rows: terminals with rake from a showdown and a fold row, and STREET nodes with their control."""
    stride, value = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    begin, end = sweep.batches.mixed_start[p, batch], sweep.batches.mixed_start[p, batch + 1]
    for row in range(begin, end):
        target, won, held = sweep.batches.mixed[row, 0], sweep.batches.mixed[row, 1], sweep.batches.mixed[row, 2]
        a, b = splat(sweep.batches.mix[row, 0]), splat(sweep.batches.mix[row, 1])
        for i in range(0, sweep.boards.padded[p, board], 16):
            mixed = fma(a, load(work, value + won * stride + i), b * load(work, value + held * stride + i))
            store(work, value + target * stride + i, mixed)


@inline
def evaluate_terminals(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32, rows: I64) -> None:
    """Compute p's values at all terminals of a batch on one board.

    Args:
        p: the player being updated.
        street: street of the batch.
        board: index of the board.
        work: float32 [n] scratch memory.
        rows: int64 [64] scratch for row offsets.
    """
    batches = sweep.batches
    for showdown in range(2):
        if showdown:
            begin, end, table = batches.show_start[p, batch], batches.show_start[p, batch + 1], batches.shows
        else:
            begin, end, table = batches.fold_start[p, batch], batches.fold_start[p, batch + 1], batches.folds
        _terminal_rows(sweep, p, street, board, table, begin, end, showdown, work, rows)
    _leaves(sweep, p, street, board, batch, work)
    if street > sweep.first_street or street == sweep.last_street:  # otherwise threads share them
        for part in range((batches.runout_start[p, batch + 1] - batches.runout_start[p, batch] + 3) // 4):
            four_runouts(
                sweep, 0, batches.runout_start, batches.runouts, p, street, board, batch, part, work, rows
            )  # fmt: skip
    for part in range((batches.control_start[p, batch + 1] - batches.control_start[p, batch] + 3) // 4):
        four_runouts(sweep, 1, batches.control_start, batches.controls, p, street, board, batch, part, work, rows)
    _mix_rows(sweep, p, street, board, batch, work)
