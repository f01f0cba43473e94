"""Exact values of two strategies below a depth limit for every pair of hands, board by board.

Let r_p(z, h) be the product of player p's own probabilities on the way from a leaf to an end z. Then::

    v(h0, h1) = sum over ends z of  r_0(z, h0) r_1(z, h1) u_z(h0, h1)

Here u_z is constant at folds. At showdowns it is stake_z times the sign of the difference in strength. Ends that follow
from the same actions of player 0 (a sequence q) are summed first: F_q(h1) over folds and G_q(h1) over showdowns. Then
v(h0, h1) = sum over q of r_0(q, h0) (F_q(h1) + sign * G_q(h1)).

The results are sums over pairs of clusters. Hands of player 0 are processed in order of strength. We maintain the sums
A_q(cluster) of F + sign * G over the hands of player 1, which change only when a hand is passed. Each hand of player 0
then adds one row of clusters. The same walk over the hands that contain a card subtracts the pairs that share it. A
hand against itself is subtracted twice and is therefore added back.

Arithmetic is float32 on a board and float64 over boards. L is the number of leaves, M of nodes, Z of ends, Q of
sequences and C of clusters.
"""

from typing import NamedTuple

import numpy as np

from poker.kernels.registry import entry, inline, kernel
from poker.kernels.simd import fma, load, maximum, splat, store, where_positive
from poker.kernels.types import F32, F64, I8, I32, I64, U8, Bools
from poker.kernels.vector.arrays import BOARDS, HAND_LISTS, Boards, HandLists


class LeafBetting(NamedTuple):
    """The betting below L leaves.

    Leaf l has the nodes `node_start[l]..node_start[l + 1]`, its root first and parents before children, the ends from
    `end_start[l]`, and the sequences of player 0 that have ends from `sequence_start[l]`.

    Attributes:
        node_start: int32 [L + 1] first node of each leaf.
        player: int8 [M] player to act, -1 at ends.
        first_child: int32 [M] first child.
        num_children: int32 [M] number of children.
        entry: int32 [M] the node's first action row in the layout of the game.
        decision: int32 [M] number of the node among the player's decisions.
        row: int32 [2, M] reach row within the leaf: 0 at the root, a new one after each own action.
        end_start: int32 [L + 1] first end of each leaf.
        end: int32 [Z, 3] sequence within the leaf, player 1's row, and whether it is a showdown.
        amount: float32 [Z] chips that player 0 wins by the fold, or the better hand at the showdown.
        sequence_start: int32 [L + 1] first sequence of each leaf.
        sequence: int32 [Q] row of player 0.
    """

    node_start: I32
    player: I8
    first_child: I32
    num_children: I32
    entry: I32
    decision: I32
    row: I32
    end_start: I32
    end: I32
    amount: F32
    sequence_start: I32
    sequence: I32


class Strategies(NamedTuple):
    """The strategies of both players.

    Player p follows `rows`, with each action `factor[p, child node]` times as likely. If `pure[p]` is set, each hand
    takes one action instead.

    Attributes:
        rows: float32 [entries] action rows in the layout of the game.
        factor: float32 [2, M] multiplier of each action's probability.
        pure: bool [2] whether each hand takes one action.
        choice0: uint8 [n] actions of player 0, at `choice_start[0, board] + decision * padded hands + hand`.
        choice1: uint8 [n] actions of player 1.
        choice_start: int64 [2, B + 1] start of each board's actions.
    """

    rows: F32
    factor: F32
    pure: Bools
    choice0: U8
    choice1: U8
    choice_start: I64


