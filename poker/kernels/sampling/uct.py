"""Extensive-form UCT and Smooth UCT [SUCT], algorithms 1 and 2: one player tree per player over information states.

An episode plays one deal to its end. At an information state u of the player's tree:

    UCT         a = argmax_a  Q(u, a) + c sqrt(log N(u) / N(u, a)),  untried actions first
    Smooth UCT  UCT with probability eta_k = max(gamma, eta / (1 + d sqrt(N(u)))), else a ~ N(u, .) / N(u)

A state that is not in the tree enters it, and its player acts at random from there to the end of the hand. Afterwards
N(u, a) grows by 1 and Q(u, a), the mean of the player's net chips, is updated at the states of the tree on the path.

Episodes of a thread follow one another. Sixteen side by side hide the memory's latency and take two thirds of the time,
but choose without what the others learn: UCT's nash_conv in Kuhn rose from 0.036 to 0.082 chips.

Symbols: M sampling nodes, P players, S streets, A actions, n deals. Entry (node, bucket, action) of `means`, float64 or
float32, and `counts` int32 is row + bucket * stride + action; N(u) is the sum of a row's counts. Unlocked threads may
lose an update now and then.
"""

import numpy as np
from numba import njit

from poker.kernels.prefetch import prefetch
from poker.kernels.registry import INTERNAL, entry
from poker.kernels.rng import next_below, next_float
from poker.kernels.sampling.nodes import DEALS, DECISION, MULTIWAY, TREE, Deals, Tree, duel_payoff, multiway_payoff
from poker.kernels.types import F32, I32, I64, U64, Reals, Records

MAX_DEPTH = 256
"""Longest path of decisions."""


@njit(**INTERNAL)
def _upper_confidence(means: Reals, counts: I32, row: int, arity: int, total: int, exploration: float, rng: U64) -> int:
    """Action of UCT; among untried actions each is as likely."""
    untried = 0
    for a in range(arity):
        untried += counts[row + a] == 0
    if untried > 0:
        skip = np.int64(next_below(rng, untried))
        for a in range(arity):
            if counts[row + a] == 0:
                if skip == 0:
                    return a
                skip -= 1
    log_total = np.log(float(total))
    best, chosen = -np.inf, 0
    for a in range(arity):
        bound = means[row + a] + exploration * np.sqrt(log_total / counts[row + a])
        if bound > best:
            best, chosen = bound, a
    return chosen


@njit(**INTERNAL)
def _by_counts(counts: I32, row: int, arity: int, total: int, rng: U64) -> int:
    """Action drawn from the average policy."""
    left = next_float(rng) * total
    for a in range(arity - 1):
        left -= counts[row + a]
        if left < 0.0:
            return a
    return arity - 1


@njit(**INTERNAL)
def _explores(eta: float, gamma: float, decay: float, total: int, rng: U64) -> bool:
    """True with probability max(gamma, eta / (1 + decay sqrt(total))), without the root and the division."""
    if gamma >= 1.0:
        return True
    drawn = next_float(rng)
    short, scaled = eta - drawn, decay * drawn
    explores: bool = drawn < gamma or (short > 0.0 and short * short > scaled * scaled * total)
    return explores


@entry(*(f"{TREE}, {means}, i4_1, f4_1, f8, f8, f8, {DEALS}, u8_1" for means in ("f4_1", "f8_1")))
def play_episodes(
    tree: Tree,
    means: Reals,
    counts: I32,
    exploration: F32,
    eta: float,
    gamma: float,
    decay: float,
    deals: Deals,
    rng: U64,
) -> int:
    """One episode for each deal of a batch; returns nodes visited. exploration [M] is c; gamma >= 1 is plain UCT."""
    nodes, strides, committed, folded = tree
    buckets, ranks = deals
    players = ranks.shape[1]
    entries = np.empty(MAX_DEPTH, dtype=np.int64)
    actors = np.empty(MAX_DEPTH, dtype=np.int32)
    results = np.empty(players, dtype=np.float64)
    visits = 0
    for deal in range(len(ranks)):
        node, depth, outside = 0, 0, 0
        while nodes[node].kind == DECISION:
            visits += 1
            player, arity = nodes[node].player, nodes[node].arity
            if outside >> player & 1:
                node = nodes[node].first + np.int64(next_below(rng, arity))
                continue
            street = nodes[node].street
            row = nodes[node].row + np.int64(buckets[deal, player, street]) * strides[player, street]
            first = nodes[node].first
            for child in range(first, first + arity):  # one of these is next, and what it needs is far away
                if nodes[child].kind == DECISION:
                    other, later = nodes[child].player, nodes[child].street
                    place = nodes[child].row + np.int64(buckets[deal, other, later]) * strides[other, later]
                    prefetch(counts, place)
                    prefetch(means, place)
            total = 0
            for a in range(arity):
                total += counts[row + a]
            if total == 0:
                outside |= 1 << player
                action = int(np.int64(next_below(rng, arity)))
            elif _explores(eta, gamma, decay, total, rng):
                action = _upper_confidence(means, counts, row, arity, total, exploration[node], rng)
            else:
                action = _by_counts(counts, row, arity, total, rng)
            entries[depth] = row + action
            actors[depth] = player
            depth += 1
            node = first + action
        visits += 1
        kind, end = nodes[node].kind, nodes[node].row
        if kind == MULTIWAY:
            for player in range(players):
                results[player] = multiway_payoff(committed[end], folded[end], ranks[deal], player)
        else:
            results[0] = duel_payoff(kind, end, 0, ranks[deal, 0] - ranks[deal, 1])
            results[1] = -results[0]
        for step in range(depth):
            entry = entries[step]
            counts[entry] += 1
            means[entry] += (results[actors[step]] - means[entry]) / counts[entry]
    return visits


@entry("NODE_1, i8_1, f8, f8")
def exploration(nodes: Records, pots: I64, ceiling: float, potential: float) -> F32:
    """[M] c = min(ceiling, pot + potential * what betting can still add) where a node's betting round begins ([SUCT]
    equation 3); `pots` [M] are the chips committed at every node."""
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
