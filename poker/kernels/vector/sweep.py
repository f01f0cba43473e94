"""One sweep of vector-form CFR: both players' hands at once, over a betting tree and all boards below the root.

A sweep for player p pushes the opponent's reach down, evaluates terminals, and pulls p's counterfactual values up. On
the way it updates p's regrets, or it maximises or averages, for exact best responses and values. The opponent's average
strategy is accumulated while the reach goes down, so that it is weighted by the reach without a second pass. It is a
sum that is never rescaled, so hands that do not reach a node cost nothing there.

Hands are SIMD lanes. At showdowns and folds the lanes are 16 terminal rows of one board instead. The running sums per
card must be computed hand after hand, and all rows then share their cost. At the depth limit the lanes are clusters of
the player's hands.

Everything is float32. `poker/kernels/vector/arrays.py` gives shapes and meanings of the arrays.
"""

import numpy as np

from poker.kernels.barrier import TICKET, fetch_add, wait
from poker.kernels.registry import entry, inline, kernel
from poker.kernels.simd import load, splat, store
from poker.kernels.types import F32, I64
from poker.kernels.vector.arrays import (
    BELOW,
    HELD,
    LANES_IN,
    LANES_OUT,
    NUMBER,
    OTHER,
    OWN,
    PASS,
    REACH,
    STRIDE,
    SWEEP,
    VALUE,
    Gadgets,
    Sweep,
)
from poker.kernels.vector.decisions import WEIGHT, pull_up, push_down
from poker.kernels.vector.terminals import evaluate_terminals, four_runouts

DOWN, UP, RUNOUTS = 1, 2, 4
BELOW_ROOT = 1
"""The phase of a sweep between the way down and the way up at the root."""


@inline
def _clear_deals(sweep: Sweep, street: int, work: F32) -> None:
    area = sweep.place[VALUE, street]
    for i in range(area, area + sweep.num_slots[street] * sweep.place[STRIDE, street], 16):
        store(work, i, splat(0.0))


@inline
def _receive(
    sweep: Sweep, p: int, street: int, board: int, batch: int, above: F32, above_reach: int, work: F32
) -> None:
    """Set the opponent's reach at the components of a batch, from the street above."""
    boards, lists, batches, nodes = sweep.boards, sweep.lists, sweep.batches, sweep.nodes
    opponent = 1 - p
    stride, area = sweep.place[STRIDE, street], sweep.place[REACH, street]
    count, hands = boards.size[opponent, board], boards.padded[opponent, board]
    start = boards.list_start[opponent, board]
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


@inline
def _deliver(
    sweep: Sweep, p: int, street: int, board: int, batch: int, above: F32, above_value: int, work: F32
) -> None:
    """Add the values of a batch's components to the STREET nodes above, or write those at the root to `root_value`."""
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
        if len(sweep.starts) > 0 and street == sweep.first_street + 1:
            before = start - boards.list_start[p, boards.street_start[street]]
            at = before * sweep.num_slots[street - 1] + nodes.value_row[p, deal] * count
            for i in range(count):
                sweep.starts[at + i] = nodes.scale[p, root] * work[source + i]


@inline
def _average_orbits(sweep: Sweep, p: int, street: int, board: int, work: F32) -> None:
    """Average the values at STREET nodes over the hands that the board's suit symmetries map to each other."""
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


@inline
def _multiply(work: F32, factor: int, alternatives: F32, at: int, target: int, hands: int) -> None:
    for i in range(0, hands, 16):
        store(work, target + i, load(work, factor + i) * load(alternatives, at + i))


