"""One sweep of vector-form CFR: both players' hands at once, over a betting tree and all boards below the root.

A sweep for player p pushes the opponent's reach down, evaluates terminals, and pulls p's counterfactual values up,
updating p's regrets (or maximising, or averaging, for exact best responses and values) on the way. The opponent's
average strategy is accumulated while his reach goes down, so that it is weighted by his reach without a second pass.
Hands are SIMD lanes; at showdowns and folds the lanes are 16 terminal rows of one board instead, so that the running
sums per card, which must be made hand after hand, are paid once for all of them.

Everything is float32. Shapes and meanings of the arrays: poker/solvers/vector/layout.py and vector_boards.py.
"""

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.barrier import TICKET, fetch_add, wait
from poker.kernels.registry import entry
from poker.kernels.simd import (
    fma,
    lanes_to_rows,
    load,
    load_int16,
    maximum,
    prefetch,
    rows_to_lanes,
    splat,
    store,
    total,
    where_positive,
)
from poker.kernels.vector.arrays import (  # noqa: F401 (all tuples: the registry reads their names here)
    ACT,
    CARDS,
    CLUSTERS,
    DUMP_ROW,
    LANES_IN,
    LANES_OUT,
    PASS,
    PREFIX,
    REACH,
    STRIDE,
    SWEEP,
    SWEEP_16,
    VALUE,
    ZERO_ROW,
    Batches,
    Boards,
    Floats,
    HandLists,
    Nodes,
    Sweep,
)

Rows = NDArray[np.int64]

SOLVE, BEST_RESPONSE, AVERAGE = 0, 1, 2
"""What a sweep does at p's nodes: update regrets, take the best action, or follow p's average strategy."""

POSITIVE, NEGATIVE, FLOOR, CARRY, PREDICTION, DECAY = range(6)
"""Columns of the parameters of an iteration: factors on positive and negative regrets before the new ones are added,
the least regret kept, the weights of all and of the last regrets in the prediction, the factor on the strategy sum."""