class Walks(NamedTuple):
    """Walks over hands in order of strength on a board: one over all hands, then one for each card.

    The walk of a card visits the hands that contain it. There are D card values, and walk c + 1 belongs to card c. Walk
    w visits the hands of player 0 in `own[own_start[w]..]`, and the hands of player 1 in `theirs[their_start[w]..]`. A
    slot numbers the clusters within a walk. In walk 0 the slot is the cluster itself.

    Attributes:
        own_start: int32 [D + 2] start of each walk.
        own: int32 [n] places of player 0's hands.
        own_slot: int32 [n] slot of each hand's cluster.
        less: int32 [n] number of weaker hands of player 1 in the walk.
        upto: int32 [n] number of weaker or equal hands.
        their_start: int32 [D + 2] start of each walk.
        theirs: int32 [n] places of player 1's hands.
        their_slot: int32 [n] slot of each hand's cluster.
        own_cluster: int32 [D, C] clusters of player 0's slots in the walk of each card.
        their_cluster: int32 [D, C] clusters of player 1's slots in the walk of each card.
        own_slots: int32 [D] number of player 0's slots in the walk of each card.
        their_slots: int32 [D] number of player 1's slots in the walk of each card.
    """

    own_start: I32
    own: I32
    own_slot: I32
    less: I32
    upto: I32
    their_start: I32
    theirs: I32
    their_slot: I32
    own_cluster: I32
    their_cluster: I32
    own_slots: I32
    their_slots: I32


_BETTING = "LeafBetting(i4_1, i1_1, i4_1, i4_1, i4_1, i4_1, i4_2, i4_1, i4_2, f4_1, i4_1, i4_1)"
_STRATEGIES = "Strategies(f4_1, f4_2, b1_1, u1_1, u1_1, i8_2)"


@inline
def _follow(
    rows: F32, factor: F32, first: int, base: int, number: int, hands: int, work: F32, reach: int, to: I64
) -> None:
    """Set the reach of the children of a node that is played by action rows; `first` is its first child."""
    flat = np.float32(0.0)
    for a in range(number):
        flat += factor[first + a]
    for i in range(0, hands, 16):
        mass = splat(0.0)
        for a in range(number):
            mass = fma(maximum(load(rows, base + a * hands + i), splat(0.0)), splat(factor[first + a]), mass)
        coming = load(work, reach + i)
        inverse = where_positive(mass, coming / mass, splat(0.0))
        rest = where_positive(mass, splat(0.0), coming / splat(flat))
        for a in range(number):
            share = fma(maximum(load(rows, base + a * hands + i), splat(0.0)), inverse, rest)
            store(work, to[a] + i, share * splat(factor[first + a]))


@inline
def _choose(choices: U8, at: int, number: int, hands: int, work: F32, reach: int, to: I64) -> None:
    """Set the reach of the children of a node where each hand takes one action."""
    for a in range(number):
        for i in range(hands):
            work[to[a] + i] = work[reach + i] if choices[at + i] == a else np.float32(0.0)


@inline
def _reach(
    boards: Boards, betting: LeafBetting, play: Strategies, leaf: int, board: int, at: I64, stride: int, work: F32
) -> None:
    """Compute both players' reach rows from the leaf on; the rows of player p start at `at[p]`."""
    to = np.empty(64, np.int64)
    for p in range(2):
        for i in range(boards.padded[p, board]):
            work[at[p] + i] = np.float32(1.0 if i < boards.size[p, board] else 0.0)
    for node in range(betting.node_start[leaf], betting.node_start[leaf + 1]):
        p = betting.player[node]
        if p < 0:
            continue
        first, number, hands = betting.first_child[node], betting.num_children[node], boards.padded[p, board]
        for a in range(number):
            to[a] = at[p] + betting.row[p, first + a] * stride
        reach = at[p] + betting.row[p, node] * stride
        if play.pure[p]:
            start = play.choice_start[p, board] + np.int64(betting.decision[node]) * hands
            choices = play.choice0 if p == 0 else play.choice1
            _choose(choices, start, number, hands, work, reach, to)
        else:
            base = boards.block[p, board] + np.int64(betting.entry[node]) * hands
            _follow(play.rows, play.factor[p], first, base, number, hands, work, reach, to)


@inline
def _sum_ends(
    betting: LeafBetting, leaf: int, hands: int, reach: int, stride: int, folds: int, shows: int, work: F32
) -> None:
    """Compute F and G of every sequence of the leaf, as rows over the hands of player 1."""
    number = betting.sequence_start[leaf + 1] - betting.sequence_start[leaf]
    for q in range(number):
        for i in range(0, hands, 16):
            store(work, folds + q * stride + i, splat(0.0))
            store(work, shows + q * stride + i, splat(0.0))
    for z in range(betting.end_start[leaf], betting.end_start[leaf + 1]):
        area = shows if betting.end[z, 2] else folds
        to, source = area + betting.end[z, 0] * stride, reach + betting.end[z, 1] * stride
        amount = splat(betting.amount[z])
        for i in range(0, hands, 16):
            store(work, to + i, fma(load(work, source + i), amount, load(work, to + i)))


