"""Extensive-form UCT and Smooth UCT [SUCT], algorithms 1 and 2: one tree over information states per player.

An episode plays one deal to its end. At an information state u of the player's tree::

    UCT         a = argmax_a  Q(u, a) + c sqrt(log N(u) / N(u, a)),  untried actions first
    Smooth UCT  UCT with probability eta_k = max(gamma, eta / (1 + d sqrt(N(u)))), else a ~ N(u, .) / N(u)

A state that is not in the tree is added to it, and its player acts at random from there to the end of the hand.
Afterwards N(u, a) grows by 1, and Q(u, a), the mean of the player's net chips, is updated at the path's states that are
in the tree.

A thread plays one episode after the other, as in the paper, or several in turns, one decision each. While one episode
waits for memory, the others continue. Concurrent episodes choose without the results of the others. In Kuhn poker,
which has 12 information states, nash_conv of UCT after 300,000 episodes is 0.10 chips with 16 episodes together,
compared with 0.04 with one. In Leduc, which has 936, nash_conv of Smooth UCT is the same with 32.

The choice of an action has no data-dependent branches. Rows are read as if all had the largest number of actions in the
tree, and the last action is repeated where there are fewer.

M is the number of sampling nodes, P of players, S of streets, A of actions and n of deals. The table has one entry per
action: (node, bucket, action) is at row + bucket * stride + action. N(u) is the sum of a row's counts. Unlocked threads
may occasionally lose an update.
"""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.registry import entry, inline, kernel
from poker.kernels.rng import next_below, next_u64
from poker.kernels.sampling.nodes import DEALS, DECISION, TREE, Deals, Tree, payoffs
from poker.kernels.simd import prefetch
from poker.kernels.types import F32, I64, U64, Records

MAX_DEPTH = 256
"""Longest path of decisions."""

ACTION64 = np.dtype([("mean", np.float64), ("count", np.int32)])
ACTION32 = np.dtype([("mean", np.float32), ("count", np.int32)])
"""Entries of a table: the mean Q(u, a) in chips and the visits N(u, a), side by side, so that a row occupies one or
two cache lines."""

LANE = np.dtype([("node", np.int64), ("deal", np.int64), ("depth", np.int64), ("outside", np.int64)])
"""An episode in play: its node, deal and number of recorded decisions, and a bit for each player outside the tree."""

_LOG_BITS = 9
_LOGS: F32 = np.log(1 + np.arange(1 << _LOG_BITS) / (1 << _LOG_BITS)).astype(np.float32)
_LOG_2 = np.float32(np.log(2.0))
_HALF, _LOW, _UNIT = np.uint64(32), np.uint64((1 << 32) - 1), 1.0 / (1 << 32)


@inline
def _log(n: int) -> np.float32:
    """Return log n for 0 < n < 2^31, exact for n < 1024, else at most 0.002 too small; 5 times as fast as `np.log`."""
    bits = np.float32(n).view(np.int32)
    exponent = np.float32((bits >> 23) - 127)
    log: np.float32 = _LOGS[(bits >> (23 - _LOG_BITS)) & ((1 << _LOG_BITS) - 1)] + exponent * _LOG_2
    return log


@kernel
def _untried(table: Records, row: int, arity: int, rng: U64) -> int:
    """Return one of the untried actions, uniformly at random."""
    untried = 0
    for a in range(arity):
        untried += table[row + a].count == 0
    skip = np.int64(next_below(rng, untried))
    for a in range(arity):
        if table[row + a].count == 0:
            if skip == 0:
                return a
            skip -= 1
    return arity - 1


@inline
def _upper_confidence(table: Records, row: int, last: int, width: int, total: int, exploration: np.float32) -> int:
    """Return the action of UCT when all have been tried; repeated actions do not change the maximum."""
    log_total = _log(total)
    best, chosen = np.float32(-np.inf), 0
    for a in range(width):
        action = table[row + min(a, last)]
        bound = np.float32(action.mean) + exploration * np.sqrt(log_total / np.float32(action.count))
        chosen += int(np.int64(bound > best)) * (a - chosen)
        best = max(best, bound)
    return chosen


@inline
def _by_counts(table: Records, row: int, last: int, width: int, drawn: int) -> int:
    """Return the action of the average policy, for a number drawn below the sum of the counts."""
    reached, action = 0, 0
    for a in range(width - 1):
        reached += table[row + min(a, last)].count
        action += int(np.int64(drawn >= reached))
    return min(action, last)


@inline
def _explores(eta: float, gamma: float, decay: float, total: int, drawn: float) -> bool:
    """Return True with probability max(gamma, eta / (1 + decay sqrt(total))), without square root and division.

    `drawn` is uniform in [0, 1).
    """
    short, scaled = eta - drawn, decay * drawn
    explores: bool = (drawn < gamma) | ((short > 0.0) & (short * short > scaled * scaled * total))
    return explores


