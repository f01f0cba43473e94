"""Triton kernels of a sweep of vector-form CFR; their inputs are described in `poker.solve.torch.tables`.

A sweep for player p has four steps. Level by level, `push` sends the opponent's reach down and adds their average
strategy up. `terminals` and `depth_limits` compute values at the ends, for all levels at once. From the last level up,
`deal` sums values over the boards and `pull` computes values and regrets. A program of `push` and `pull` has some hands
of one board and processes one component, node by node.

At a fold, a hand's value is a sum over all opposing hands; at a showdown it is the sum over weaker hands minus the sum
over stronger ones. From both, the same sum over hands that share a card is subtracted. These are running sums of the
row of reach in order of strength, and card by card, read at each hand's places. All-ins and the depth limit are matrix
products. Their factors are split into parts of eleven bits, which tensor cores multiply exactly, so that sums have the
precision of float32.

With `TRITON_INTERPRET=1`, which is the default if PyTorch has no CUDA, everything runs on the CPU in numpy. That is
slow and meant for tests.
"""

import os
import sys

import torch

from poker.run.errors import PokernetsError
from poker.solve.torch import columns as t

if "triton" not in sys.modules and not torch.backends.cuda.is_built():  # type: ignore[no-untyped-call]
    os.environ.setdefault("TRITON_INTERPRET", "1")  # Triton reads it at import
try:
    import triton
    import triton.language as tl
except ImportError:
    raise PokernetsError(
        "solving on a device needs Triton, which comes with PyTorch for CUDA: pip install triton, or use device=cpu"
    ) from None

INTERPRETED = not isinstance(tl.sum, triton.JITFunction)

ALL_IN = tl.constexpr(t.ALL_IN)
PARENT, GAME, CHILDREN, CHILDREN_END = (tl.constexpr(c) for c in (t.PARENT, t.GAME, t.CHILDREN, t.CHILDREN_END))
RUNOUT, LIST, SIZE, PAD, BLOCK = (tl.constexpr(c) for c in (t.RUNOUT, t.LIST, t.SIZE, t.PAD, t.BLOCK))
REACH, VALUE, ROOT, DOWN = (tl.constexpr(c) for c in (t.REACH, t.VALUE, t.ROOT, t.DOWN))
ORBIT, ORBITS, VECTORS = (tl.constexpr(c) for c in (t.ORBIT, t.ORBITS, t.VECTORS))
CLUSTER_STARTS, BOARD = tl.constexpr(t.CLUSTER_STARTS), tl.constexpr(t.BOARD_COLUMNS)
PLAYER, FIRST, ACTIONS, ENTRY = (tl.constexpr(c) for c in (t.PLAYER, t.FIRST, t.ACTIONS, t.ENTRY))
REACH_ROW, VALUE_ROW, NODE = (tl.constexpr(c) for c in (t.REACH_ROW, t.VALUE_ROW, t.NODE_COLUMNS))
COMPONENT_ROOT, DEAL, DECISIONS = (tl.constexpr(c) for c in (t.COMPONENT_ROOT, t.DEAL, t.DECISIONS))
DECISIONS_OF, MIXED, PRODUCTS = (tl.constexpr(c) for c in (t.DECISIONS_OF, t.MIXED, t.PRODUCTS))
FACTORS, COMPONENT = tl.constexpr(t.FACTORS), tl.constexpr(t.COMPONENT_COLUMNS)
MATRICES, CLUSTERS, OWNER = (tl.constexpr(c) for c in (t.MATRICES, t.CLUSTERS, t.OWNER))
CONTINUATIONS, OF_GAME = tl.constexpr(t.CONTINUATIONS), tl.constexpr(t.GAME_COLUMNS)

SOLVE, BEST_RESPONSE, AVERAGE = (tl.constexpr(mode) for mode in range(3))
"""Modes of `pull` at p's nodes: update regrets, take the best action, or follow p's average strategy."""

