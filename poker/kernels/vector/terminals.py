"""What the terminals of a board pay: folds and showdowns sixteen rows at a time, the depth limit and run-outs four."""

import numpy as np
from numba import njit

from poker.kernels.registry import INLINE
from poker.kernels.simd import fma, lanes_to_rows, load, load_int16, rows_to_lanes, splat, store, total
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
    Sweep,
)


@njit(**INLINE)
def _fold_lanes(sweep: Sweep, p: int, board: int, work: F32) -> None:
    """Mass of the opponent's hands compatible with each own hand, for the 16 rows in the input lanes."""
    boards, lists = sweep.boards, sweep.lists
    x, out, cards = sweep.areas[LANES_IN], sweep.areas[LANES_OUT], sweep.areas[CARDS]
    own, theirs = boards.list_start[p, board], 2 * boards.list_start[1 - p, board]
    doubled = splat(0.0)
    for c in range(sweep.num_card_slots):
        begin = theirs + np.int64(lists.card_start[1 - p, board, c])
        end = theirs + np.int64(lists.card_start[1 - p, board, c + 1])
        even, odd = splat(0.0), splat(0.0)
        for k in range(begin, end - 1, 2):
            even = even + load(work, x + 16 * np.int64(lists.by_card[k]))
            odd = odd + load(work, x + 16 * np.int64(lists.by_card[k + 1]))
        if (end - begin) & 1:
            even = even + load(work, x + 16 * np.int64(lists.by_card[end - 1]))
        even = even + odd
        store(work, cards + 16 * c, even)
        doubled = doubled + even
    mass = doubled * splat(0.5)
    for i in range(boards.size[p, board]):
        c = cards + 16 * np.int64(lists.card0[own + i])
        d = cards + 16 * np.int64(lists.card1[own + i])
        both = load(work, x + 16 * np.int64(lists.same[own + i]))
        store(work, out + 16 * i, (mass - load(work, c)) - (load(work, d) - both))


@njit(**INLINE)
def _show_lanes(sweep: Sweep, p: int, board: int, work: F32) -> None:
    """Mass of compatible weaker hands minus that of stronger ones, for the 16 rows in the input lanes.

    With prefix sums over hands in order of strength, weaker - stronger = P[less] + P[upto] - P[all]; first over all
    hands, then less the same over the hands that hold each of the two cards.
    """
    boards, lists = sweep.boards, sweep.lists
    x, out, prefix = sweep.areas[LANES_IN], sweep.areas[LANES_OUT], sweep.areas[PREFIX]
    own, count = boards.list_start[p, board], boards.size[1 - p, board]
    mass = splat(0.0)
    for j in range(count):
        store(work, prefix + 16 * j, mass)
        mass = mass + load(work, x + 16 * j)
    store(work, prefix + 16 * np.int64(count), mass)
    for i in range(boards.size[p, board]):
        less = load(work, prefix + 16 * np.int64(lists.less[own + i]))
        upto = load(work, prefix + 16 * np.int64(lists.upto[own + i]))
        store(work, out + 16 * i, less - (mass - upto))
    theirs = 2 * boards.list_start[1 - p, board]
    for c in range(sweep.num_card_slots):
        begin = np.int64(lists.card_start[p, board, c])
        end = np.int64(lists.card_start[p, board, c + 1])
        first = np.int64(lists.card_start[1 - p, board, c])
        last = np.int64(lists.card_start[1 - p, board, c + 1])
        if begin == end or first == last:
            continue
        part = splat(0.0)
        for k in range(last - first):
            store(work, prefix + 16 * k, part)
            part = part + load(work, x + 16 * np.int64(lists.by_card[theirs + first + k]))
        store(work, prefix + 16 * (last - first), part)
        for k in range(2 * own + begin, 2 * own + end):
            less = load(work, prefix + 16 * np.int64(lists.card_less[k]))
            upto = load(work, prefix + 16 * np.int64(lists.card_upto[k]))
            at = out + 16 * np.int64(lists.by_card[k])
            store(work, at, load(work, at) - (less - (part - upto)))


@njit(**INLINE)
def _terminal_rows(
    sweep: Sweep, p: int, street: int, board: int, table: I32, begin: int, end: int, showdown: int, work: F32, rows: I64
) -> None:
    """Evaluates rows begin..end of `table`, 16 at a time."""
    boards = sweep.boards
    stride, reach, value = sweep.place[STRIDE, street], sweep.place[REACH, street], sweep.place[VALUE, street]
    x, out = sweep.areas[LANES_IN], sweep.areas[LANES_OUT]
    theirs, own = boards.padded[1 - p, board], boards.padded[p, board]
    for group in range(begin, end, 16):
        for r in range(16):
            rows[r] = reach + table[group + r, 0] * stride if group + r < end else sweep.areas[ZERO_ROW]
        for i in range(0, theirs, 16):
            rows_to_lanes(work, rows, i, work, x + 16 * i)
        store(work, x + 16 * np.int64(theirs), splat(0.0))
        if showdown:
            _show_lanes(sweep, p, board, work)
        else:
            _fold_lanes(sweep, p, board, work)
        for i in range(boards.size[p, board], own):
            store(work, out + 16 * i, splat(0.0))
        for r in range(16):
            rows[r] = value + table[group + r, 1] * stride if group + r < end else sweep.areas[DUMP_ROW]
        for i in range(0, own, 16):
            lanes_to_rows(work, out + 16 * i, work, rows, i)


