"""External-sampling Monte Carlo CFR on a sampling tree: all actions of the traverser, one of every other player.

One traversal for traverser i plays a deal (a bucket per player and street, a showdown rank per player) down the tree::

    nodes of i        all actions a are followed:        v = sum_a sigma(a) v(a),   R(a) += v(a) - v
    nodes of others   one action is drawn from sigma:    v = v(drawn),              S(a) += sigma(a)

    sigma(a) = max(R(a), 0) / sum_b max(R(b), 0), uniform where no regret is positive.

Two loops over a queue replace the recursion. The forward loop fills a breadth-first queue of reached nodes (each node
at most once) and prefetches their table rows. The backward loop over the same queue passes values to parents. Row
fetches thus overlap, and a traversal allocates nothing.

M is the number of sampling nodes, P of players, S of streets, A of actions of a node and n of deals.

The table is flat float32 or float64. The row of infoset (node, bucket) starts at 2 * (row + bucket * stride) and has A
regrets followed by A strategy sums, so that a visit touches one place in memory. Several threads may share a table.
Their unlocked updates occasionally lose an increment, which averages out like sampling noise. With one thread the
result depends only on table, deals and random state.
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
    """Scratch of one thread.

    Attributes:
        queue: int32 [M] queue of nodes.
        link: int32 [M] where the children of each begin in the queue.
        values: float32 [M] values of the queued nodes.
    """

    queue: I32
    link: I32
    values: F32


def new_scratch(size: int) -> TraversalScratch:
    """Create scratch for a tree of `size` nodes."""
    queue, link = np.zeros((2, size), dtype=np.int32)
    return TraversalScratch(queue, link, np.zeros(size, dtype=np.float32))


_SCRATCH = "TraversalScratch(i4_1, i4_1, f4_1)"


@njit(**KERNEL)
def traverse(
    tree: Tree, table: Reals, buckets: I32, ranks: I32, traverser: int, rng: U64, scratch: TraversalScratch
) -> tuple[int, int]:
    """Traverse one deal.

    Args:
        tree: the sampling tree.
        table: [entries] regrets and strategy sums; updated.
        buckets: int32 [P, S] buckets of the deal.
        ranks: int32 [P] showdown ranks of the deal.
        traverser: the player whose regrets are updated.
        rng: uint64 [4] random state; advanced.
        scratch: scratch [M] of this thread.

    Returns:
        Number of nodes visited, and of decisions of the traverser.
    """
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
    """Prefetch the row of a node if it is a decision."""
    if tree.nodes[node].kind == DECISION:
        player, street = tree.nodes[node].player, tree.nodes[node].street
        below = np.int64(buckets[player, street]) * tree.strides[player, street]
        prefetch(table, 2 * (tree.nodes[node].row + below))


@entry(*(f"{TREE}, {table}, {DEALS}, u8_1, {_SCRATCH}" for table in ("f4_1", "f8_1")))
def external_sampling(tree: Tree, table: Reals, deals: Deals, rng: U64, scratch: TraversalScratch) -> tuple[int, int]:
    """Traverse every deal of a batch for every player.

    Args:
        tree: the sampling tree.
        table: [entries] regrets and strategy sums; updated.
        deals: n deals.
        rng: uint64 [4] random state; advanced.
        scratch: scratch [M] of this thread.

    Returns:
        Number of nodes visited, and of decisions of the traversers.
    """
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
    """Sum the largest positive regret over all infosets.

    Args:
        tree: the sampling tree.
        table: [entries] regrets and strategy sums.
        num_buckets: int32 [S] number of buckets on each street.
    """
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
