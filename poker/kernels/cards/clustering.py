"""Distances and assignments for k-means over hands, used by `poker.abstraction.kmeans`.

Points of a *vector space* are int16 [n, Q] under the city-block distance. Coordinates are scaled so that a distance
fits 15 bits. With cumulative distributions as coordinates this is exactly the earth mover's distance in one dimension.

Points of a *transport space* are lists of T next-street buckets, one for every next card, uint16 [n, T], ascending.
Their distance to a distribution over the M buckets is the greedy heuristic of Ganzfried & Sandholm 2014 (section 4.3).
Mass goes to the nearest bucket that still has room: all sources first try their nearest bucket, then their second
nearest, and so on. Its cost is the cost of a feasible flow, so it is never below the earth mover's distance. That
distance is never below the city-block distance between the two mean vectors, where each bucket is a vector and the
ground distance is its city-block distance. SIMD computes this bound for all centres at once, and it makes most of the
flows unnecessary.

Kernels store K centres as columns, [Q, K], so that the inner loops run over centres. `_pad_columns` rounds K up to
whole registers. Without it a loop over 150 centres takes twice as long as one over 160.
"""

import numpy as np

from poker.kernels.cards.hands import HAND_CARDS, HAND_PERMUTATION, NUM_HANDS
from poker.kernels.cards.isomorphism import canonical_board
from poker.kernels.registry import entry, kernel
from poker.kernels.threads import over_rows
from poker.kernels.types import F32, I16, I32, I64, U8, U16

_LANES = 32


