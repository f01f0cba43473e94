"""Groups of hands that share one leaf value, which make leaf evaluation fast enough for play.

`hand_clusters` groups the hands of one card bucket, and merges neighbours in strength if there are too many buckets.
`k_means` groups hands that are near each other in some space. Values are then [C, C] instead of [H, H]. The solver
still accounts exactly for cards that the players share.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.clusters import nearest_centres, pair_sums
from poker.kernels.types import Floats, Singles

_STEPS = 5
"""Steps of Lloyd's algorithm; 30 steps do not bring a net's leaf values closer to the values of single hands."""


def hand_clusters(buckets: NDArray[np.int32], strength: Singles, limit: int | None) -> NDArray[np.int32]:
    """Group hands by bucket, in order of increasing strength.

    Args:
        buckets: int32 [H] bucket of each hand, -1 for impossible hands.
        strength: float32 [H] strength of each hand.
        limit: largest number of clusters. None gives each hand its own cluster, which is exact but slow.

    Returns:
        int32 [H] cluster 0..C-1 of each hand, -1 for impossible hands.
    """
    clusters = np.full(len(buckets), -1, dtype=np.int32)
    live = np.flatnonzero(buckets >= 0)
    if limit is None:
        clusters[live] = np.arange(len(live), dtype=np.int32)
        return clusters
    names, dense, counts = np.unique(buckets[live], return_inverse=True, return_counts=True)
    mean = np.bincount(dense, weights=strength[live].astype(np.float64)) / counts
    order = np.argsort(mean, kind="stable")
    position = np.empty(len(names), dtype=np.int64)
    position[order] = _merge_groups(counts[order], limit)
    clusters[live] = position[dense].astype(np.int32)
    return clusters


def _merge_groups(counts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Merge consecutive entries into at most `limit` groups of about equal counts, numbered from 0 without gaps."""
    if len(counts) <= limit:
        return np.arange(len(counts))
    middle = np.cumsum(counts) - counts / 2
    group = np.minimum((middle * limit / counts.sum()).astype(np.int64), limit - 1)
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def k_means(points: Singles, weights: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """Cluster points by a few steps of Lloyd's algorithm.

    The initial centres are chosen one after the other, each the farthest point from those before.

    Args:
        points: float32 [n, d] points.
        weights: int [n] weights of the points.
        count: largest number of clusters.

    Returns:
        int64 [n] cluster of each point, numbered without gaps.
    """
    labels = nearest_centres(np.ascontiguousarray(points.T), weights.astype(np.int64), count, _STEPS)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def cluster_means(values: Singles, clusters: NDArray[np.int32]) -> Singles:
    """Average values over the hands of each cluster.

    Args:
        values: float32 [H, F] features of each hand.
        clusters: int32 [H] cluster of each hand, -1 for none.

    Returns:
        float32 [C, F] means.
    """
    live = clusters >= 0
    count = int(clusters.max()) + 1
    sums = np.zeros((count, values.shape[1]), dtype=np.float64)
    np.add.at(sums, clusters[live], values[live])
    sizes = np.bincount(clusters[live], minlength=count)
    return (sums / sizes[:, None]).astype(np.float32)


def pair_means(values: Singles, compatible: Singles, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Singles:
    """Average values over the compatible pairs of hands of two clusters.

    Args:
        values: float32 [H, H] value of each pair.
        compatible: float32 [H, H] 1 for pairs that share no card, else 0.
        rows: int32 [H] cluster of the first hand, -1 for none.
        columns: int32 [H] cluster of the second hand, -1 for none.

    Returns:
        float32 [C_rows, C_columns] means. Clusters without a compatible pair receive the mean of all pairs.
    """
    values, compatible, rows, columns = (_read_only(array) for array in (values, compatible, rows, columns))
    sums, counts = pair_sums(values, compatible, rows, columns, int(rows.max()) + 1, int(columns.max()) + 1)
    overall = sums.sum() / max(counts.sum(), 1.0)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1.0), overall)
    return means.astype(np.float32)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a view that fits the kernel's signature, whether the array is writable or not."""
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
