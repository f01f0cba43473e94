"""Groups of hands that a leaf evaluator values as one: what makes values at a leaf affordable during play.

Hands of one card bucket belong together (`hand_clusters`; where a board has more buckets than wanted, neighbours in
strength are merged), or those near each other in some space (`k_means`). Values are then [C, C] instead of [H, H]; card
removal between the players stays exact inside the solver.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.clusters import nearest_centres, pair_sums
from poker.kernels.types import Floats, Singles

_STEPS = 5
"""Steps of Lloyd's: with 30 the values of nets at leaves are no nearer to those of single hands."""


def hand_clusters(buckets: NDArray[np.int32], strength: Singles, limit: int | None) -> NDArray[np.int32]:
    """[H] cluster 0..C-1 of every live hand (bucket >= 0), -1 elsewhere; at most `limit` clusters, by rising strength.

    `limit` None makes every hand its own cluster: exact, for tests and for machines with room.
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
    position[order] = _merged(counts[order], limit)
    clusters[live] = position[dense].astype(np.int32)
    return clusters


def _merged(counts: NDArray[np.int64], limit: int) -> NDArray[np.int64]:
    """Groups of consecutive entries with about equal counts, numbered from 0 without gaps; one each if they fit."""
    if len(counts) <= limit:
        return np.arange(len(counts))
    middle = np.cumsum(counts) - counts / 2
    group = np.minimum((middle * limit / counts.sum()).astype(np.int64), limit - 1)
    return np.unique(group, return_inverse=True)[1].astype(np.int64)


def k_means(points: Singles, weights: NDArray[np.integer], count: int) -> NDArray[np.int64]:
    """[n] cluster of each of `points` [n, d] with `weights` [n], numbered without gaps: some steps of Lloyd's from
    `count` points of which each is the farthest from those before."""
    labels = nearest_centres(np.ascontiguousarray(points.T), weights.astype(np.int64), count, _STEPS)
    return np.unique(labels, return_inverse=True)[1].astype(np.int64)


def cluster_means(values: Singles, clusters: NDArray[np.int32]) -> Singles:
    """[C, F] mean of `values` [H, F] over the hands of each cluster."""
    live = clusters >= 0
    count = int(clusters.max()) + 1
    sums = np.zeros((count, values.shape[1]), dtype=np.float64)
    np.add.at(sums, clusters[live], values[live])
    sizes = np.bincount(clusters[live], minlength=count)
    return (sums / sizes[:, None]).astype(np.float32)


def pair_means(values: Singles, compatible: Singles, rows: NDArray[np.int32], columns: NDArray[np.int32]) -> Singles:
    """[C_rows, C_columns] mean of `values` [H, H] over the pairs of hands that share no card.

    `compatible` [H, H] is 1 for such pairs. A pair of clusters without any takes the mean of all pairs.
    """
    values, compatible, rows, columns = (_read_only(array) for array in (values, compatible, rows, columns))
    sums, counts = pair_sums(values, compatible, rows, columns, int(rows.max()) + 1, int(columns.max()) + 1)
    overall = sums.sum() / max(counts.sum(), 1.0)
    means: Floats = np.where(counts > 0, sums / np.maximum(counts, 1.0), overall)
    return means.astype(np.float32)


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that fits the kernel's signature, whether the array may be written or not."""
    view: NDArray[Any] = np.ascontiguousarray(array).view()
    view.setflags(write=False)
    return view
