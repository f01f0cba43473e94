"""Decisions of a sweep: reach goes down, values and regrets come up, sixteen hands at a time."""

from typing import Any

import numpy as np

from poker.kernels.registry import inline
from poker.kernels.simd import any_positive, fma, load, maximum, prefetch, splat, store, where_positive
from poker.kernels.types import F32, I64, U8
from poker.kernels.vector.arrays import ACT, REACH, STRIDE, VALUE, Sweep

SOLVE, BEST_RESPONSE, AVERAGE, RECORD = range(4)
"""Modes of a sweep at p's nodes: update regrets, take the best action, follow p's average strategy, or take the best
action and record it."""

POSITIVE, NEGATIVE, FLOOR, CARRY, PREDICTION, WEIGHT = range(6)
"""Columns of the parameters of an iteration: factors of positive and negative regrets before the new ones are added,
the smallest regret, the weights of all regrets and of the last ones in the prediction, and the iteration's weight in
the average strategy."""


STREAMED_SIZE = 1 << 17
"""Arrays with more entries than this do not fit a core's own cache, so their rows are prefetched."""


@inline
def _next_decision(sweep: Sweep, player: int, node: int, end: int, step: int) -> int:
    """Return the first node from `node` on, in steps of 1 or -1, at which the player acts, or `end`."""
    while node != end and (sweep.nodes.role[node] != ACT or sweep.nodes.player[node] != player):
        node += step
    return node


@inline
def _prefetch_rows(one: F32, other: F32, at: int, num_actions: int, hands: int) -> None:
    """Prefetch the action rows of a node, sixteen hands from `at` on."""
    for a in range(num_actions):
        prefetch(one, at + a * hands)
        prefetch(other, at + a * hands)


@inline
def _positive(source: F32, at: int, num_actions: int, hands: int) -> Any:
    """Return the sum over actions of the positive part of `source`."""
    mass = splat(0.0)
    for a in range(num_actions):
        mass = mass + maximum(load(source, at + a * hands), splat(0.0))
    return mass


@inline
def _expected(source: F32, at: int, num_actions: int, hands: int, work: F32, rows: I64, scales: F32, i: int) -> Any:
    """Return the values of hands i.. of a node whose strategy is proportional to the positive part of `source`."""
    mass = _positive(source, at, num_actions, hands)
    inverse = where_positive(mass, splat(1.0) / mass, splat(0.0))
    rest = where_positive(mass, splat(0.0), splat(1.0 / num_actions))
    value = splat(0.0)
    for a in range(num_actions):
        probability = fma(maximum(load(source, at + a * hands), splat(0.0)), inverse, rest)
        value = fma(probability * splat(scales[a]), load(work, rows[a] + i), value)
    return value


@inline
def _push_reach(
    sweep: Sweep,
    source: F32,
    adds: bool,
    beside: bool,
    base: int,
    num_actions: int,
    hands: int,
    work: F32,
    reach: int,
    child: int,
    stride: int,
    weight: float,
    next_actions: int,
    next_reach: int,
) -> None:
    """Set the reach of the children: the parent's reach times the strategy, the normalised positive part of `source`.

    With `adds` it is also added to the strategy sums, times `weight`. The rows of the next node, with `next_actions`
    actions, follow in memory and are prefetched where its reach is not 0. With `beside` a part of the parent's reach
    follows `modelled`. Only the rest follows the strategy and is added to the sums. Nothing is read for hands that do
    not reach the node.
    """
    sums, modelled = sweep.sums, sweep.modelled
    zero, flat, factor = splat(0.0), splat(1.0 / num_actions), splat(weight)
    for i in range(0, hands, 16):
        coming = load(work, reach + i)
        if any_positive(coming):
            mass = _positive(source, base + i, num_actions, hands)
            if beside:
                coming = maximum(coming - _positive(modelled, base + i, num_actions, hands), zero)
            inverse = where_positive(mass, coming / mass, zero)
            rest = where_positive(mass, zero, coming * flat)
            for a in range(num_actions):
                at = base + a * hands + i
                share = fma(maximum(load(source, at), zero), inverse, rest)
                if beside:
                    store(work, child + a * stride + i, share + load(modelled, at))
                else:
                    store(work, child + a * stride + i, share)
                if adds:
                    store(sums, at, fma(share, factor, load(sums, at)))
        else:
            for a in range(num_actions):
                store(work, child + a * stride + i, zero)
        if next_actions and any_positive(load(work, next_reach + i)):
            _prefetch_rows(source, sums, base + num_actions * hands + i, next_actions, hands)