@inline
def _slots(cluster: I32, hands: I32, start: int, end: int, slot: I32, met: I32, where: I32) -> int:
    """Number the clusters of hands start..end in order of appearance; `where` [C] is -1 before and after."""
    count = 0
    for k in range(start, end):
        c = cluster[hands[k]]
        if where[c] < 0:
            where[c] = count
            met[count] = c
            count += 1
        slot[k] = where[c]
    for n in range(count):
        where[met[n]] = -1
    return count


@inline
def _plan_walks(
    boards: Boards, lists: HandLists, board: int, cluster: I32, cards: int, walks: Walks, hands: I32, where: I32
) -> None:
    """Fill `walks` for a board."""
    own, theirs = boards.list_start[0, board], boards.list_start[1, board]
    n, m = boards.size[0, board], boards.size[1, board]
    for i in range(n):
        walks.own[i], walks.own_slot[i] = i, cluster[lists.hand[own + i]]
        walks.less[i], walks.upto[i] = lists.less[own + i], lists.upto[own + i]
    for j in range(m):
        walks.theirs[j], walks.their_slot[j] = j, cluster[lists.hand[theirs + j]]
    walks.own_start[0], walks.own_start[1], walks.their_start[0], walks.their_start[1] = 0, n, 0, m
    at, to = n, m
    for c in range(cards):
        for k in range(2 * own + lists.card_start[0, board, c], 2 * own + lists.card_start[0, board, c + 1]):
            walks.own[at] = lists.by_card[k]
            walks.less[at], walks.upto[at] = lists.card_less[k], lists.card_upto[k]
            hands[at] = lists.hand[own + lists.by_card[k]]
            at += 1
        walks.own_slots[c] = _slots(
            cluster, hands, walks.own_start[c + 1], at, walks.own_slot, walks.own_cluster[c], where
        )
        walks.own_start[c + 2] = at
        for k in range(2 * theirs + lists.card_start[1, board, c], 2 * theirs + lists.card_start[1, board, c + 1]):
            walks.theirs[to] = lists.by_card[k]
            hands[to] = lists.hand[theirs + lists.by_card[k]]
            to += 1
        walks.their_slots[c] = _slots(
            cluster, hands, walks.their_start[c + 1], to, walks.their_slot, walks.their_cluster[c], where
        )
        walks.their_start[c + 2] = to


@inline
def _pass(walks: Walks, k: int, number: int, width: int, stride: int, sums: int, area: int, work: F32) -> None:
    """Add the terms of a hand of player 1 to the running sums of its slot."""
    j, slot = walks.theirs[k], walks.their_slot[k]
    for q in range(number):
        work[sums + q * width + slot] += work[area + q * stride + j]


@kernel
def _walk(
    walks: Walks,
    w: int,
    number: int,
    rows: I64,
    width: int,
    stride: int,
    folds: int,
    shows: int,
    sums: int,
    out: int,
    work: F32,
) -> None:
    """Add the values of a walk to `out` [slots of player 0, width]; `rows` [Q] are reach rows of player 0.

    A hand of player 1 first counts as stronger (F - G), as equal (F) once it is reached, and then as weaker (F + G).
    """
    begin, end = walks.their_start[w], walks.their_start[w + 1]
    for i in range(0, number * width, 16):
        store(work, sums + i, splat(0.0))
    for k in range(begin, end):
        j, slot = walks.theirs[k], walks.their_slot[k]
        for q in range(number):
            work[sums + q * width + slot] += work[folds + q * stride + j] - work[shows + q * stride + j]
    reached, beaten = begin, begin
    taken, shares = np.empty(number, np.int64), np.empty(number, np.float32)
    for k in range(walks.own_start[w], walks.own_start[w + 1]):
        while reached < begin + walks.upto[k]:
            _pass(walks, reached, number, width, stride, sums, shows, work)
            reached += 1
        while beaten < begin + walks.less[k]:
            _pass(walks, beaten, number, width, stride, sums, shows, work)
            beaten += 1
        some = 0
        for q in range(number):
            share = work[rows[q] + walks.own[k]]
            if share != 0:
                taken[some], shares[some] = sums + q * width, share
                some += 1
        to = out + walks.own_slot[k] * width
        for c in range(0, width, 16):
            value = load(work, to + c)
            for n in range(some):
                value = fma(splat(shares[n]), load(work, taken[n] + c), value)
            store(work, to + c, value)