@njit(**INLINE)
def _reach_by_cluster(sweep: Sweep, p: int, board: int, reach: int, area: int, work: F32) -> None:
    """The opponent's reach summed by cluster: a row over all hands, then one per card c over the hands that hold c."""
    boards, lists = sweep.boards, sweep.lists
    theirs, width = boards.list_start[1 - p, board], (sweep.num_clusters[1 - p] + 15) // 16 * 16
    parts = area + width
    for i in range(area, parts + sweep.num_card_slots * width, 16):
        store(work, i, splat(0.0))
    for j in range(boards.size[1 - p, board]):
        k = sweep.cluster[1 - p, lists.hand[theirs + j]]
        if k >= 0:
            here = work[reach + j]
            work[area + k] += here
            work[parts + width * np.int64(lists.card0[theirs + j]) + k] += here
            work[parts + width * np.int64(lists.card1[theirs + j]) + k] += here


@njit(**INLINE)
def _leaf_rows(sweep: Sweep, p: int, board: int, matrix: I64, reach: I64, value: I64, work: F32, sums: I64) -> None:
    """p's values at four LEAF rows: expectations of their cluster matrices over the compatible hands of the opponent.

    With the reach summed by cluster, a hand's value is its cluster's row times the total less the parts of its two
    cards, and plus the hand itself, which both parts contain. Rows that share a reach, as the continuations of a leaf
    do when the opponent of who picks is updated, share its sums, whose places are left in `sums`.
    """
    boards, lists, values = sweep.boards, sweep.lists, sweep.leaf_values
    own, theirs = boards.list_start[p, board], boards.list_start[1 - p, board]
    number, width = sweep.num_clusters[p], (sweep.num_clusters[1 - p] + 15) // 16 * 16
    size = (sweep.num_card_slots + 1) * width
    rows = sweep.areas[CLUSTERS] + 4 * size
    for r in range(4):
        if r > 0 and reach[r] == reach[r - 1]:
            sums[r] = sums[r - 1]
        else:
            sums[r] = sweep.areas[CLUSTERS] + r * size
            _reach_by_cluster(sweep, p, board, reach[r], sums[r], work)
    ma, mb, mc, md = matrix[0], matrix[1], matrix[2], matrix[3]
    sa, sb, sc, sd = sums[0], sums[1], sums[2], sums[3]
    for k in range(number):
        da, db, dc, dd = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for c in range(width * k, width * (k + 1), 16):
            i = c - width * k
            da = fma(load(values, ma + c), load(work, sa + i), da)
            db = fma(load(values, mb + c), load(work, sb + i), db)
            dc = fma(load(values, mc + c), load(work, sc + i), dc)
            dd = fma(load(values, md + c), load(work, sd + i), dd)
        work[rows + 4 * k] = total(da)
        work[rows + 4 * k + 1] = total(db)
        work[rows + 4 * k + 2] = total(dc)
        work[rows + 4 * k + 3] = total(dd)
    for i in range(boards.size[p, board]):
        k = sweep.cluster[p, lists.hand[own + i]]
        if k < 0:
            for r in range(4):
                work[value[r] + i] = 0.0
            continue
        first = width + width * np.int64(lists.card0[own + i])
        second = width + width * np.int64(lists.card1[own + i])
        line = width * k
        da, db, dc, dd = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for c in range(0, width, 16):
            da = fma(load(values, ma + line + c), load(work, sa + first + c) + load(work, sa + second + c), da)
            db = fma(load(values, mb + line + c), load(work, sb + first + c) + load(work, sb + second + c), db)
            dc = fma(load(values, mc + line + c), load(work, sc + first + c) + load(work, sc + second + c), dc)
            dd = fma(load(values, md + line + c), load(work, sd + first + c) + load(work, sd + second + c), dd)
        work[value[0] + i] = work[rows + 4 * k] - total(da)
        work[value[1] + i] = work[rows + 4 * k + 1] - total(db)
        work[value[2] + i] = work[rows + 4 * k + 2] - total(dc)
        work[value[3] + i] = work[rows + 4 * k + 3] - total(dd)
        twin_at = np.int64(lists.same[own + i])
        if twin_at < boards.size[1 - p, board]:
            twin = sweep.cluster[1 - p, lists.hand[theirs + twin_at]]
            if twin >= 0:
                for r in range(4):
                    work[value[r] + i] += values[matrix[r] + line + twin] * work[reach[r] + twin_at]