@inline
def _push_few(
    sweep: Sweep,
    count: int,
    base: int,
    hands: int,
    work: F32,
    reach: int,
    child: int,
    stride: int,
    weight: float,
    next_actions: int,
    next_reach: int,
) -> None:
    """Do the same as `_push_reach` with `adds`, for two to four actions, with all loads in registers."""
    source, sums = sweep.source, sweep.sums
    zero, flat, factor = splat(0.0), splat(1.0 / count), splat(weight)
    for i in range(0, hands, 16):
        at, to, coming = base + i, child + i, load(work, reach + i)
        if any_positive(coming):
            a, b = maximum(load(source, at), zero), maximum(load(source, at + hands), zero)
            c = maximum(load(source, at + 2 * hands), zero) if count > 2 else zero
            d = maximum(load(source, at + 3 * hands), zero) if count > 3 else zero
            mass = (a + b + c) + d if count > 3 else a + b + c if count > 2 else a + b
            inverse = where_positive(mass, coming / mass, zero)
            rest = where_positive(mass, zero, coming * flat)
            a, b, c = fma(a, inverse, rest), fma(b, inverse, rest), fma(c, inverse, rest)
            new_a, new_b = fma(a, factor, load(sums, at)), fma(b, factor, load(sums, at + hands))
            if count > 2:
                new_c = fma(c, factor, load(sums, at + 2 * hands))
                store(work, to + 2 * stride, c)
                store(sums, at + 2 * hands, new_c)
            if count > 3:
                d = fma(d, inverse, rest)
                new_d = fma(d, factor, load(sums, at + 3 * hands))
                store(work, to + 3 * stride, d)
                store(sums, at + 3 * hands, new_d)
            store(work, to, a)
            store(work, to + stride, b)
            store(sums, at, new_a)
            store(sums, at + hands, new_b)
        else:
            store(work, to, zero)
            store(work, to + stride, zero)
            if count > 2:
                store(work, to + 2 * stride, zero)
            if count > 3:
                store(work, to + 3 * stride, zero)
        if next_actions and any_positive(load(work, next_reach + i)):
            _prefetch_rows(source, sums, base + count * hands + i, next_actions, hands)


@inline
def _follow(
    source: F32, base: int, num_actions: int, hands: int, work: F32, rows: I64, scales: F32, target: int
) -> None:
    """Compute the values of a node whose strategy is proportional to the positive part of `source`."""
    for i in range(0, hands, 16):
        value = _expected(source, base + i, num_actions, hands, work, rows, scales, i)
        store(work, target + i, value)


@inline
def _update(
    sweep: Sweep,
    base: int,
    num_actions: int,
    hands: int,
    work: F32,
    rows: I64,
    scales: F32,
    target: int,
    parameters: F32,
    next_actions: int,
) -> None:
    """Compute the values of p's node under the current strategy, and update its regrets.

    The rows of the next node on the way up, with `next_actions` actions, come before in memory and are prefetched.
    """
    source, regrets = sweep.source, sweep.regrets
    positive, negative = splat(parameters[POSITIVE]), splat(parameters[NEGATIVE])
    floor, carry, prediction = splat(parameters[FLOOR]), splat(parameters[CARRY]), splat(parameters[PREDICTION])
    for i in range(0, hands, 16):
        value = _expected(source, base + i, num_actions, hands, work, rows, scales, i)
        store(work, target + i, value)
        for a in range(num_actions):
            at = base + a * hands + i
            gain = fma(splat(scales[a]), load(work, rows[a] + i), splat(0.0) - value)
            old = load(regrets, at)
            new = maximum(fma(old, where_positive(old, positive, negative), gain), floor)
            store(regrets, at, new)
            if sweep.predictive:
                store(source, at, fma(gain, prediction, new * carry))
        _prefetch_rows(regrets, source, base - next_actions * hands + i, next_actions, hands)


@inline
def _new_regret(regrets: F32, at: int, gain: Any, positive: Any, negative: Any, floor: Any) -> Any:
    old = load(regrets, at)
    return maximum(fma(old, where_positive(old, positive, negative), gain), floor)