@entry(f"{BOARDS}, {HAND_LISTS}, {_BETTING}, {_STRATEGIES}, i4_1, i8, i8_1, f8_3")
def add_leaf_values(
    boards: Boards,
    lists: HandLists,
    betting: LeafBetting,
    play: Strategies,
    cluster: I32,
    cards: int,
    wanted: I64,
    out: F64,
) -> None:
    """Add the chips of player 0 at each leaf, summed over the pairs of hands of two clusters.

    Args:
        boards: all boards [B].
        lists: their hands [n].
        betting: the betting below the leaves.
        play: the strategies of both players.
        cluster: int32 [H] cluster of each hand.
        cards: number of slots of `HandLists.card_start`.
        wanted: int64 [n] boards to process.
        out: float64 [L, C, C padded] sums weighted by the probability of each board; updated.
    """
    leaves, clusters, width = out.shape
    hands = 16
    for board in wanted:
        hands = max(hands, boards.padded[0, board], boards.padded[1, board])
    most, rows = 1, np.ones(2, np.int64)
    for leaf in range(leaves):
        most = max(most, betting.sequence_start[leaf + 1] - betting.sequence_start[leaf])
        for node in range(betting.node_start[leaf], betting.node_start[leaf + 1]):
            for p in range(2):
                rows[p] = max(rows[p], betting.row[p, node] + 1)
    at = np.array([0, rows[0] * hands])
    folds = (rows[0] + rows[1]) * hands
    shows = folds + most * hands
    sums = shows + most * hands
    total = sums + most * width
    part = total + clusters * width
    work = np.zeros(part + clusters * width, np.float32)
    lines = np.empty(most, np.int64)
    size = 3 * hands
    walks = Walks(
        np.empty(cards + 2, np.int32), np.empty(size, np.int32), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty(size, np.int32), np.empty(cards + 2, np.int32), np.empty(size, np.int32), np.empty(size, np.int32),
        np.empty((cards, clusters), np.int32), np.empty((cards, clusters), np.int32), np.empty(cards, np.int32),
        np.empty(cards, np.int32),
    )  # fmt: skip
    scratch, where = np.empty(size, np.int32), np.full(clusters, -1, np.int32)
    for board in wanted:
        _plan_walks(boards, lists, board, cluster, cards, walks, scratch, where)
        own, theirs = boards.list_start[0, board], boards.list_start[1, board]
        weight = np.float64(boards.weight[board])
        for leaf in range(leaves):
            number = betting.sequence_start[leaf + 1] - betting.sequence_start[leaf]
            _reach(boards, betting, play, leaf, board, at, hands, work)
            _sum_ends(betting, leaf, boards.padded[1, board], at[1], hands, folds, shows, work)
            for q in range(number):
                lines[q] = at[0] + betting.sequence[betting.sequence_start[leaf] + q] * hands
            for i in range(total, part, 16):
                store(work, i, splat(0.0))
            _walk(walks, np.int64(0), number, lines, width, hands, folds, shows, sums, total, work)
            for c in range(cards):
                narrow = (walks.their_slots[c] + 15) // 16 * 16
                for i in range(part, part + walks.own_slots[c] * narrow, 16):
                    store(work, i, splat(0.0))
                _walk(walks, c + 1, number, lines, narrow, hands, folds, shows, sums, part, work)
                for a in range(walks.own_slots[c]):
                    to = total + walks.own_cluster[c, a] * width
                    for b in range(walks.their_slots[c]):
                        work[to + walks.their_cluster[c, b]] -= work[part + a * narrow + b]
            for i in range(boards.size[0, board]):
                j = lists.same[own + i]
                if j < boards.size[1, board]:
                    k = total + cluster[lists.hand[own + i]] * width + cluster[lists.hand[theirs + j]]
                    for q in range(number):
                        work[k] += work[lines[q] + i] * work[folds + q * hands + j]
            for a in range(clusters):
                for b in range(clusters):
                    out[leaf, a, b] += weight * work[total + a * width + b]