@entry(*(f"{TREE}, {action}_1, f4_1, f8, f8, f8, i8, i8, {DEALS}, u8_1" for action in ("ACTION64", "ACTION32")))
def play_episodes(
    tree: Tree,
    table: Records,
    exploration: F32,
    eta: float,
    gamma: float,
    decay: float,
    width: int,
    together: int,
    deals: Deals,
    rng: U64,
) -> int:
    """Play one episode for each deal of a batch.

    Args:
        tree: the sampling tree.
        table: [entries] means and counts; updated.
        exploration: float32 [M] exploration constant c of each node, in chips.
        eta: initial mixing rate.
        gamma: smallest mixing rate; 1 or more is plain UCT.
        decay: decay d of the mixing rate.
        width: largest number of actions of a decision.
        together: episodes in play at the same time.
        deals: n deals.
        rng: uint64 [4] random state; advanced.

    Returns:
        Number of nodes visited.
    """
    nodes, strides = tree.nodes, tree.strides
    buckets, ranks = deals
    players = ranks.shape[1]
    entries = np.empty((together, MAX_DEPTH), dtype=np.int64)
    actors = np.empty((together, MAX_DEPTH), dtype=np.int32)
    results = np.empty(players, dtype=np.float64)
    lanes = np.zeros(together, dtype=LANE)
    for k in range(together):
        lanes[k].deal = k
    started = live = min(together, len(ranks))
    visits, k = 0, 0
    while live > 0:
        k = k + 1 if k + 1 < live else 0
        node, deal, depth, outside = lanes[k].node, lanes[k].deal, lanes[k].depth, lanes[k].outside
        visits += 1
        if nodes[node].kind == DECISION:
            player, last = int(nodes[node].player), int(nodes[node].arity) - 1
            street, first = nodes[node].street, int(nodes[node].first)
            if outside >> player & 1:
                lanes[k].node = first + np.int64(next_below(rng, last + 1))
                continue
            row = nodes[node].row + np.int64(buckets[deal, player, street]) * strides[player, street]
            if together == 1:  # one of these is next, and its row is not in the cache
                for a in range(width):
                    _fetch(tree, table, buckets[deal], first + min(a, last))
            total, least = 0, 1
            for a in range(width):
                count = int(table[row + min(a, last)].count)
                total += count * int(np.int64(a <= last))
                least = min(least, count)
            if total == 0:
                lanes[k].outside = outside | 1 << player
                action = int(np.int64(next_below(rng, last + 1)))
            else:
                if least > 0:
                    action = _upper_confidence(table, row, last, width, total, exploration[node])
                else:
                    action = _untried(table, row, last + 1, rng)
                if gamma < 1.0:
                    drawn = next_u64(rng)  # one half decides whether to explore, the other chooses an action by counts
                    explores = _explores(eta, gamma, decay, total, float(drawn >> _HALF) * _UNIT)
                    below = int(np.int64((drawn & _LOW) * np.uint64(total) >> _HALF))
                    average = _by_counts(table, row, last, width, below)
                    action = average + int(np.int64(explores)) * (action - average)
            if together > 1:
                _fetch(tree, table, buckets[deal], first + action)
            entries[k, depth] = row + action
            actors[k, depth] = player
            lanes[k].depth = depth + 1
            lanes[k].node = first + action
            continue

        payoffs(tree, node, ranks[deal], results)
        for step in range(depth):
            at = entries[k, step]
            count, mean = table[at].count + 1, table[at].mean
            table[at].count = count
            table[at].mean = mean + (results[actors[k, step]] - mean) / count
        lanes[k].node, lanes[k].depth, lanes[k].outside = 0, 0, 0
        lanes[k].deal = started
        if started < len(ranks):
            started += 1
        else:  # the last episode moves here
            live -= 1
            lanes[k] = lanes[live]
            entries[k] = entries[live]
            actors[k] = actors[live]
    return visits


@inline
def _fetch(tree: Tree, table: Records, buckets: NDArray[np.int32], node: int) -> None:
    """Prefetch the row of a node, which may be an end, where the place does not matter; buckets [P, S]."""
    player, street = max(tree.nodes[node].player, 0), tree.nodes[node].street
    place = tree.nodes[node].row + np.int64(buckets[player, street]) * tree.strides[player, street]
    prefetch(table, place)
    prefetch(table, place + max(tree.nodes[node].arity - 1, 0))


@entry("NODE_1, i8_1, f8, f8")
def exploration(nodes: Records, pots: I64, ceiling: float, potential: float) -> F32:
    """Compute c = min(ceiling, pot + potential * remaining betting) of every node ([SUCT] equation 3).

    Pot and remaining betting are those at the start of the node's betting round.

    Args:
        nodes: [M] nodes of type NODE.
        pots: int64 [M] chips committed at each node.
        ceiling: largest constant, in chips.
        potential: weight of the remaining betting.

    Returns:
        float32 [M] constants in chips.
    """
    most = pots.copy()
    for node in range(len(nodes) - 1, -1, -1):
        for a in range(nodes[node].arity):
            most[node] = max(most[node], most[nodes[node].first + a])
    bound = np.minimum(ceiling, pots + potential * (most - pots)).astype(np.float32)
    for node in range(len(nodes)):
        for a in range(nodes[node].arity):
            child = nodes[node].first + a
            if nodes[child].kind == DECISION and nodes[child].street == nodes[node].street:
                bound[child] = bound[node]
    return bound