CARDS = tl.constexpr(t.CARDS)
ALL_CARDS = tl.constexpr(t.CARDS - 1)
"""Slot of a product over cards that contains every hand; the other slots are cards."""


@triton.jit
def _exact_dot(exact, factor, acc):
    """Return acc + exact @ factor, where the entries of `exact` have at most eleven bits."""
    high = (factor.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
    acc = tl.dot(exact, high, acc, input_precision="tf32")
    return tl.dot(exact, factor - high, acc, input_precision="tf32")


@triton.jit(do_not_specialize=["p"])
def push(
    pairs, boards, components, decisions, nodes, products, up, roots,
    vectors, source, sums, modelled, parameters, reach, p,
    ADDS: tl.constexpr, MODELLED: tl.constexpr, WIDTH: tl.constexpr, HANDS: tl.constexpr,
) -> None:  # fmt: skip
    """Compute the opponent's reach on one level.

    Strategies are proportional to `source`. With ADDS they are added to `sums`. With MODELLED a part of the reach is
    given by `modelled`, and only the rest follows the strategy.
    """
    q = 1 - p
    board = boards + tl.load(pairs + 2 * tl.program_id(0)).to(tl.int64) * BOARD
    component = components + tl.load(pairs + 2 * tl.program_id(0) + 1) * COMPONENT
    size, pad = tl.load(board + SIZE + q), tl.load(board + PAD + q)
    start = tl.program_id(1) * HANDS
    if start >= size:
        return
    hands = start + tl.arange(0, HANDS)
    live = hands < size
    rows = reach + tl.load(board + REACH + p)
    above, deal = tl.load(board + PARENT), tl.load(component + DEAL)
    if deal < 0:
        coming = tl.load(roots + tl.load(board + ROOT + q) + hands, mask=live, other=0.0)
    else:
        parent = boards + above * BOARD
        place = tl.load(up + tl.load(board + LIST + q) + hands, mask=live, other=0)
        row = tl.load(nodes + deal * NODE + REACH_ROW + p).to(tl.int64) * tl.load(parent + PAD + q)
        coming = tl.load(reach + tl.load(parent + REACH + p) + row + place, mask=live, other=0.0)
    root = nodes + tl.load(component + COMPONENT_ROOT) * NODE
    tl.store(rows + tl.load(root + REACH_ROW + p).to(tl.int64) * pad + hands, coming, mask=live)
    block, weight = tl.load(board + BLOCK + q), tl.load(parameters + 5)
    a = tl.arange(0, WIDTH)[:, None]
    for i in range(tl.load(component + DECISIONS_OF + 2 * q), tl.load(component + DECISIONS_OF + 2 * q + 1)):
        tl.debug_barrier()
        node = nodes + tl.load(decisions + i) * NODE
        count, first = tl.load(node + ACTIONS), tl.load(node + FIRST)
        coming = tl.load(rows + tl.load(node + REACH_ROW + p).to(tl.int64) * pad + hands, mask=live, other=0.0)
        inside = (a < count) & live[None, :]
        at = block + (tl.load(node + ENTRY).to(tl.int64) + a) * pad + hands[None, :]
        weights = tl.maximum(tl.load(source + at, mask=inside, other=0.0), 0.0)
        mass = tl.sum(weights, axis=0)
        if MODELLED:
            fixed = tl.load(modelled + at, mask=inside, other=0.0)
            coming = tl.maximum(coming - tl.sum(fixed, axis=0), 0.0)
        inverse = tl.where(mass > 0, coming / tl.where(mass > 0, mass, 1.0), 0.0)
        shares = weights * inverse[None, :] + tl.where(mass > 0, 0.0, coming / count)[None, :]
        if ADDS:
            tl.store(sums + at, tl.load(sums + at, mask=inside, other=0.0) + shares * weight, mask=inside)
        if MODELLED:
            shares += fixed
        child = tl.load(nodes + first * NODE + REACH_ROW + p).to(tl.int64) + a
        tl.store(rows + child * pad + hands[None, :], shares, mask=inside)
    for i in range(tl.load(component + FACTORS + 2 * p), tl.load(component + FACTORS + 2 * p + 1)):
        tl.debug_barrier()
        at = rows + tl.load(products + 3 * i).to(tl.int64) * pad + hands
        vector = vectors + tl.load(board + VECTORS + q) + tl.load(products + 3 * i + 2).to(tl.int64) * pad + hands
        tl.store(at, tl.load(at, mask=live, other=0.0) * tl.load(vector, mask=live, other=0.0), mask=live)


@triton.jit(do_not_specialize=["p"])
def pull(
    pairs, boards, components, decisions, nodes, scales, mixed, mix,
    products, vectors, regrets, source, sums, parameters, values, p,
    MODE: tl.constexpr, PREDICTIVE: tl.constexpr, WIDTH: tl.constexpr, HANDS: tl.constexpr,
) -> None:  # fmt: skip
    """Compute values of p on one level from values at terminals and deals, and update p's regrets."""
    board = boards + tl.load(pairs + 2 * tl.program_id(0)).to(tl.int64) * BOARD
    component = components + tl.load(pairs + 2 * tl.program_id(0) + 1) * COMPONENT
    size, pad = tl.load(board + SIZE + p), tl.load(board + PAD + p)
    start = tl.program_id(1) * HANDS
    if start >= size:
        return
    hands = start + tl.arange(0, HANDS)
    live = hands < size
    rows = values + tl.load(board + VALUE + p)
    for i in range(tl.load(component + MIXED + 2 * p), tl.load(component + MIXED + 2 * p + 1)):
        won = tl.load(rows + tl.load(mixed + 3 * i + 1).to(tl.int64) * pad + hands, mask=live, other=0.0)
        held = tl.load(rows + tl.load(mixed + 3 * i + 2).to(tl.int64) * pad + hands, mask=live, other=0.0)
        value = won * tl.load(mix + 2 * i) + held * tl.load(mix + 2 * i + 1)
        tl.store(rows + tl.load(mixed + 3 * i).to(tl.int64) * pad + hands, value, mask=live)
    for i in range(tl.load(component + PRODUCTS + 2 * p), tl.load(component + PRODUCTS + 2 * p + 1)):
        held = tl.load(rows + tl.load(products + 3 * i + 1).to(tl.int64) * pad + hands, mask=live, other=0.0)
        vector = vectors + tl.load(board + VECTORS + p) + tl.load(products + 3 * i + 2).to(tl.int64) * pad + hands
        tl.debug_barrier()
        value = held * tl.load(vector, mask=live, other=0.0)
        tl.store(rows + tl.load(products + 3 * i).to(tl.int64) * pad + hands, value, mask=live)
    block = tl.load(board + BLOCK + p)
    positive, negative, floor = tl.load(parameters), tl.load(parameters + 1), tl.load(parameters + 2)
    carry, prediction = tl.load(parameters + 3), tl.load(parameters + 4)
    a = tl.arange(0, WIDTH)
    end = tl.load(component + DECISIONS + 1)
    for i in range(tl.load(component + DECISIONS), end):
        tl.debug_barrier()
        node = nodes + tl.load(decisions + end - 1 - i + tl.load(component + DECISIONS)) * NODE
        count, first = tl.load(node + ACTIONS), tl.load(node + FIRST)
        inside = (a < count)[:, None] & live[None, :]
        row = tl.load(nodes + (first + a) * NODE + VALUE_ROW + p, mask=a < count, other=0).to(tl.int64)
        scale = tl.load(scales + 2 * (first + a) + p, mask=a < count, other=0.0)
        children = tl.load(rows + row[:, None] * pad + hands[None, :], mask=inside, other=0.0) * scale[:, None]
        if tl.load(node + PLAYER) != p:
            value = tl.sum(children, axis=0)
        elif MODE == BEST_RESPONSE:
            value = tl.max(tl.where(inside, children, float("-inf")), axis=0)
        else:
            at = block + (tl.load(node + ENTRY).to(tl.int64) + a[:, None]) * pad + hands[None, :]
            if MODE == AVERAGE:
                weights = tl.maximum(tl.load(sums + at, mask=inside, other=0.0), 0.0)
            else:
                weights = tl.maximum(tl.load(source + at, mask=inside, other=0.0), 0.0)
            mass = tl.sum(weights, axis=0)
            inverse = tl.where(mass > 0, 1.0 / tl.where(mass > 0, mass, 1.0), 0.0)
            rest = tl.where(mass > 0, 0.0, 1.0 / count)
            value = tl.sum((weights * inverse[None, :] + rest[None, :]) * children, axis=0)
            if MODE == SOLVE:
                gain = children - value[None, :]
                old = tl.load(regrets + at, mask=inside, other=0.0)
                new = tl.maximum(old * tl.where(old > 0, positive, negative) + gain, floor)
                tl.store(regrets + at, new, mask=inside)
                if PREDICTIVE:
                    tl.store(source + at, new * carry + gain * prediction, mask=inside)
        tl.store(rows + tl.load(node + VALUE_ROW + p).to(tl.int64) * pad + hands, value, mask=live)


@triton.jit(do_not_specialize=["p"])
def deal(
    pairs, boards, components, nodes, scales, weights, down, members,
    values, p, MEMBERS: tl.constexpr, BOARDS: tl.constexpr, HANDS: tl.constexpr,
) -> None:  # fmt: skip
    """Compute values of p at STREET nodes: sums over the boards below, in a fixed order.

    With MEMBERS > 1 they are means over orbits of hands; a program has HANDS orbits.
    """
    board = boards + tl.load(pairs + 2 * tl.program_id(0)).to(tl.int64) * BOARD
    component = components + tl.load(pairs + 2 * tl.program_id(0) + 1) * COMPONENT
    size, pad = tl.load(board + SIZE + p), tl.load(board + PAD + p)
    number = size
    if MEMBERS > 1:
        number = tl.load(board + ORBITS + p)
    start = tl.program_id(1) * HANDS
    if start >= number:
        return
    orbits = start + tl.arange(0, HANDS)
    member = tl.arange(0, MEMBERS)[:, None]
    if MEMBERS > 1:
        at = members + tl.load(board + ORBIT + p) + orbits[None, :] * MEMBERS + member
        hands = tl.load(at, mask=orbits[None, :] < number, other=-1).to(tl.int32)
    else:
        hands = tl.where(orbits[None, :] < number, orbits[None, :], -1) + 0 * member
    root = tl.load(component + COMPONENT_ROOT)
    root_row = tl.load(nodes + root * NODE + VALUE_ROW + p).to(tl.int64)
    acc = tl.zeros([BOARDS, MEMBERS, HANDS], tl.float32)
    first, last = tl.load(board + CHILDREN), tl.load(board + CHILDREN_END)
    for begin in range(first, last, BOARDS):
        number_below = begin + tl.arange(0, BOARDS)
        exists = number_below < last
        below = boards + number_below * BOARD
        rows = tl.load(below + VALUE + p, mask=exists, other=0)
        rows += root_row * tl.load(below + PAD + p, mask=exists, other=0)
        lists, weight = (
            tl.load(below + DOWN + p, mask=exists, other=0),
            tl.load(weights + number_below, mask=exists, other=0.0),
        )
        wanted = exists[:, None, None] & (hands[None, :, :] >= 0)
        place = tl.load(down + lists[:, None, None] + hands[None, :, :], mask=wanted, other=-1)
        value = tl.load(values + rows[:, None, None] + place, mask=wanted & (place >= 0), other=0.0)
        acc += value * weight[:, None, None]
    total = tl.sum(acc, axis=0) * tl.load(scales + 2 * root + p)
    if MEMBERS > 1:
        count = tl.sum((hands >= 0).to(tl.float32), axis=0)
        total = (tl.sum(total, axis=0) / tl.maximum(count, 1.0))[None, :] + 0.0 * total
    slot = tl.load(nodes + tl.load(component + DEAL) * NODE + VALUE_ROW + p).to(tl.int64)
    tl.store(values + tl.load(board + VALUE + p) + slot * pad + hands, total, mask=hands >= 0)


@triton.jit
def _by_card(order, card_start, number, theirs, coming, q):
    """Return [CARDS, CARDS] reach of q's hands that contain each card, in an `order` of the list of board `number`."""
    card = tl.arange(0, CARDS)
    starts = card_start + number * (2 * CARDS) + q * CARDS + card
    first = tl.load(starts).to(tl.int32)
    last = tl.load(starts + 1, mask=card < CARDS - 1, other=0).to(tl.int32)
    place = first[:, None] + card[None, :]
    inside = place < last[:, None]
    holder = tl.load(order + 2 * theirs + place, mask=inside, other=0).to(tl.int32)
    return tl.load(coming + holder, mask=inside, other=0.0)


@triton.jit
def _all_ins(end, board, rows, runouts, reach, values, p, size, pad, ROWS: tl.constexpr, TILE: tl.constexpr):
    """Compute a tile of all-ins or of controls: ROWS rows of reach and TILE of p's hands."""
    others, width = tl.load(board + SIZE + 1 - p), tl.load(board + PAD + 1 - p)
    hands = tl.load(end + 4) + tl.arange(0, TILE)
    live = hands < size
    row = tl.load(end + 2) + tl.arange(0, ROWS)
    there = row < tl.load(end + 3)
    from_row = tl.load(rows + 4 * row, mask=there, other=0).to(tl.int64)
    own_step, other_step = tl.where(p == 0, 1, tl.load(board + PAD)), tl.where(p == 0, tl.load(board + PAD), 1)
    matrix = runouts + tl.load(board + RUNOUT + tl.load(end + 1) - ALL_IN) + hands[:, None] * own_step
    acc = tl.zeros([TILE, ROWS], tl.float32)
    for begin in range(0, others, TILE):
        k = begin + tl.arange(0, TILE)
        exists = k < others
        results = tl.load(matrix + k[None, :] * other_step, mask=live[:, None] & exists[None, :], other=0)
        mass = tl.load(reach + from_row[None, :] * width + k[:, None], mask=exists[:, None] & there[None, :], other=0.0)
        acc = _exact_dot(results.to(tl.float32), mass, acc)
    to_row = tl.load(rows + 4 * row + 1, mask=there, other=0).to(tl.int64)
    at = values + to_row[None, :] * pad + hands[:, None]
    tl.store(at, tl.where(p == 0, acc, -acc), mask=live[:, None] & there[None, :])


@triton.jit(do_not_specialize=["p"])
def terminals(
    ends, boards, rows, card0, card1, same, less_upto, by_card, card_start, card_less_upto, runouts,
    reach, values, p, ALL_INS: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr, TILE: tl.constexpr,
):  # fmt: skip
    """Compute values of p at folds, showdowns and all-ins, before they are scaled by the stakes.

    At a fold the value is the mass of compatible hands, and at a showdown the weaker mass minus the stronger. At an
    all-in it is the sum of showdown values over the boards to come. A program has one row of reach, of at most WIDTH
    hands, or a tile of all-ins: ROWS rows of reach and TILE of p's hands.
    """
    q = 1 - p
    end = ends + 5 * tl.program_id(0)
    number = tl.load(end).to(tl.int64)
    board = boards + number * BOARD
    size, pad, own = tl.load(board + SIZE + p), tl.load(board + PAD + p), tl.load(board + LIST + p)
    others, width, theirs = tl.load(board + SIZE + q), tl.load(board + PAD + q), tl.load(board + LIST + q)
    come, value_rows = reach + tl.load(board + REACH + p), values + tl.load(board + VALUE + p)
    if ALL_INS:  # noqa: SIM102 - a compile-time constant; the kernel needs fewer registers without the other branch
        if tl.load(end + 1) >= ALL_IN:
            _all_ins(end, board, rows, runouts, come, value_rows, p, size, pad, ROWS, TILE)
            return
    hands = tl.arange(0, WIDTH)
    live = hands < size
    coming = come + tl.load(end + 2).to(tl.int64) * width
    fold_row, show_row = tl.load(end + 3), tl.load(end + 4)
    held = _by_card(by_card, card_start, number, theirs, coming, q)
    mass = tl.load(coming + hands, mask=hands < others, other=0.0)
    total, totals = tl.sum(mass, axis=0), tl.sum(held, axis=1)
    a0 = tl.load(card0 + own + hands, mask=live, other=0).to(tl.int32)
    a1 = tl.load(card1 + own + hands, mask=live, other=0).to(tl.int32)
    if fold_row >= 0:
        twin = tl.load(same + own + hands, mask=live, other=-1).to(tl.int32)
        met = tl.load(coming + twin, mask=(twin >= 0) & (twin < others), other=0.0)
        value = total - tl.gather(totals, a0, 0) - tl.gather(totals, a1, 0) + met
        tl.store(value_rows + fold_row.to(tl.int64) * pad + hands, value, mask=live)
    if show_row >= 0:
        both = tl.arange(0, 2)
        at = tl.load(less_upto + 2 * (own + hands)[:, None] + both[None, :], mask=live[:, None], other=0).to(tl.int32)
        before = tl.cumsum(mass, axis=0) - mass - 0.5 * total
        value = tl.sum(tl.reshape(tl.gather(before, tl.reshape(at, [2 * WIDTH]), 0), [WIDTH, 2]), axis=1)
        four = tl.arange(0, 4)
        at = tl.load(card_less_upto + 4 * (own + hands)[:, None] + four[None, :], mask=live[:, None], other=0)
        at = tl.reshape(at.to(tl.int32), [4 * WIDTH])
        before = tl.cumsum(held, axis=1) - held - 0.5 * totals[:, None]
        taken = tl.gather(tl.reshape(before, [CARDS * CARDS]), at, 0)
        value -= tl.sum(tl.reshape(taken, [WIDTH, 4]), axis=1)
        tl.store(value_rows + show_row.to(tl.int64) * pad + hands, value, mask=live)


@triton.jit(do_not_specialize=["p"])
def depth_limits(
    leaves, boards, games, rows, card0, card1, same, own_clusters, their_clusters, by_cluster, card_start,
    cluster_starts, matrices, reach, by_card, values, p, WIDTH: tl.constexpr, BLOCK: tl.constexpr, HANDS: tl.constexpr,
):  # fmt: skip
    """Compute values of p at a leaf: its cluster matrix times the opponent's reach by cluster.

    Hands that share a card are excluded. WIDTH is at least the number of clusters. `by_card` [leaves, CARDS, WIDTH] is
    scratch memory.
    """
    q = 1 - p
    item = leaves + 2 * tl.program_id(0)
    number = tl.load(item).to(tl.int64)
    board = boards + number * BOARD
    row = rows + 4 * tl.load(item + 1)
    game = games + tl.load(board + GAME) * OF_GAME
    size, pad, own = tl.load(board + SIZE + p), tl.load(board + PAD + p), tl.load(board + LIST + p)
    others, width, theirs = tl.load(board + SIZE + q), tl.load(board + PAD + q), tl.load(board + LIST + q)
    coming = reach + tl.load(board + REACH + p) + tl.load(row).to(tl.int64) * width
    mine, their = tl.load(game + CLUSTERS + p), tl.load(game + CLUSTERS + q)
    matrix = tl.load(row + 2).to(tl.int64) * tl.load(game + CONTINUATIONS) + tl.load(row + 3)
    matrix = matrices + tl.load(game + MATRICES) + matrix * mine * their
    owned = tl.load(game + OWNER) == p
    own_step, other_step = tl.where(owned, their, 1), tl.where(owned, 1, mine)
    card, block = tl.arange(0, CARDS), tl.arange(0, BLOCK)
    held = _by_card(by_cluster, card_start, number, theirs, coming, q)
    before = tl.cumsum(held, axis=1) - held
    edges = cluster_starts + tl.load(board + CLUSTER_STARTS + q) + card[:, None] * (WIDTH + 1)
    scratch = by_card + tl.program_id(0).to(tl.int64) * CARDS * WIDTH
    for first in range(0, WIDTH, BLOCK):
        chips = tl.zeros([CARDS, BLOCK], tl.float32)
        for begin in range(0, WIDTH, BLOCK):
            edge = edges + (begin + block)[None, :]
            parts = tl.gather(before, tl.load(edge + 1).to(tl.int32), 1)
            parts -= tl.gather(before, tl.load(edge).to(tl.int32), 1)
            parts = tl.where((card == ALL_CARDS)[:, None], 0.5 * tl.sum(parts, axis=0)[None, :], parts)
            inside = ((begin + block)[:, None] < their) & ((first + block)[None, :] < mine)
            at = matrix + (begin + block)[:, None] * other_step + (first + block)[None, :] * own_step
            pays = tl.load(at, mask=inside, other=0.0)
            high = (parts.to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
            middle = ((parts - high).to(tl.int32, bitcast=True) & -8192).to(tl.float32, bitcast=True)
            chips = _exact_dot(high, pays, chips)
            chips = _exact_dot(middle, pays, chips)
            chips = _exact_dot(parts - high - middle, pays, chips)
        tl.store(scratch + card[:, None] * WIDTH + (first + block)[None, :], tl.where(owned, chips, -chips))
    tl.debug_barrier()
    to = values + tl.load(board + VALUE + p) + tl.load(row + 1).to(tl.int64) * pad
    for start in range(0, size, HANDS):
        hands = start + tl.arange(0, HANDS)
        live = hands < size
        of = tl.load(own_clusters + own + hands, mask=live, other=-1).to(tl.int32)
        valued = live & (of >= 0)
        a0 = tl.load(card0 + own + hands, mask=live, other=0).to(tl.int32)
        a1 = tl.load(card1 + own + hands, mask=live, other=0).to(tl.int32)
        value = tl.load(scratch + ALL_CARDS * WIDTH + of, mask=valued, other=0.0)
        value -= tl.load(scratch + a0 * WIDTH + of, mask=valued, other=0.0)
        value -= tl.load(scratch + a1 * WIDTH + of, mask=valued, other=0.0)
        twin = tl.load(same + own + hands, mask=live, other=-1).to(tl.int32)
        met = valued & (twin >= 0) & (twin < others)
        other = tl.load(their_clusters + theirs + twin, mask=met, other=-1).to(tl.int32)
        met &= other >= 0
        pair = tl.load(matrix + of * own_step + other * other_step, mask=met, other=0.0)
        value += tl.where(owned, pair, -pair) * tl.load(coming + twin, mask=met, other=0.0)
        tl.store(to + hands, value, mask=live)


@triton.jit(do_not_specialize=["p"])
def root_chips(firsts, boards, components, nodes, roots, values, chips, p, HANDS: tl.constexpr) -> None:
    """Compute the sum of p's values at a root, weighted by the range.

    `firsts` [G, 2] are the roots' boards and components.
    """
    board = boards + tl.load(firsts + 2 * tl.program_id(0)).to(tl.int64) * BOARD
    component = components + tl.load(firsts + 2 * tl.program_id(0) + 1) * COMPONENT
    hands = tl.arange(0, HANDS)
    live = hands < tl.load(board + SIZE + p)
    root = nodes + tl.load(component + COMPONENT_ROOT) * NODE
    row = tl.load(root + VALUE_ROW + p).to(tl.int64) * tl.load(board + PAD + p)
    value = tl.load(values + tl.load(board + VALUE + p) + row + hands, mask=live, other=0.0).to(tl.float64)
    weight = tl.load(roots + tl.load(board + ROOT + p) + hands, mask=live, other=0.0).to(tl.float64)
    tl.store(chips + tl.program_id(0), tl.sum(value * weight, axis=0))
