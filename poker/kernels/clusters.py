"""Clusters of hands: k-means, and sums over pairs of hands by the clusters of both."""

import numpy as np

from poker.kernels.registry import entry
from poker.kernels.types import F32, F64, I32, I64


@entry("f4_2r, f4_2r, i4_1r, i4_1r, i8, i8")
def pair_sums(values: F32, weights: F32, rows: I32, columns: I32, num_rows: int, num_columns: int) -> F64:
    """Sum weighted values over the pairs of hands of each pair of clusters.

    Args:
        values: float32 [H, H] value of each pair.
        weights: float32 [H, H] weight of each pair.
        rows: int32 [H] cluster of the row's hand, -1 for none.
        columns: int32 [H] cluster of the column's hand, -1 for none.
        num_rows: number of row clusters R.
        num_columns: number of column clusters C.

    Returns:
        float64 [2, R, C] sums of value times weight, and sums of weights.
    """
    out = np.zeros((2, num_rows, num_columns))
    for i in range(len(rows)):
        row = rows[i]
        if row < 0:
            continue
        for j in range(len(columns)):
            column = columns[j]
            if column >= 0:
                out[0, row, column] += np.float64(values[i, j] * weights[i, j])
                out[1, row, column] += np.float64(weights[i, j])
    return out


@entry("f4_2, i8_1, i8, i8")
def nearest_centres(points: F32, weights: I64, count: int, steps: int) -> I64:
    """Cluster points by some steps of Lloyd's algorithm, on one thread.

    The initial centres are chosen one after the other, each the farthest point from those before. Numpy's matrix
    products would use all cores for a millisecond of work.

    Args:
        points: float32 [d, n] points.
        weights: int64 [n] weights of the points.
        count: number of centres.

    Returns:
        int64 [n] nearest centre of each point.
    """
    d, n = points.shape
    centres, labels = np.empty((count, d), np.float32), np.zeros(n, np.int64)
    for step in range(steps):
        nearest, sums = np.full(n, np.inf, np.float32), np.zeros((count, d + 1), np.float32)
        for c in range(count):
            farthest, distances = 0, np.zeros(n, np.float32)
            for i in range(n):
                farthest = i if nearest[i] > nearest[farthest] else farthest
            for k in range(d):
                centre = centres[c, k] = points[k, farthest] if step == 0 else centres[c, k]
                for i in range(n):
                    distances[i] += (points[k, i] - centre) ** 2
            for i in range(n):
                if distances[i] < nearest[i]:
                    nearest[i], labels[i] = distances[i], c
        for i in range(n):
            sums[labels[i], d] += weights[i]
            for k in range(d):
                sums[labels[i], k] += weights[i] * points[k, i]
        for c in range(count):
            for k in range(d):
                centres[c, k] = sums[c, k] / sums[c, d] if sums[c, d] > 0.0 else centres[c, k]
    return labels