@kernel
def _visit_gadgets(
    gadgets: Gadgets,
    own: int,
    begin: int,
    end: int,
    at_board: int,
    hands: int,
    stride: int,
    reach: int,
    value: int,
    work: F32,
) -> None:
    """Process gadgets begin..end on one board.

    Before terminals are evaluated this sets the reach of hands that stay out of another player's gadget. Afterwards it
    sets the values of an `own` gadget. An ALTERNATIVE pays its owner the hand's alternative value times the mass of
    compatible hands, so it is a fold with a factor per hand. `hands` is the padded number of the owner's hands. `reach`
    and `value` are the offsets of rows.
    """
    for row in range(begin, end):
        at = at_board + gadgets.rows[row, NUMBER] * hands
        if own:
            held, other = value + gadgets.rows[row, HELD] * stride, value + gadgets.rows[row, OTHER] * stride
            _multiply(work, held, gadgets.alternatives, at, other, hands)
        else:
            below = reach + gadgets.rows[row, BELOW] * stride
            _multiply(work, below, gadgets.alternatives, at, below, hands)


@inline
def _gadgets(sweep: Sweep, own: int, p: int, street: int, board: int, batch: int, work: F32) -> None:
    """Process the gadgets of safe re-solving (`poker.tree.gadget`) that p owns, if `own`, or the other player."""
    gadgets, boards, place = sweep.gadgets, sweep.boards, sweep.place
    begin, end = gadgets.start[p, batch], gadgets.start[p, batch + 1]
    if begin == end or gadgets.rows[begin, OWN] != own:
        return
    owner = np.int64(p if own else 1 - p)
    hands = np.int64(boards.padded[owner, board])
    _visit_gadgets(
        gadgets, np.int64(own), np.int64(begin), np.int64(end), gadgets.at[board], hands, place[STRIDE, street],
        place[REACH, street], place[VALUE, street], work,
    )  # fmt: skip


@inline
def _visit(
    sweep: Sweep,
    p: int,
    mode: int,
    street: int,
    board: int,
    way: int,
    parameters: F32,
    above: F32,
    above_reach: int,
    values_above: F32,
    above_value: int,
    work: F32,
    rows: I64,
    scales: F32,
) -> None:
    """Process a board on the way `DOWN` to the boards below it, on the way `UP`, or both if there are none below.

    `RUNOUTS` + n processes the n-th part of the run-outs of the root's board, before the way up. The last street is
    processed batch after batch, so that scratch memory stays in the cache.
    """
    deals, guarded = street < sweep.last_street, len(sweep.gadgets.rows) > 0
    if deals and way == DOWN:
        _clear_deals(sweep, street, work)
    for batch in range(sweep.batches.street_start[street], sweep.batches.street_start[street + 1]):
        if way >= RUNOUTS:
            starts, table = sweep.batches.runout_start, sweep.batches.runouts
            four_runouts(sweep, 0, starts, table, p, street, board, batch, way - RUNOUTS, work, rows)
            break
        if way & DOWN:
            _receive(sweep, p, street, board, batch, above, above_reach, work)
            push_down(sweep, p, mode, street, board, batch, parameters[WEIGHT], work)
        if way & UP:
            if deals and sweep.boards.symmetric[board]:
                _average_orbits(sweep, p, street, board, work)
            if guarded:
                _gadgets(sweep, 0, p, street, board, batch, work)
            evaluate_terminals(sweep, p, street, board, batch, work, rows)
            if guarded:
                _gadgets(sweep, 1, p, street, board, batch, work)
            pull_up(sweep, p, mode, street, board, batch, parameters, work, rows, scales)
            _deliver(sweep, p, street, board, batch, values_above, above_value, work)