_INTERNAL: Any = {"cache": True, "nogil": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of kernels that only kernels call: wrappers that unpack a `Sweep` take longer to compile than the kernels."""


@njit(**_INTERNAL)
def _push_reach(
    source: Floats, base: int, num_actions: int, hands: int, work: Floats, reach: int, child: int, stride: int
) -> None:
    """Reach of the children: the parent's times the strategy, proportional to the positive part of `source`."""
    zero, flat = splat(0.0), splat(1.0 / num_actions)
    for i in range(0, hands, 16):
        mass = zero
        for a in range(num_actions):
            mass = mass + maximum(load(source, base + a * hands + i), zero)
        coming = load(work, reach + i)
        inverse = where_positive(mass, coming / mass, zero)
        rest = where_positive(mass, zero, coming * flat)
        for a in range(num_actions):
            store(work, child + a * stride + i, fma(maximum(load(source, base + a * hands + i), zero), inverse, rest))


@njit(**_INTERNAL)
def _push_reach_and_sum(
    source: Floats,
    sums: Floats,
    base: int,
    num_actions: int,
    hands: int,
    work: Floats,
    reach: int,
    child: int,
    stride: int,
    decay: float,
) -> None:
    """As `_push_reach`, and adds the children's reach to the strategy sums after multiplying those by `decay`.

    The next node's rows follow in memory and are asked for on the way.
    """
    zero, flat, fade = splat(0.0), splat(1.0 / num_actions), splat(decay)
    for i in range(0, hands, 16):
        mass = zero
        for a in range(num_actions):
            mass = mass + maximum(load(source, base + a * hands + i), zero)
        coming = load(work, reach + i)
        inverse = where_positive(mass, coming / mass, zero)
        rest = where_positive(mass, zero, coming * flat)
        for a in range(num_actions):
            at = base + a * hands + i
            share = fma(maximum(load(source, at), zero), inverse, rest)
            store(work, child + a * stride + i, share)
            store(sums, at, fma(load(sums, at), fade, share))
            prefetch(source, at + num_actions * hands)
            prefetch(sums, at + num_actions * hands)


@njit(**_INTERNAL)
def _follow(
    source: Floats, base: int, num_actions: int, hands: int, work: Floats, rows: Rows, scales: Floats, target: int
) -> None:
    """Values of a node whose strategy is proportional to the positive part of `source`."""
    zero, one, flat = splat(0.0), splat(1.0), splat(1.0 / num_actions)
    for i in range(0, hands, 16):
        mass = zero
        for a in range(num_actions):
            mass = mass + maximum(load(source, base + a * hands + i), zero)
        inverse = where_positive(mass, one / mass, zero)
        rest = where_positive(mass, zero, flat)
        value = zero
        for a in range(num_actions):
            probability = fma(maximum(load(source, base + a * hands + i), zero), inverse, rest)
            value = fma(probability * splat(scales[a]), load(work, rows[a] + i), value)
        store(work, target + i, value)


@njit(**_INTERNAL)
def _update(
    source: Floats,
    regrets: Floats,
    predictive: bool,
    base: int,
    num_actions: int,
    hands: int,
    work: Floats,
    rows: Rows,
    scales: Floats,
    target: int,
    parameters: Floats,
) -> None:
    """Values of p's node under the current strategy, and its regrets after this iteration.

    The rows of the node that is next on the way up come before in memory and are asked for on the way.
    """
    zero, one, flat = splat(0.0), splat(1.0), splat(1.0 / num_actions)
    positive, negative = splat(parameters[POSITIVE]), splat(parameters[NEGATIVE])
    floor, carry, prediction = splat(parameters[FLOOR]), splat(parameters[CARRY]), splat(parameters[PREDICTION])
    for i in range(0, hands, 16):
        mass = zero
        for a in range(num_actions):
            mass = mass + maximum(load(source, base + a * hands + i), zero)
        inverse = where_positive(mass, one / mass, zero)
        rest = where_positive(mass, zero, flat)
        value = zero
        for a in range(num_actions):
            probability = fma(maximum(load(source, base + a * hands + i), zero), inverse, rest)
            value = fma(probability * splat(scales[a]), load(work, rows[a] + i), value)
        store(work, target + i, value)
        for a in range(num_actions):
            at = base + a * hands + i
            gain = fma(splat(scales[a]), load(work, rows[a] + i), zero - value)
            old = load(regrets, at)
            new = maximum(fma(old, where_positive(old, positive, negative), gain), floor)
            store(regrets, at, new)
            prefetch(regrets, at - num_actions * hands)
            if predictive:
                store(source, at, fma(gain, prediction, new * carry))
                prefetch(source, at - num_actions * hands)


@njit(**_INTERNAL)
def _best(num_actions: int, hands: int, work: Floats, rows: Rows, scales: Floats, target: int) -> None:
    for i in range(0, hands, 16):
        value = load(work, rows[0] + i) * splat(scales[0])
        for a in range(1, num_actions):
            value = maximum(load(work, rows[a] + i) * splat(scales[a]), value)
        store(work, target + i, value)


@njit(**_INTERNAL)
def _sum(num_actions: int, hands: int, work: Floats, rows: Rows, scales: Floats, target: int) -> None:
    """Values of a node of the opponent, whose strategy is in the reach already."""
    for i in range(0, hands, 16):
        value = load(work, rows[0] + i) * splat(scales[0])
        for a in range(1, num_actions):
            value = fma(load(work, rows[a] + i), splat(scales[a]), value)
        store(work, target + i, value)


@njit(**_INTERNAL)
def _forward(sweep: Sweep, p: int, mode: int, street: int, board: int, batch: int, decay: float, work: Floats) -> None:
    nodes, boards = sweep.nodes, sweep.boards
    opponent = 1 - p
    hands, block = boards.padded[opponent, board], boards.block[opponent, board]
    stride, area = sweep.place[STRIDE, street], sweep.place[REACH, street]
    for node in range(sweep.batches.node_start[batch], sweep.batches.node_start[batch + 1]):
        if nodes.role[node] != ACT or nodes.player[node] != opponent:
            continue
        number = nodes.num_children[node]
        base = block + np.int64(nodes.entry[node]) * hands
        reach = area + nodes.reach_row[p, node] * stride
        child = area + nodes.reach_row[p, nodes.first_child[node]] * stride
        if nodes.locked[node] or mode != SOLVE:
            _push_reach(sweep.sums, base, number, hands, work, reach, child, stride)
        else:
            _push_reach_and_sum(sweep.source, sweep.sums, base, number, hands, work, reach, child, stride, decay)


@njit(**_INTERNAL)
def _backward(
    sweep: Sweep,
    p: int,
    mode: int,
    street: int,
    board: int,
    batch: int,
    parameters: Floats,
    work: Floats,
    rows: Rows,
    scales: Floats,
) -> None:
    nodes, boards = sweep.nodes, sweep.boards
    hands, block = boards.padded[p, board], boards.block[p, board]
    stride, area = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    first = sweep.batches.node_start[batch]
    for node in range(sweep.batches.node_start[batch + 1] - 1, first - 1, -1):
        if nodes.role[node] != ACT:
            continue
        number, child = nodes.num_children[node], nodes.first_child[node]
        for a in range(number):
            rows[a] = area + nodes.value_row[p, child + a] * stride
            scales[a] = nodes.scale[p, child + a]
        target = area + nodes.value_row[p, node] * stride
        if nodes.player[node] != p:
            _sum(number, hands, work, rows, scales, target)
            continue
        base = block + np.int64(nodes.entry[node]) * hands
        if nodes.locked[node] or mode == AVERAGE:
            _follow(sweep.sums, base, number, hands, work, rows, scales, target)
        elif mode == BEST_RESPONSE:
            _best(number, hands, work, rows, scales, target)
        else:
            _update(
                sweep.source,
                sweep.regrets,
                sweep.predictive,
                base,
                number,
                hands,
                work,
                rows,
                scales,
                target,
                parameters,
            )


@njit(**_INTERNAL)
def _fold_lanes(sweep: Sweep, p: int, board: int, work: Floats) -> None:
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


@njit(**_INTERNAL)
def _show_lanes(sweep: Sweep, p: int, board: int, work: Floats) -> None:
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


@njit(**_INTERNAL)
def _terminal_rows(
    sweep: Sweep,
    p: int,
    street: int,
    board: int,
    table: NDArray[np.int32],
    begin: int,
    end: int,
    showdown: bool,
    work: Floats,
    rows: Rows,
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


@njit(**_INTERNAL)
def _reach_by_cluster(sweep: Sweep, p: int, board: int, reach: int, area: int, work: Floats) -> None:
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


@njit(**_INTERNAL)
def _leaf_rows(
    sweep: Sweep, p: int, board: int, matrix: Rows, reach: Rows, value: Rows, work: Floats, sums: Rows
) -> None:
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


@njit(**_INTERNAL)
def _leaves(sweep: Sweep, p: int, street: int, board: int, batch: int, work: Floats, rows: Rows) -> None:
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


@njit(**_INTERNAL)
def _runout_rows_of_0(
    matrix: NDArray[np.int16], start: int, width: int, theirs: int, work: Floats, reach: Rows, value: Rows
) -> None:
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


@njit(**_INTERNAL)
def _runout_rows_of_1(
    matrix: NDArray[np.int16], start: int, width: int, own: int, work: Floats, reach: Rows, value: Rows
) -> None:
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


@njit(**_INTERNAL)
def _runouts(sweep: Sweep, p: int, street: int, board: int, batch: int, work: Floats, rows: Rows) -> None:
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


@njit(**_INTERNAL)
def _mix_rows(sweep: Sweep, p: int, street: int, board: int, batch: int, work: Floats) -> None:
    """Terminals with rake: a showdown row and a fold row, each with its factor."""
    stride, value = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    begin, end = sweep.batches.mixed_start[p, batch], sweep.batches.mixed_start[p, batch + 1]
    for row in range(begin, end):
        target, won, held = sweep.batches.mixed[row, 0], sweep.batches.mixed[row, 1], sweep.batches.mixed[row, 2]
        a, b = splat(sweep.batches.mix[row, 0]), splat(sweep.batches.mix[row, 1])
        for i in range(0, sweep.boards.padded[p, board], 16):
            mixed = fma(a, load(work, value + won * stride + i), b * load(work, value + held * stride + i))
            store(work, value + target * stride + i, mixed)


@njit(**_INTERNAL)
def _terminals(sweep: Sweep, p: int, street: int, board: int, batch: int, work: Floats, rows: Rows) -> None:
    batches = sweep.batches
    begin, end = batches.fold_start[p, batch], batches.fold_start[p, batch + 1]
    _terminal_rows(sweep, p, street, board, batches.folds, begin, end, False, work, rows)
    begin, end = batches.show_start[p, batch], batches.show_start[p, batch + 1]
    _terminal_rows(sweep, p, street, board, batches.shows, begin, end, True, work, rows)
    if batches.leaf_start[p, batch] < batches.leaf_start[p, batch + 1]:
        _leaves(sweep, p, street, board, batch, work, rows)
    if batches.runout_start[p, batch] < batches.runout_start[p, batch + 1]:
        _runouts(sweep, p, street, board, batch, work, rows)
    _mix_rows(sweep, p, street, board, batch, work)


@njit(**_INTERNAL)
def _receive(
    sweep: Sweep, p: int, street: int, board: int, batch: int, above: Floats, above_reach: int, work: Floats
) -> None:
    """The opponent's reach at the components of a batch, from the street above."""
    boards, lists, batches, nodes = sweep.boards, sweep.lists, sweep.batches, sweep.nodes
    opponent = 1 - p
    stride, area = sweep.place[STRIDE, street], sweep.place[REACH, street]
    count, hands, start = (
        boards.size[opponent, board],
        boards.padded[opponent, board],
        boards.list_start[opponent, board],
    )
    for c in range(batches.root_start[batch], batches.root_start[batch + 1]):
        target = area + nodes.reach_row[p, batches.roots[c]] * stride
        deal = batches.deals[c]
        if deal < 0:
            for i in range(hands):
                work[target + i] = sweep.root_reach[opponent, i]
            continue
        source = above_reach + nodes.reach_row[p, deal] * sweep.place[STRIDE, street - 1]
        for i in range(count):
            up = np.uint64(lists.up[np.uint64(start + i)])
            work[np.uint64(target + i)] = above[np.uint64(source) + up]
        for i in range(count, hands):
            work[target + i] = 0.0


@njit(**_INTERNAL)
def _deliver(
    sweep: Sweep, p: int, street: int, board: int, batch: int, above: Floats, above_value: int, work: Floats
) -> None:
    """Adds the values of a batch's components to the STREET nodes above, or leaves the root's in `root_value`."""
    boards, lists, batches, nodes = sweep.boards, sweep.lists, sweep.batches, sweep.nodes
    stride, area = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    count, start, weight = boards.size[p, board], boards.list_start[p, board], boards.weight[board]
    for c in range(batches.root_start[batch], batches.root_start[batch + 1]):
        root = batches.roots[c]
        source = area + nodes.value_row[p, root] * stride
        deal = batches.deals[c]
        if deal < 0:
            for i in range(count):
                sweep.root_value[p, i] = work[source + i]
            continue
        target = above_value + nodes.value_row[p, deal] * sweep.place[STRIDE, street - 1]
        factor = weight * nodes.scale[p, root]
        for i in range(count):
            up = np.uint64(lists.up[np.uint64(start + i)])
            above[np.uint64(target) + up] += factor * work[np.uint64(source + i)]


@njit(**_INTERNAL)
def _average_orbits(sweep: Sweep, p: int, street: int, board: int, work: Floats) -> None:
    """Values at STREET nodes, averaged over the hands that the board's suit symmetries turn into each other."""
    boards, lists = sweep.boards, sweep.lists
    stride, area = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    count, start = boards.size[p, board], boards.list_start[p, board]
    sums, sizes = sweep.areas[LANES_IN], sweep.areas[LANES_OUT]
    for node in range(sweep.batches.node_start[sweep.batches.street_start[street]], len(sweep.nodes.role)):
        if sweep.nodes.role[node] != PASS:
            continue
        if node >= sweep.batches.node_start[sweep.batches.street_start[street + 1]]:
            break
        row = area + sweep.nodes.value_row[p, node] * stride
        for i in range(count):
            work[sums + i] = 0.0
            work[sizes + i] = 0.0
        for i in range(count):
            orbit = np.int64(lists.orbit[start + i])
            work[sums + orbit] += work[row + i]
            work[sizes + orbit] += 1.0
        for i in range(count):
            orbit = np.int64(lists.orbit[start + i])
            work[row + i] = work[sums + orbit] / work[sizes + orbit]


@njit(**_INTERNAL)
def _clear_deals(num_slots: int, sweep: Sweep, street: int, work: Floats) -> None:
    area = sweep.place[VALUE, street]
    for i in range(area, area + num_slots * sweep.place[STRIDE, street], 16):
        store(work, i, splat(0.0))


@njit(**_INTERNAL)
def _close(
    sweep: Sweep,
    p: int,
    mode: int,
    street: int,
    board: int,
    parameters: Floats,
    work: Floats,
    rows: Rows,
    scales: Floats,
) -> None:
    """Terminals and values of a board whose deals have been answered."""
    batch = sweep.batches.street_start[street]
    if sweep.boards.symmetric[board]:
        _average_orbits(sweep, p, street, board, work)
    _terminals(sweep, p, street, board, batch, work, rows)
    _backward(sweep, p, mode, street, board, batch, parameters, work, rows, scales)


@njit(**_INTERNAL)
def _last_board(
    sweep: Sweep,
    p: int,
    mode: int,
    board: int,
    parameters: Floats,
    above: Floats,
    above_reach: int,
    above_value_array: Floats,
    above_value: int,
    work: Floats,
    rows: Rows,
    scales: Floats,
) -> None:
    """A board of the last street: batch after batch, so that scratch memory stays in the cache."""
    street = sweep.last_street
    for batch in range(sweep.batches.street_start[street], sweep.batches.street_start[street + 1]):
        _receive(sweep, p, street, board, batch, above, above_reach, work)
        _forward(sweep, p, mode, street, board, batch, parameters[DECAY], work)
        _terminals(sweep, p, street, board, batch, work, rows)
        _backward(sweep, p, mode, street, board, batch, parameters, work, rows, scales)
        _deliver(sweep, p, street, board, batch, above_value_array, above_value, work)


@njit(**_INTERNAL)
def begin_sweep(sweep: Sweep, p: int, mode: int, parameters: Floats, root: Floats) -> None:
    """The root's street downwards; on the last street that is the whole sweep. `root` is the root's scratch memory."""
    rows, scales = np.empty(64, np.int64), np.empty(64, np.float32)
    street = sweep.first_street
    if street == sweep.last_street:
        _last_board(sweep, p, mode, 0, parameters, root, 0, root, 0, root, rows, scales)
        return
    batch = sweep.batches.street_start[street]
    _clear_deals(sweep.num_slots[street], sweep, street, root)
    _receive(sweep, p, street, 0, batch, root, 0, root)
    _forward(sweep, p, mode, street, 0, batch, parameters[DECAY], root)


@njit(**_INTERNAL)
def sweep_chunk(
    sweep: Sweep,
    p: int,
    mode: int,
    parameters: Floats,
    chunk: int,
    root: Floats,
    work: Floats,
) -> None:
    """All boards below those of a chunk; their values are added up in the chunk's own part of `partial`."""
    rows, scales = np.empty(64, np.int64), np.empty(64, np.float32)
    top = sweep.first_street
    size = sweep.num_slots[top] * sweep.place[STRIDE, top]
    begin = chunk * size
    sweep.partial[begin : begin + size] = 0.0
    cursor, here = np.zeros(8, np.int64), np.zeros(8, np.int64)
    boards = sweep.boards
    for first in range(sweep.chunk_start[chunk], sweep.chunk_start[chunk + 1]):
        street = top + 1
        here[street] = first
        entering = True
        while street > top:
            board = here[street]
            at_top = street == top + 1
            reach_array, value_array = (root, sweep.partial) if at_top else (work, work)
            above_reach = sweep.place[REACH, street - 1]
            above_value = begin if at_top else sweep.place[VALUE, street - 1]
            if street == sweep.last_street:
                _last_board(
                    sweep,
                    p,
                    mode,
                    board,
                    parameters,
                    reach_array,
                    above_reach,
                    value_array,
                    above_value,
                    work,
                    rows,
                    scales,
                )
                street -= 1
                entering = False
                continue
            batch = sweep.batches.street_start[street]
            if entering:
                _clear_deals(sweep.num_slots[street], sweep, street, work)
                _receive(sweep, p, street, board, batch, reach_array, above_reach, work)
                _forward(sweep, p, mode, street, board, batch, parameters[DECAY], work)
                cursor[street] = boards.child_start[board]
            if cursor[street] < boards.child_start[board + 1]:
                here[street + 1] = cursor[street]
                cursor[street] += 1
                street += 1
                entering = True
                continue
            _close(sweep, p, mode, street, board, parameters, work, rows, scales)
            _deliver(sweep, p, street, board, batch, value_array, above_value, work)
            street -= 1
            entering = False


@njit(**_INTERNAL)
def end_sweep(sweep: Sweep, p: int, mode: int, parameters: Floats, root: Floats) -> None:
    """Adds up the chunks and finishes the root's street."""
    street = sweep.first_street
    if street == sweep.last_street:
        return
    rows, scales = np.empty(64, np.int64), np.empty(64, np.float32)
    size = sweep.num_slots[street] * sweep.place[STRIDE, street]
    area = sweep.place[VALUE, street]
    for chunk in range(len(sweep.chunk_start) - 1):
        for i in range(0, size, 16):
            store(root, area + i, load(root, area + i) + load(sweep.partial, chunk * size + i))
    _close(sweep, p, mode, street, 0, parameters, root, rows, scales)
    _deliver(sweep, p, street, 0, sweep.batches.street_start[street], root, 0, root)


@entry(
    f"{SWEEP}, i8, i8, i8, f4_2, f4_1, f4_1, i8_1, i8, i8",
    f"{SWEEP_16}, i8, i8, i8, f4_2, f4_1, f4_1, i8_1, i8, i8",
)
def run_team(
    sweep: Sweep,
    first: int,
    last: int,
    mode: int,
    parameters: Floats,
    root: Floats,
    work: Floats,
    shared: NDArray[np.int64],
    members: int,
    member: int,
) -> None:
    """Sweeps for players first..last in turn, once per row of `parameters` [n, 6], by one of `members` threads.

    Member 0 does the root's street; chunks of boards go to whoever is free, each into its own part of `partial`, so
    that the sums do not depend on who did what.
    """
    chunks = len(sweep.chunk_start) - 1
    for t in range(len(parameters)):
        for p in range(first, last + 1):
            if member == 0:
                begin_sweep(sweep, p, mode, parameters[t], root)
            wait(shared, members)
            chunk = fetch_add(shared, TICKET, 1)
            while chunk < chunks:
                sweep_chunk(sweep, p, mode, parameters[t], chunk, root, work)
                chunk = fetch_add(shared, TICKET, 1)
            wait(shared, members)
            if member == 0:
                end_sweep(sweep, p, mode, parameters[t], root)