def _pad_columns(centers: I16) -> I16:
    """Return columns [Q, K'] of centers [K, Q]; the first is repeated until K' is a multiple of 32, and wins ties."""
    size = -(-len(centers) // _LANES) * _LANES
    repeated = np.repeat(centers[:1], size - len(centers), axis=0)
    return np.ascontiguousarray(np.concatenate([centers, repeated]).T)


@kernel
def _city_block(point: I16, centers: I16, out: I16) -> None:
    """Compute the distances [K] of a point [Q] to centers [Q, K], four coordinates at a time."""
    out[:] = 0
    done = len(point) // 4 * 4
    for q in range(0, done, 4):
        a, b, c, d = point[q], point[q + 1], point[q + 2], point[q + 3]
        row_a, row_b, row_c, row_d = centers[q], centers[q + 1], centers[q + 2], centers[q + 3]
        for k in range(len(out)):
            first = np.int16(abs(np.int16(row_a[k] - a))) + np.int16(abs(np.int16(row_b[k] - b)))
            second = np.int16(abs(np.int16(row_c[k] - c))) + np.int16(abs(np.int16(row_d[k] - d)))
            out[k] += np.int16(first + second)
    for q in range(done, len(point)):
        value, row = point[q], centers[q]
        for k in range(len(out)):
            out[k] += abs(np.int16(row[k] - value))


@kernel
def _nearest(distances: I16) -> int:
    """Return the position of the smallest distance, the first of equals."""
    best = np.int64(1) << 40
    for k in range(len(distances)):
        best = min(best, (np.int64(distances[k]) << 20) | k)
    return int(best & 0xFFFFF)


@entry("i8, i8, i2_2, i2_2, i4_1, f4_1")
def _assign_vectors(first: int, last: int, points: I16, centers: I16, labels: I32, costs: F32) -> None:
    distances = np.empty(centers.shape[1], dtype=np.int16)
    for i in range(first, last):
        _city_block(points[i], centers, distances)
        k = _nearest(distances)
        labels[i] = k
        costs[i] = distances[k]


def assign_vectors(points: I16, centers: I16) -> tuple[I32, F32]:
    """Find the nearest centre of each point, on all threads.

    Args:
        points: int16 [n, Q] points.
        centers: int16 [K, Q] centres.

    Returns:
        int32 [n] nearest centres and float32 [n] distances to them.
    """
    labels, costs = np.empty(len(points), dtype=np.int32), np.empty(len(points), dtype=np.float32)
    over_rows(_assign_vectors, len(points), points, _pad_columns(centers), labels, costs)
    return labels, costs


@entry("i2_2, i4_1, i8")
def sum_vectors(points: I16, labels: I32, num_centers: int) -> I64:
    """Sum the points of each label.

    Args:
        points: int16 [n, Q] points.
        labels: int32 [n] label of each point.
        num_centers: number of labels K.

    Returns:
        int64 [K, Q] sums.
    """
    out = np.zeros((num_centers, points.shape[1]), dtype=np.int64)
    for i in range(len(points)):
        row, point = out[labels[i]], points[i]
        for q in range(len(point)):
            row[q] += point[q]
    return out


@kernel
def _flow_cost(
    lists: U16, capacity: F32, room: F32, order: U16, ground: F32, limit: float, sources: I64, masses: F32
) -> float:
    """Return the cost of the greedy flow from buckets `lists` [T] into `capacity` [M], or inf once `limit` is reached.

    `room` [M], `sources` and `masses` [T] are scratch. `order` [M, M] has the buckets by distance from the row's
    bucket, and `ground` [M, M] these distances.
    """
    T, size = len(lists), 0
    for target in range(len(room)):
        room[target] = capacity[target]
    unit = np.float32(1.0 / T)
    for t in range(T):
        if size > 0 and sources[size - 1] == lists[t]:
            masses[size - 1] += unit
        else:
            sources[size] = lists[t]
            masses[size] = unit
            size += 1
    cost = np.float32(0.0)
    for step in range(order.shape[1]):
        left = 0
        for j in range(size):
            source, mass = sources[j], masses[j]
            target = order[source, step]
            free = room[target]
            if free > 0:
                moved = min(free, mass)
                cost += moved * ground[source, step]
                room[target] = free - moved
                mass -= moved
            if mass > 1e-6:
                sources[left] = source
                masses[left] = mass
                left += 1
        size = left
        if size == 0:
            break
        if cost >= limit:
            return np.inf
    return float(cost)


@entry("i8, i8, u2_2, i2_2, f4_2, i2_2, u2_2, f4_2, i4_1, f4_1, i8_1")
def _assign_flows(
    begin: int,
    end: int,
    lists: U16,
    vectors: I16,
    masses: F32,
    centers: I16,
    order: U16,
    ground: F32,
    labels: I32,
    costs: F32,
    flows: I64,
) -> None:
    T, Q, K = lists.shape[1], len(centers), len(masses)
    bounds, room = np.empty(centers.shape[1], dtype=np.int16), np.empty(masses.shape[1], dtype=np.float32)
    sources, parts = np.empty(T, dtype=np.int64), np.empty(T, dtype=np.float32)
    for i in range(begin, end):
        _city_block(vectors[i], centers, bounds)
        first = _nearest(bounds)
        best, label = _flow_cost(lists[i], masses[first], room, order, ground, np.inf, sources, parts), first
        flows[i] = 1
        for k in range(K):
            if k != first and bounds[k] - Q < best:
                cost = _flow_cost(lists[i], masses[k], room, order, ground, best, sources, parts)
                flows[i] += 1
                if cost < best or (cost == best and k < label):
                    best, label = cost, k
        labels[i] = label
        costs[i] = best


def assign_flows(lists: U16, vectors: I16, masses: F32, centers: I16, order: U16, ground: F32) -> tuple[I32, F32, int]:
    """Find the nearest centre of each point by greedy flow, on all threads.

    The bound allows for rounding, which changes it by at most one unit per coordinate. The result does not depend on
    the number of threads.

    Args:
        lists: uint16 [n, T] buckets of each point.
        vectors: int16 [n, Q] mean vector of each point.
        masses: float32 [K, M] distribution of each centre.
        centers: int16 [K, Q] mean vector of each centre.
        order: uint16 [M, M] buckets by distance from each bucket.
        ground: float32 [M, M] distances in that order.

    Returns:
        int32 [n] nearest centres, float32 [n] distances to them, and the number of flows computed.
    """
    labels, costs = np.empty(len(lists), dtype=np.int32), np.empty(len(lists), dtype=np.float32)
    flows, columns = np.zeros(len(lists), dtype=np.int64), _pad_columns(centers)
    over_rows(_assign_flows, len(lists), lists, vectors, masses, columns, order, ground, labels, costs, flows)
    return labels, costs, int(flows.sum())


@entry("u2_2, i4_1, i8, i8")
def sum_lists(lists: U16, labels: I32, num_centers: int, num_buckets: int) -> I64:
    """Count the buckets in the lists of each label.

    Args:
        lists: uint16 [n, T] buckets of each point.
        labels: int32 [n] label of each point.
        num_centers: number of labels K.
        num_buckets: number of buckets M.

    Returns:
        int64 [K, M] counts.
    """
    out = np.zeros((num_centers, num_buckets), dtype=np.int64)
    for i in range(len(lists)):
        row = out[labels[i]]
        for bucket in lists[i]:
            row[bucket] += 1
    return out


@entry("i8, i8, u2_2, i2_2, i2_2")
def _mean_vectors(first: int, last: int, lists: U16, vectors: I16, out: I16) -> None:
    T, Q = lists.shape[1], vectors.shape[1]
    total = np.empty(Q, dtype=np.int32)
    for i in range(first, last):
        total[:] = 0
        for bucket in lists[i]:
            row = vectors[bucket]
            for q in range(Q):
                total[q] += row[q]
        for q in range(Q):
            out[i, q] = (2 * total[q] + T) // (2 * T)


def mean_vectors(lists: U16, vectors: I16) -> I16:
    """Average the bucket vectors over each list, on all threads.

    Args:
        lists: uint16 [n, T] buckets of each point.
        vectors: int16 [M, Q] vector of each bucket.

    Returns:
        int16 [n, Q] rounded means.
    """
    out = np.empty((len(lists), vectors.shape[1]), dtype=np.int16)
    over_rows(_mean_vectors, len(lists), lists, vectors, out)
    return out


@entry("i8, i8, u1_2, u2_2, u2_3")
def _turn_bucket_lists(first: int, last: int, boards: U8, turn: U16, out: U16) -> None:
    board, dead = np.empty(4, dtype=np.uint8), np.empty(52, dtype=np.bool_)
    fill, buckets = np.empty(NUM_HANDS, dtype=np.int64), np.empty((NUM_HANDS, 47), dtype=np.uint16)
    for i in range(first, last):
        fill[:] = 0
        dead[:] = False
        for k in range(3):
            board[k] = boards[i, k]
            dead[board[k]] = True
        for card in range(52):
            if dead[card]:
                continue
            board[3] = card
            row, permutation = canonical_board(board)
            for hand in range(NUM_HANDS):
                a, b = HAND_CARDS[hand, 0], HAND_CARDS[hand, 1]
                if not (card in (a, b) or dead[a] or dead[b]):
                    bucket, k = turn[row, HAND_PERMUTATION[permutation, hand]], fill[hand]
                    while k > 0 and buckets[hand, k - 1] > bucket:
                        buckets[hand, k] = buckets[hand, k - 1]
                        k -= 1
                    buckets[hand, k] = bucket
                    fill[hand] += 1
        place = 0
        for hand in range(NUM_HANDS):
            if fill[hand] == 47:
                for k in range(47):
                    out[i, place, k] = buckets[hand, k]
                place += 1


def turn_bucket_lists(boards: U8, turn: U16) -> U16:
    """List the turn buckets of all live hands of flops, on all threads.

    Args:
        boards: uint8 [n, 3] flops.
        turn: uint16 [canonical boards, 1326] bucket table of the turn.

    Returns:
        uint16 [n, 1176, 47] ascending buckets after each turn card.
    """
    out = np.empty((len(boards), 1176, 47), dtype=np.uint16)
    over_rows(_turn_bucket_lists, len(boards), boards, turn, out)
    return out