@inline
def _visit_part(
    sweep: Sweep,
    p: int,
    mode: int,
    parameters: F32,
    root_way: int,
    chunk: int,
    root: F32,
    work: F32,
    rows: I64,
    scales: F32,
    cursor: I64,
    here: I64,
) -> None:
    """Process the root's board with `root` as scratch memory, or if `root_way` is 0 all boards of a chunk.

    A chunk's boards include all boards below them. The values of a chunk are summed in its own part of `partial`.
    """
    top, children = sweep.first_street, sweep.boards.child_start
    size = sweep.num_slots[top] * sweep.place[STRIDE, top]
    begin, least, last = np.int64(0), top, np.int64(1)
    board = np.int64(0)
    if root_way == 0:
        begin, least = np.int64(chunk * size), top + 1
        board, last = np.int64(sweep.chunk_start[chunk]), np.int64(sweep.chunk_start[chunk + 1])
        sweep.partial[begin : begin + size] = 0.0
    for first in range(board, last):
        street, way = least, np.int64(root_way)
        here[street] = first
        if root_way == 0:
            way = np.int64(DOWN)
        while street >= least:
            board = here[street]
            if street > top:
                if way == DOWN:
                    cursor[street] = children[board]
                    if street == sweep.last_street:
                        way = np.int64(DOWN | UP)
                elif cursor[street] < children[board + 1]:
                    here[street + 1] = cursor[street]
                    cursor[street] += 1
                    street += 1
                    way = np.int64(DOWN)
                    continue
            at_top = street <= top + 1
            above, values_above = (root, sweep.partial) if at_top else (work, work)
            before = max(street - 1, top)
            above_reach = sweep.place[REACH, before]
            above_value = begin if at_top else sweep.place[VALUE, before]
            scratch = root if street == top else work
            _visit(
                sweep, p, mode, street, board, way, parameters, above, above_reach, values_above, above_value, scratch,
                rows, scales,
            )  # fmt: skip
            if way != DOWN or street == top:
                street -= 1
            way = np.int64(UP)


@inline
def _add_chunks(sweep: Sweep, root: F32) -> None:
    street = sweep.first_street
    size = sweep.num_slots[street] * sweep.place[STRIDE, street]
    area = sweep.place[VALUE, street]
    for chunk in range(len(sweep.chunk_start) - 1):
        for i in range(0, size, 16):
            store(root, area + i, load(root, area + i) + load(sweep.partial, chunk * size + i))


@entry(f"{SWEEP}, i8, i8, i8, f4_2, f4_1, f4_1, i8_1, i8, i8")
def run_team(
    sweep: Sweep,
    first: int,
    last: int,
    mode: int,
    parameters: F32,
    root: F32,
    work: F32,
    shared: I64,
    members: int,
    member: int,
) -> None:
    """Run sweeps for players first..last in turn, once per row of `parameters`, as one of several threads.

    Member 0 processes the root's street. Its run-outs and the chunks of boards go to any free member. Each chunk has
    its own part of `partial`, so the sums do not depend on which member processed it.

    Args:
        first: first player.
        last: last player.
        mode: SOLVE, BEST_RESPONSE, AVERAGE or RECORD.
        parameters: float32 [n, 6] parameters of n iterations.
        root: float32 [size] scratch memory for the root's board.
        work: float32 [size] scratch memory of this thread.
        shared: int64 [SHARED_SIZE] counters of the barrier.
        members: number of threads.
        member: number of this thread.
    """
    rows, scales = np.empty(64, np.int64), np.empty(64, np.float32)
    cursor, here = np.zeros(8, np.int64), np.zeros(8, np.int64)
    deals = sweep.first_street < sweep.last_street
    batch = sweep.batches.street_start[sweep.first_street]
    for t in range(len(parameters)):
        for p in range(first, last + 1):
            num_rows = sweep.batches.runout_start[p, batch + 1] - sweep.batches.runout_start[p, batch]
            runouts = (num_rows + 3) // 4 if deals else 0
            for phase in range(3 if deals else 1):
                parts = len(sweep.chunk_start) - 1 + runouts if phase == BELOW_ROOT else 1
                if phase == BELOW_ROOT:
                    part = fetch_add(shared, TICKET, 1)
                else:
                    part = np.int64(member)
                    if phase and member == 0:
                        _add_chunks(sweep, root)
                while part < parts:
                    way = np.int64(0)
                    if phase != BELOW_ROOT:
                        way = np.int64(UP if phase else DOWN if deals else DOWN | UP)
                    elif part < runouts:
                        way = np.int64(RUNOUTS + part)
                    _visit_part(
                        sweep, p, mode, parameters[t], way, part - runouts, root, work, rows, scales, cursor, here
                    )
                    part = fetch_add(shared, TICKET, 1) if phase == BELOW_ROOT else np.int64(parts)
                if phase <= BELOW_ROOT:
                    wait(shared, members)
