"""A response on one complete board, for all hands at once, to an opponent whose strategy is fixed.

`continuation.end_reaches` computes the opponent's reach at the ends of a betting subtree. `end_values` converts it to
the value of every hand of the player at every end, and `respond` carries these values up the betting.

Q is the number of nodes of the subtree, W of columns for its ends, padded to whole vectors, m of hands, c of cards of a
hand and S of streets.
"""

import numpy as np

from poker.kernels.registry import entry, inline
from poker.kernels.simd import LANES, load, splat, store
from poker.kernels.types import F32, I8, I32, I64, U8


@inline
def _fold_lanes(order: I32, cards: U8, held: int, work: F32) -> None:
    """Set work[16 h] to the weight of the hands compatible with h; sums by card are stored in work from `held` on."""
    mass = splat(0.0)
    for n in range(len(order)):
        hand = order[n]
        here = load(work, LANES * hand)
        mass = mass + here
        for k in range(cards.shape[1]):
            at = held + LANES * np.int64(cards[hand, k])
            store(work, at, load(work, at) + here)
    twice = splat(np.float32(cards.shape[1] - 1))
    for n in range(len(order)):
        hand = order[n]
        rest = mass + twice * load(work, LANES * hand)
        for k in range(cards.shape[1]):
            rest = rest - load(work, held + LANES * np.int64(cards[hand, k]))
        store(work, LANES * hand, rest)


@inline
def _weaker_lanes(order: I32, begin: int, step: int, rank: I32, cards: U8, held: int, to: int, work: F32) -> None:
    """Add `step` (1 or -1) times the weight of compatible hands before the group of equally strong hands to each hand.

    The weight of hand h is at work[16 h], and the result is added to work[to + 16 h].
    """
    factor, mass, n = splat(np.float32(step)), splat(0.0), begin
    while 0 <= n < len(order):
        strength = rank[order[n]]
        group = n
        while 0 <= n < len(order) and rank[order[n]] == strength:
            hand = order[n]
            rest = mass
            for k in range(cards.shape[1]):
                rest = rest - load(work, held + LANES * np.int64(cards[hand, k]))
            at = to + LANES * np.int64(hand)
            store(work, at, load(work, at) + factor * rest)
            n += step
        while group != n:
            hand = order[group]
            here = load(work, LANES * np.int64(hand))
            mass = mass + here
            for k in range(cards.shape[1]):
                at = held + LANES * np.int64(cards[hand, k])
                store(work, at, load(work, at) + here)
            group += step


@entry("f4_2, f4_1, i4_1, i4_1, u1_2, f4_1, i8, i8, f4_2, f4_1")
def end_values(
    reach: F32, weight: F32, order: I32, rank: I32, cards: U8, pay: F32, folds: int, ends: int, out: F32, work: F32
) -> None:
    """Compute the chips of each hand at each end, summed over the opponent's compatible hands.

    The opponent's hands have weight reach [m, W] times weight [m].

    Args:
        reach: float32 [m, W] the opponent's reach at each end.
        weight: float32 [m] weights of the opponent's hands.
        order: int32 [n] hands that the board leaves, weakest first.
        rank: int32 [m] strength of each hand.
        cards: uint8 [m, c] cards of each hand.
        pay: float32 [W] chips that the player wins at the first `folds` ends, and that the better hand wins at the
            others.
        folds: number of columns for folds, a multiple of 16.
        ends: number of columns for all ends, a multiple of 16.
        out: float32 [m, W] receives the values in columns 0..ends.
        work: float32 [16 * (2 m + 64)] scratch.
    """
    hands, width = out.shape
    reaches, values = reach.reshape(hands * width), out.reshape(hands * width)
    to, held = LANES * hands, 2 * LANES * hands
    for column in range(0, ends, LANES):
        for n in range(len(order)):
            hand = np.int64(order[n])
            store(work, LANES * hand, load(reaches, hand * width + column) * splat(weight[hand]))
            store(work, to + LANES * hand, splat(0.0))
        work[held : held + LANES * 64] = 0.0
        if column < folds:
            _fold_lanes(order, cards, held, work)
        else:
            _weaker_lanes(order, 0, 1, rank, cards, held, to, work)
            work[held : held + LANES * 64] = 0.0
            _weaker_lanes(order, len(order) - 1, -1, rank, cards, held, to, work)
        result = 0 if column < folds else to
        paid = load(pay, column)
        for n in range(len(order)):
            hand = np.int64(order[n])
            store(values, hand * width + column, paid * load(work, result + LANES * hand))


@entry("i1_1, i1_1, i4_1, i4_1, i8_1, i8_1, i4_1, f4_1, i8, i4_2, i4_1, f4_2, b1, f4_1")
def respond(
    player: I8,
    street: I8,
    first: I32,
    arity: I32,
    row: I64,
    stride: I64,
    end: I32,
    table: F32,
    own: int,
    buckets: I32,
    order: I32,
    values: F32,
    learn: bool,
    out: F32,
) -> None:
    """Compute the values at the root when a player plays regret matching on a table.

    The nodes are as in `end_reaches`.

    Args:
        player: int8 [Q] player to act.
        street: int8 [Q] street.
        first: int32 [Q] first child.
        arity: int32 [Q] number of children, 0 for ends.
        row: int64 [Q] first row of the node in the table.
        stride: int64 [Q] distance between the rows of consecutive buckets.
        end: int32 [Q] column of an end in `values`.
        table: float32 [entries] one regret per action; a strategy is played as it is.
        own: the player who responds.
        buckets: int32 [S, m] bucket of each hand.
        order: int32 [n] hands that the board leaves.
        values: float32 [m, W] values at the ends, times the opponent's reach.
        learn: add the regrets of the player's decisions to the table.
        out: float32 [m] receives the value of each hand at the root.
    """
    node_values = np.empty(len(player), dtype=np.float32)
    for n in range(len(order)):
        hand = order[n]
        for node in range(len(player) - 1, -1, -1):
            actions = arity[node]
            if actions == 0:
                node_values[node] = values[hand, end[node]]
                continue
            child, value = first[node], np.float32(0.0)
            if player[node] != own:
                for a in range(actions):
                    value += node_values[child + a]
                node_values[node] = value
                continue
            at = row[node] + np.int64(buckets[street[node], hand]) * stride[node]
            total, any_action = np.float32(0.0), np.float32(0.0)
            for a in range(actions):
                weight = max(table[at + a], np.float32(0.0))
                total += weight
                value += weight * node_values[child + a]
                any_action += node_values[child + a]
            value = value / total if total > 0 else any_action / np.float32(actions)
            node_values[node] = value
            if learn:
                for a in range(actions):
                    table[at + a] += node_values[child + a] - value
        out[hand] = node_values[0]