@inline
def _update_few(
    sweep: Sweep,
    count: int,
    base: int,
    hands: int,
    work: F32,
    rows: I64,
    scales: F32,
    target: int,
    parameters: F32,
    next_actions: int,
) -> None:
    """Do the same as `_update` for two to four actions, with all loads in registers."""
    source, regrets, predictive = sweep.source, sweep.regrets, sweep.predictive
    positive, negative = splat(parameters[POSITIVE]), splat(parameters[NEGATIVE])
    floor, carry, prediction = splat(parameters[FLOOR]), splat(parameters[CARRY]), splat(parameters[PREDICTION])
    zero, flat = splat(0.0), splat(1.0 / count)
    row_a, row_b, row_c, row_d = rows[0], rows[1], rows[2], rows[3]
    scale_a, scale_b = splat(scales[0]), splat(scales[1])
    scale_c, scale_d = splat(scales[2]), splat(scales[3])
    for i in range(0, hands, 16):
        at = base + i
        a, b = maximum(load(source, at), zero), maximum(load(source, at + hands), zero)
        c = maximum(load(source, at + 2 * hands), zero) if count > 2 else zero
        d = maximum(load(source, at + 3 * hands), zero) if count > 3 else zero
        mass = (a + b + c) + d if count > 3 else a + b + c if count > 2 else a + b
        inverse = where_positive(mass, splat(1.0) / mass, zero)
        rest = where_positive(mass, zero, flat)
        value_a, value_b = load(work, row_a + i), load(work, row_b + i)
        value = fma(fma(a, inverse, rest) * scale_a, value_a, zero)
        value = fma(fma(b, inverse, rest) * scale_b, value_b, value)
        value_c = load(work, row_c + i) if count > 2 else zero
        value_d = load(work, row_d + i) if count > 3 else zero
        if count > 2:
            value = fma(fma(c, inverse, rest) * scale_c, value_c, value)
        if count > 3:
            value = fma(fma(d, inverse, rest) * scale_d, value_d, value)
        less = zero - value
        gain_a, gain_b = fma(scale_a, value_a, less), fma(scale_b, value_b, less)
        gain_c, gain_d = fma(scale_c, value_c, less), fma(scale_d, value_d, less)
        new_a = _new_regret(regrets, at, gain_a, positive, negative, floor)
        new_b = _new_regret(regrets, at + hands, gain_b, positive, negative, floor)
        new_c = _new_regret(regrets, at + 2 * hands, gain_c, positive, negative, floor) if count > 2 else zero
        new_d = _new_regret(regrets, at + 3 * hands, gain_d, positive, negative, floor) if count > 3 else zero
        store(work, target + i, value)
        store(regrets, at, new_a)
        store(regrets, at + hands, new_b)
        if count > 2:
            store(regrets, at + 2 * hands, new_c)
        if count > 3:
            store(regrets, at + 3 * hands, new_d)
        if predictive:
            store(source, at, fma(gain_a, prediction, new_a * carry))
            store(source, at + hands, fma(gain_b, prediction, new_b * carry))
            if count > 2:
                store(source, at + 2 * hands, fma(gain_c, prediction, new_c * carry))
            if count > 3:
                store(source, at + 3 * hands, fma(gain_d, prediction, new_d * carry))
        _prefetch_rows(regrets, source, base - next_actions * hands + i, next_actions, hands)


@inline
def _sum_few(count: int, hands: int, work: F32, rows: I64, scales: F32, target: int) -> None:
    """Do the same as `_combine` for the opponent's node with two to four actions."""
    row_a, row_b, row_c, row_d = rows[0], rows[1], rows[2], rows[3]
    scale_a, scale_b = splat(scales[0]), splat(scales[1])
    scale_c, scale_d = splat(scales[2]), splat(scales[3])
    for i in range(0, hands, 16):
        value = fma(load(work, row_b + i), scale_b, load(work, row_a + i) * scale_a)
        if count > 2:
            value = fma(load(work, row_c + i), scale_c, value)
        if count > 3:
            value = fma(load(work, row_d + i), scale_d, value)
        store(work, target + i, value)


@inline
def _combine(best: bool, num_actions: int, hands: int, work: F32, rows: I64, scales: F32, target: int) -> None:
    """Compute the values of p's node under the best action, or of the opponent's, whose strategy is in the reach."""
    for i in range(0, hands, 16):
        value = load(work, rows[0] + i) * splat(scales[0])
        for a in range(1, num_actions):
            if best:
                value = maximum(load(work, rows[a] + i) * splat(scales[a]), value)
            else:
                value = fma(load(work, rows[a] + i), splat(scales[a]), value)
        store(work, target + i, value)


@inline
def _write_best(best: U8, base: int, num_actions: int, hands: int, work: F32, rows: I64, scales: F32) -> None:
    """Write the first of the best actions of each hand."""
    for i in range(hands):
        choice, most = 0, work[rows[0] + i] * scales[0]
        for a in range(1, num_actions):
            value = work[rows[a] + i] * scales[a]
            if value > most:
                choice, most = a, value
        best[base + i] = choice


