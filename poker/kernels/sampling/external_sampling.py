"""External-sampling Monte-Carlo CFR on a sampling tree: every action of the traverser, one of everybody else.

One traversal for traverser i plays a deal (a bucket per player and street, a showdown rank per player) down the tree:

    nodes of i        all actions a are followed:        v = sum_a sigma(a) v(a),   R(a) += v(a) - v
    nodes of others   one action is drawn from sigma:    v = v(drawn),              S(a) += sigma(a)
    sigma(a) = max(R(a), 0) / sum_b max(R(b), 0), uniform where no regret is positive.

It is done in two loops over a queue and not by recursion: forward, a breadth-first queue of reached nodes (each
node at most once), whose table rows are prefetched when they are queued; then backward over the same queue, values
to parents. Row fetches thus overlap, and a traversal allocates nothing.

Symbols: M sampling nodes, P players, S streets, A actions of a node, n deals.

The table is flat float32 or float64; infoset (node, bucket) owns the row that starts at 2 * (row + bucket * stride):
A regrets, then A strategy sums, side by side so that a visit touches one place in memory.

Several threads may run on one table: the unlocked updates may then lose an increment now and then, which
averages out as sampling noise does; with one thread the result is a function of table, deals and generator alone.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from poker.kernels.registry import KERNEL, entry, inline
from poker.kernels.rng import next_float
from poker.kernels.sampling.nodes import DEALS, DECISION, MULTIWAY, TREE, Deals, Tree, duel_payoff, multiway_payoff
from poker.kernels.simd import prefetch
from poker.kernels.types import F32, I32, U64, Reals


class TraversalScratch(NamedTuple):
    """[M] each, for one thread: the queue of nodes, where the children of each begin in it, and values."""

    queue: I32
    link: I32
    values: F32


def new_scratch(size: int) -> TraversalScratch:
    """For a tree of `size` nodes."""
    queue, link = np.zeros((2, size), dtype=np.int32)
    return TraversalScratch(queue, link, np.zeros(size, dtype=np.float32))


_SCRATCH = "TraversalScratch(i4_1, i4_1, f4_1)"


@njit(**KERNEL)
def traverse(
    tree: Tree, table: Reals, buckets: I32, ranks: I32, traverser: int, rng: U64, scratch: TraversalScratch
) -> tuple[int, int]:
    """One traversal of a deal, buckets [P, S], ranks [P]; returns nodes visited and decisions of the traverser."""
    nodes, strides, committed, folded = tree
    queue, link, values = scratch
    queue[0] = 0
    tail = 1
    head = 0
    decisions = 0
    while head < tail:
        node = queue[head]
        kind = nodes[node].kind
        if kind == DECISION:
            player, street = nodes[node].player, nodes[node].street
            arity, first = nodes[node].arity, nodes[node].first
            row = 2 * (nodes[node].row + np.int64(buckets[player, street]) * strides[player, street])
            link[head] = tail
            if player == traverser:
                decisions += 1
                for a in range(arity):
                    queue[tail] = first + a
                    tail += 1
                    _fetch(tree, table, buckets, first + a)
            else:
                total = np.float32(0.0)
                for a in range(arity):
                    total += max(table[row + a], np.float32(0.0))
                threshold = np.float32(next_float(rng))
                drawn = -1
                if total > 0.0:
                    scale = np.float32(1.0) / total
                    for a in range(arity):
                        probability = max(table[row + a], np.float32(0.0)) * scale
                        table[row + arity + a] += probability
                        if probability > 0.0 and threshold >= 0.0:
                            drawn = a
                            threshold -= probability
                else:
                    drawn = min(arity - 1, int(threshold * arity))
                    for a in range(arity):
                        table[row + arity + a] += np.float32(1.0) / np.float32(arity)
                child = first + drawn
                queue[tail] = child
                tail += 1
                _fetch(tree, table, buckets, child)
        elif kind == MULTIWAY:
            end = nodes[node].row
            values[head] = multiway_payoff(committed[end], folded[end], ranks, traverser)
        else:
            lead = ranks[traverser] - ranks[1 - traverser]
            values[head] = duel_payoff(kind, nodes[node].row, traverser, lead)
        head += 1

    for head in range(tail - 1, -1, -1):
        node = queue[head]
        if nodes[node].kind != DECISION:
            continue
        first = link[head]
        player, street = nodes[node].player, nodes[node].street
        if player != traverser:
            values[head] = values[first]
            continue
        arity = nodes[node].arity
        row = 2 * (nodes[node].row + np.int64(buckets[player, street]) * strides[player, street])
        total = np.float32(0.0)
        mean = np.float32(0.0)
        plain = np.float32(0.0)
        for a in range(arity):
            regret = max(table[row + a], np.float32(0.0))
            total += regret
            mean += regret * values[first + a]
            plain += values[first + a]
        mean = mean / total if total > 0.0 else plain / np.float32(arity)
        values[head] = mean
        for a in range(arity):
            table[row + a] += values[first + a] - mean
    return tail, decisions


@inline
def _fetch(tree: Tree, table: Reals, buckets: I32, node: int) -> None:
    """Ask for the row of a node if it is a decision."""
    if tree.nodes[node].kind == DECISION:
        player, street = tree.nodes[node].player, tree.nodes[node].street
        below = np.int64(buckets[player, street]) * tree.strides[player, street]
        prefetch(table, 2 * (tree.nodes[node].row + below))


@entry(*(f"{TREE}, {table}, {DEALS}, u8_1, {_SCRATCH}" for table in ("f4_1", "f8_1")))
def external_sampling(tree: Tree, table: Reals, deals: Deals, rng: U64, scratch: TraversalScratch) -> tuple[int, int]:
    """One traversal for every player on every deal of a batch; returns nodes visited and traversers' decisions."""
    visits, decisions = 0, 0
    for deal in range(deals.buckets.shape[0]):
        for traverser in range(deals.buckets.shape[1]):
            buckets, ranks = deals.buckets[deal], deals.ranks[deal]
            visited, own = traverse(tree, table, buckets, ranks, traverser, rng, scratch)
            visits += visited
            decisions += own
    return visits, decisions


@entry(f"{TREE}, f4_1, i4_1", f"{TREE}, f8_1, i4_1")
def positive_regret(tree: Tree, table: Reals, num_buckets: I32) -> float:
    """Sum over all infosets of the largest positive regret. num_buckets [S]."""
    nodes, strides = tree.nodes, tree.strides
    total = 0.0
    for node in range(nodes.shape[0]):
        if nodes[node].kind != DECISION:
            continue
        player, street = nodes[node].player, nodes[node].street
        for bucket in range(num_buckets[street]):
            row = 2 * (nodes[node].row + np.int64(bucket) * strides[player, street])
            best = 0.0
            for a in range(nodes[node].arity):
                best = max(best, table[row + a])
            total += best
    return total
