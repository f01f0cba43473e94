"""Payoffs at the terminals of a board: folds and showdowns sixteen rows at a time, run-outs four at a time."""

from typing import Any, NamedTuple

import numpy as np

from poker.kernels.registry import inline, kernel
from poker.kernels.simd import (
    fma,
    lanes_to_rows,
    lanes_to_rows8,
    load,
    load8,
    load_int16,
    rows_to_lanes,
    rows_to_lanes8,
    splat,
    splat8,
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
def _arriving(sweep: Leaves, p: int, board: int, reach: int, work: F32, listed: I64) -> int:
    """List the opponent's hands that reach a leaf, which are few at most leaves, and return their number."""
    lists, theirs, count, left = sweep.lists, sweep.boards.list_start[1 - p, board], 0, 0
    for j in range(sweep.boards.size[1 - p, board]):
        listed[np.uint64(count)] = j
        count += work[np.uint64(reach + j)] != 0
    for n in range(count):
        listed[left] = listed[n]
        left += sweep.cluster[1 - p, lists.hand[theirs + listed[n]]] >= 0
    return left


@inline
def _sum_leaf(
    sweep: Leaves,
    p: int,
    board: int,
    matrix: int,
    reach: int,
    listed: I64,
    count: int,
    width: int,
    area: int,
    work: F32,
) -> None:
    """Sum the values of each cluster of p against the opponent's hands that contain card c, in row c of `area`.

    The row after those has the sum against all hands: half of the sum of the others, as every hand contains two cards.
    """
    lists, slots = sweep.lists, sweep.num_card_slots
    theirs = sweep.boards.list_start[1 - p, board]
    for i in range(area, area + slots * width, 16):
        store(work, i, splat(0.0))
    for n in range(count):
        j = np.uint64(listed[n])
        at = np.uint64(theirs) + j
        weight = splat(work[np.uint64(reach) + j])
        line = matrix + width * np.int64(sweep.cluster[1 - p, lists.hand[at]])
        first, second = area + width * np.int64(lists.card0[at]), area + width * np.int64(lists.card1[at])
        for c in range(0, width, 16):
            values = load(sweep.leaf_values, line + c)
            store(work, first + c, fma(values, weight, load(work, first + c)))
            store(work, second + c, fma(values, weight, load(work, second + c)))
    for c in range(area, area + width, 16):
        twice = splat(0.0)
        for i in range(c, c + slots * width, width):
            twice = twice + load(work, i)
        store(work, c + slots * width, twice * splat(0.5))


@inline
def _add_twins(
    sweep: Leaves,
    p: int,
    board: int,
    matrix: int,
    reach: int,
    listed: I64,
    count: int,
    width: int,
    value: int,
    work: F32,
) -> None:
    """Add the value of a hand against itself, which the sums of both of its cards contain."""
    boards, lists = sweep.boards, sweep.lists
    theirs = boards.list_start[1 - p, board]
    for n in range(count):
        j = listed[n]
        twin, hand = np.int64(lists.same[theirs + j]), lists.hand[theirs + j]
        own = sweep.cluster[p, hand]
        if twin < boards.size[p, board] and own >= 0:
            at = matrix + width * np.int64(sweep.cluster[1 - p, hand]) + own
            work[value + twin] += sweep.leaf_values[at] * work[reach + j]


@kernel
def _leaf_rows(
    sweep: Leaves, p: int, board: int, begin: int, end: int, stride: int, reaches: int, values: int, work: F32
) -> None:
    """Compute p's values at leaves begin..end: expectations of cluster matrices over the opponent's compatible hands.

    The value of a hand is the value of its cluster against all hands, minus its value against those with either card.
    """
    boards, lists = sweep.boards, sweep.lists
    own, hands = boards.list_start[p, board], boards.size[p, board]
    width, area = (np.int64(sweep.num_clusters[p]) + 15) // 16 * 16, sweep.areas[CLUSTERS]
    every, first, second = np.empty(hands, np.uint64), np.empty(hands, np.uint64), np.empty(hands, np.uint64)
    for i in range(hands):
        k = sweep.cluster[p, lists.hand[own + i]]
        at = area + k if k >= 0 else sweep.areas[ZERO_ROW]
        rows = width if k >= 0 else 0
        every[i] = at + rows * sweep.num_card_slots
        first[i], second[i] = at + rows * np.int64(lists.card0[own + i]), at + rows * np.int64(lists.card1[own + i])
    listed, count, last = np.empty(boards.size[1 - p, board] + 1, np.int64), 0, -1
    for row in range(begin, end):
        leaf = sweep.leaves[row]
        matrix, reach = sweep.leaf_matrix[p, leaf[2], leaf[3]], reaches + leaf[0] * stride
        value = values + leaf[1] * stride
        if reach != last:
            count, last = _arriving(sweep, p, board, reach, work, listed), reach
        if count == 0:
            for i in range(0, hands, 16):
                store(work, value + i, splat(0.0))
            continue
        _sum_leaf(sweep, p, board, matrix, reach, listed, count, width, area, work)
        for i in range(hands):
            held = work[first[i]] + work[second[i]]
            work[np.uint64(value + i)] = work[every[i]] - held
        _add_twins(sweep, p, board, matrix, reach, listed, count, width, value, work)


@inline
def _leaves(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32) -> None:
    """Compute p's values at the depth limit."""
    batches, place = sweep.batches, sweep.place
    begin, end = batches.leaf_start[p, batch], batches.leaf_start[p, batch + 1]
    if begin < end:
        leaves = Leaves(
            batches.leaves, sweep.boards, sweep.lists, sweep.areas, sweep.cluster, sweep.num_clusters,
            sweep.leaf_matrix, sweep.leaf_values, sweep.num_card_slots,
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
        sweep: the sweep.
        control: 0 for all-ins, 1 for controls.
        starts: int32 [2, Q + 1] first row of each batch in `table`.
        table: int32 [n, 4] run-out or control rows.
        p: the player being updated.
        street: street of the batch.
        board: index of the board.
        batch: the batch.
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
        sweep: the sweep.
        p: the player being updated.
        street: street of the batch.
        board: index of the board.
        batch: the batch.
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