@inline
def push_down(sweep: Sweep, p: int, mode: int, street: int, board: int, batch: int, weight: float, work: F32) -> None:
    """Push the opponent's reach down through a batch on one board, and add it to the strategy sums.

    Args:
        p: the player being updated.
        mode: SOLVE, BEST_RESPONSE, AVERAGE or RECORD.
        street: street of the batch.
        board: index of the board.
        weight: weight of the iteration in the average strategy.
        work: float32 [n] scratch memory.
    """
    nodes, boards = sweep.nodes, sweep.boards
    opponent = 1 - p
    hands, block = boards.padded[opponent, board], boards.block[opponent, board]
    stride, area = sweep.place[STRIDE, street], sweep.place[REACH, street]
    first, last = sweep.batches.node_start[batch], sweep.batches.node_start[batch + 1]
    streams = mode == SOLVE and len(sweep.sums) > STREAMED_SIZE
    after = _next_decision(sweep, opponent, first, last, 1)
    while after < last:
        node, after = after, _next_decision(sweep, opponent, after + 1, last, 1)
        number = nodes.num_children[node]
        base = block + np.int64(nodes.entry[node]) * hands
        reach = area + nodes.reach_row[p, node] * stride
        child = area + nodes.reach_row[p, nodes.first_child[node]] * stride
        follower = after if after < last else node
        ahead = nodes.num_children[follower] if streams else 0
        next_reach = area + nodes.reach_row[p, follower] * stride
        fixed = nodes.locked[node] or mode != SOLVE
        source = sweep.sums if fixed else sweep.source
        beside = sweep.modelled_player == opponent
        few = not (fixed or beside)
        if few and number == 2:
            _push_few(sweep, 2, base, hands, work, reach, child, stride, weight, ahead, next_reach)
        elif few and number == 3:
            _push_few(sweep, 3, base, hands, work, reach, child, stride, weight, ahead, next_reach)
        elif few and number == 4:
            _push_few(sweep, 4, base, hands, work, reach, child, stride, weight, ahead, next_reach)
        else:
            _push_reach(
                sweep, source, not fixed, beside, base, number, hands, work, reach, child, stride, weight, ahead,
                next_reach,
            )  # fmt: skip
    last_own = _next_decision(sweep, p, last - 1, first - 1, -1)
    if streams and last_own >= first:  # the way up begins here
        own = boards.padded[p, board]
        base = boards.block[p, board] + np.int64(nodes.entry[last_own]) * own
        for i in range(0, own, 16):
            _prefetch_rows(sweep.regrets, sweep.source, base + i, nodes.num_children[last_own], own)


@inline
def pull_up(
    sweep: Sweep,
    p: int,
    mode: int,
    street: int,
    board: int,
    batch: int,
    parameters: F32,
    work: F32,
    rows: I64,
    scales: F32,
) -> None:
    """Pull p's values up through a batch on one board, and update p's regrets in mode SOLVE.

    Args:
        p: the player being updated.
        mode: SOLVE, BEST_RESPONSE, AVERAGE or RECORD.
        street: street of the batch.
        board: index of the board.
        parameters: float32 [6] parameters of the iteration.
        work: float32 [n] scratch memory.
        rows: int64 [64] scratch for row offsets.
        scales: float32 [64] scratch for scales.
    """
    nodes, boards = sweep.nodes, sweep.boards
    hands, block = boards.padded[p, board], boards.block[p, board]
    stride, area = sweep.place[STRIDE, street], sweep.place[VALUE, street]
    first = sweep.batches.node_start[batch]
    streams = len(sweep.regrets) > STREAMED_SIZE
    for node in range(sweep.batches.node_start[batch + 1] - 1, first - 1, -1):
        if nodes.role[node] != ACT:
            continue
        number, child = nodes.num_children[node], nodes.first_child[node]
        for a in range(number):
            rows[a] = area + nodes.value_row[p, child + a] * stride
            scales[a] = nodes.scale[p, child + a]
        target = area + nodes.value_row[p, node] * stride
        base = block + np.int64(nodes.entry[node]) * hands
        other, best = nodes.player[node] != p, mode in (BEST_RESPONSE, RECORD)
        if other and number == 2:
            _sum_few(2, hands, work, rows, scales, target)
        elif other and number == 3:
            _sum_few(3, hands, work, rows, scales, target)
        elif other and number == 4:
            _sum_few(4, hands, work, rows, scales, target)
        elif not other and (nodes.locked[node] or mode == AVERAGE):
            _follow(sweep.sums, base, number, hands, work, rows, scales, target)
        elif other or best:
            _combine(not other, number, hands, work, rows, scales, target)
            if not other and mode == RECORD:
                _write_best(sweep.best, base, number, hands, work, rows, scales)
        else:
            before = _next_decision(sweep, p, node - 1, first - 1, -1)
            ahead = nodes.num_children[before] if streams and before >= first else 0
            if number == 2:
                _update_few(sweep, 2, base, hands, work, rows, scales, target, parameters, ahead)
            elif number == 3:
                _update_few(sweep, 3, base, hands, work, rows, scales, target, parameters, ahead)
            elif number == 4:
                _update_few(sweep, 4, base, hands, work, rows, scales, target, parameters, ahead)
            else:
                _update(sweep, base, number, hands, work, rows, scales, target, parameters, ahead)