@njit(**INLINE)
def _leaves(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32, rows: I64) -> None:
    """Values at the depth limit, four rows at a time."""
    batches = sweep.batches
    stride, reach, value = sweep.place[STRIDE, street], sweep.place[REACH, street], sweep.place[VALUE, street]
    begin, end = batches.leaf_start[p, batch], batches.leaf_start[p, batch + 1]
    for group in range(begin, end, 4):
        for r in range(4):
            inside = group + r < end
            leaf = batches.leaves[group + r if inside else group]
            rows[r] = sweep.leaf_matrix[p, leaf[2], leaf[3]]
            rows[4 + r] = reach + leaf[0] * stride
            rows[8 + r] = value + leaf[1] * stride if inside else sweep.areas[DUMP_ROW]
        _leaf_rows(sweep, p, board, rows[:4], rows[4:8], rows[8:12], work, rows[12:16])


@njit(**INLINE)
def _runout_rows_of_0(matrix: I16, start: int, width: int, theirs: int, work: F32, reach: I64, value: I64) -> None:
    """Four rows: value[i] = sum over j of matrix[j, i] * reach[j]."""
    a, b, c, d = reach[0], reach[1], reach[2], reach[3]
    for i in range(0, width, 16):
        va, vb, vc, vd = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for j in range(theirs):
            results = load_int16(matrix, start + j * width + i)
            va = fma(results, splat(work[a + j]), va)
            vb = fma(results, splat(work[b + j]), vb)
            vc = fma(results, splat(work[c + j]), vc)
            vd = fma(results, splat(work[d + j]), vd)
        store(work, value[0] + i, va)
        store(work, value[1] + i, vb)
        store(work, value[2] + i, vc)
        store(work, value[3] + i, vd)


@njit(**INLINE)
def _runout_rows_of_1(matrix: I16, start: int, width: int, own: int, work: F32, reach: I64, value: I64) -> None:
    """Four rows: value[j] = - sum over i of matrix[j, i] * reach[i]."""
    a, b, c, d = reach[0], reach[1], reach[2], reach[3]
    for j in range(own):
        va, vb, vc, vd = splat(0.0), splat(0.0), splat(0.0), splat(0.0)
        for i in range(0, width, 16):
            results = load_int16(matrix, start + j * width + i)
            va = fma(results, load(work, a + i), va)
            vb = fma(results, load(work, b + i), vb)
            vc = fma(results, load(work, c + i), vc)
            vd = fma(results, load(work, d + i), vd)
        work[value[0] + j] = -total(va)
        work[value[1] + j] = -total(vb)
        work[value[2] + j] = -total(vc)
        work[value[3] + j] = -total(vd)


@njit(**INLINE)
def _runouts(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32, rows: I64) -> None:
    """Results of all-ins with cards to come, four rows at a time."""
    boards, table = sweep.boards, sweep.batches.runouts
    stride, reach, value = sweep.place[STRIDE, street], sweep.place[REACH, street], sweep.place[VALUE, street]
    begin, end = sweep.batches.runout_start[p, batch], sweep.batches.runout_start[p, batch + 1]
    start, width, hands = int(sweep.runout_at[board]), int(boards.padded[0, board]), int(boards.size[1, board])
    for group in range(begin, end, 4):
        for r in range(4):
            inside = group + r < end
            rows[r] = reach + table[group + r, 0] * stride if inside else sweep.areas[ZERO_ROW]
            rows[4 + r] = value + table[group + r, 1] * stride if inside else sweep.areas[DUMP_ROW]
        if p == 0:
            _runout_rows_of_0(sweep.runout_matrix, start, width, hands, work, rows[:4], rows[4:8])
        else:
            _runout_rows_of_1(sweep.runout_matrix, start, width, hands, work, rows[:4], rows[4:8])


@njit(**INLINE)
def _mix_rows(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32) -> None:
    """Terminals with rake: a showdown row and a fold row, each with its factor."""
    stride, value = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    begin, end = sweep.batches.mixed_start[p, batch], sweep.batches.mixed_start[p, batch + 1]
    for row in range(begin, end):
        target, won, held = sweep.batches.mixed[row, 0], sweep.batches.mixed[row, 1], sweep.batches.mixed[row, 2]
        a, b = splat(sweep.batches.mix[row, 0]), splat(sweep.batches.mix[row, 1])
        for i in range(0, sweep.boards.padded[p, board], 16):
            mixed = fma(a, load(work, value + won * stride + i), b * load(work, value + held * stride + i))
            store(work, value + target * stride + i, mixed)


@njit(**INLINE)
def evaluate_terminals(sweep: Sweep, p: int, street: int, board: int, batch: int, work: F32, rows: I64) -> None:
    """p's values at all terminals of a batch on one board."""
    batches = sweep.batches
    for showdown in range(2):
        if showdown:
            begin, end, table = batches.show_start[p, batch], batches.show_start[p, batch + 1], batches.shows
        else:
            begin, end, table = batches.fold_start[p, batch], batches.fold_start[p, batch + 1], batches.folds
        _terminal_rows(sweep, p, street, board, table, begin, end, showdown, work, rows)
    _leaves(sweep, p, street, board, batch, work, rows)
    _runouts(sweep, p, street, board, batch, work, rows)
    _mix_rows(sweep, p, street, board, batch, work)
