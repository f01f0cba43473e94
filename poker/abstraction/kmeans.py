"""k-means over hands: seeding, Lloyd iterations and restarts.

There are n points, K centres, Q coordinates and M next-street buckets. `poker.kernels.cards.clustering` does the
arithmetic. Seeding is k-means++ under the city-block distance. The mean of a cluster of distributions is their average,
as is usual with the earth mover's distance. The result depends only on the seed, not on the number of threads.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards import clustering as kernel

Labels = NDArray[np.int32]
Costs = NDArray[np.float32]
Vectors = NDArray[np.int16]

LARGEST_DISTANCE = 32767
"""Coordinates are scaled so that no city-block distance is larger."""


@dataclass(frozen=True)
class ClusteringEffort:
    """The effort of a k-means run.

    Attributes:
        sample: number of points to cluster.
        restarts: number of seedings.
        iterations: largest number of Lloyd iterations after each seeding.
    """

    sample: int
    restarts: int
    iterations: int


class FlowCenters:
    """Cluster centres that are distributions over next-street buckets, ready for `assign_flows`.

    Attributes:
        masses: float32 [K, M] probability of each bucket.
        vectors: int16 [K, Q] mean vector of each centre.
    """

    def __init__(self, masses: NDArray[np.float32], bucket_vectors: Vectors) -> None:
        """Compute the mean vectors of the centres.

        Args:
            masses: float32 [K, M] probability of each bucket.
            bucket_vectors: int16 [M, Q] vector of each bucket.
        """
        self.masses = masses
        self.vectors = np.rint(masses @ bucket_vectors.astype(np.float32)).astype(np.int16)


class Ground:
    """Distances between M next-street buckets, the ground distance of the earth mover's distance.

    Attributes:
        bucket_vectors: int16 [M, Q] vector of each bucket.
        order: uint16 [M, M] buckets by distance from each bucket, nearest first.
        distance: float32 [M, M] distances in that order.
    """

    def __init__(self, bucket_vectors: Vectors) -> None:
        """Compute all distances.

        Args:
            bucket_vectors: int16 [M, Q] vector of each bucket.
        """
        wide = bucket_vectors.astype(np.int32)
        distance = np.array([np.abs(wide - row).sum(axis=1) for row in wide], dtype=np.float32)
        order = np.argsort(distance, axis=1, kind="stable")
        self.bucket_vectors = bucket_vectors
        self.order = order.astype(np.uint16)
        self.distance = np.take_along_axis(distance, order, axis=1)


CentersT = TypeVar("CentersT")


class Points(Protocol, Generic[CentersT]):
    """Points to cluster, in one of the two spaces."""

    @property
    def vectors(self) -> Vectors:
        """int16 [n, Q] vectors of the points, used for seeding."""

    def at(self, chosen: NDArray[np.int64]) -> CentersT:
        """Return centres at the points with the given indices [K]."""

    def assign(self, centers: CentersT) -> tuple[Labels, Costs]:
        """Return the nearest centre int32 [n] and the distance float32 [n] of each point."""

    def means(self, labels: Labels, num_centers: int) -> CentersT:
        """Return the centre of the points of each label, from labels int32 [n]."""


@dataclass(frozen=True, eq=False)
class VectorPoints:
    """Points under the city-block distance; centres are int16 [K, Q].

    Attributes:
        vectors: int16 [n, Q] coordinates of the points.
    """

    vectors: Vectors

    def at(self, chosen: NDArray[np.int64]) -> Vectors:
        """Return the points with the given indices [K] as centres [K, Q]."""
        return self.vectors[chosen]

    def assign(self, centers: Vectors) -> tuple[Labels, Costs]:
        """Return the nearest centre int32 [n] and the distance float32 [n] of each point."""
        return kernel.assign_vectors(self.vectors, centers)

    def means(self, labels: Labels, num_centers: int) -> Vectors:
        """Return the rounded mean [K, Q] of the points of each label, from labels int32 [n]."""
        sums = kernel.sum_vectors(self.vectors, labels, num_centers)
        return np.rint(sums / np.bincount(labels, minlength=num_centers)[:, None]).astype(np.int16)


class FlowPoints:
    """Points that are lists of next-street buckets, under the greedy flow distance.

    Attributes:
        lists: uint16 [n, T] next-street buckets of each point.
        ground: distances between the buckets.
        vectors: int16 [n, Q] mean vectors of the points.
        flows: number of flow distances computed so far.
    """

    def __init__(self, lists: NDArray[np.uint16], ground: Ground) -> None:
        """Compute the mean vectors of the points.

        Args:
            lists: uint16 [n, T] next-street buckets of each point.
            ground: distances between the buckets.
        """
        self.lists = lists
        self.ground = ground
        self.vectors: Vectors = kernel.mean_vectors(lists, ground.bucket_vectors)
        self.flows = 0

    def at(self, chosen: NDArray[np.int64]) -> FlowCenters:
        """Return the distributions of the points with the given indices [K] as centres."""
        return self._centers(np.arange(len(chosen), dtype=np.int32), self.lists[chosen], len(chosen))

    def assign(self, centers: FlowCenters) -> tuple[Labels, Costs]:
        """Return the nearest centre int32 [n] and the distance float32 [n] of each point."""
        labels, costs, flows = kernel.assign_flows(
            self.lists, self.vectors, centers.masses, centers.vectors, self.ground.order, self.ground.distance
        )
        self.flows += flows
        return labels, costs

    def means(self, labels: Labels, num_centers: int) -> FlowCenters:
        """Return the average distribution of the points of each label, from labels int32 [n]."""
        return self._centers(labels, self.lists, num_centers)

    def _centers(self, labels: Labels, lists: NDArray[np.uint16], num_centers: int) -> FlowCenters:
        counts = kernel.sum_lists(lists, labels, num_centers, len(self.ground.bucket_vectors))
        return FlowCenters((counts / counts.sum(axis=1, keepdims=True)).astype(np.float32), self.ground.bucket_vectors)


def find_centers(
    points: Points[CentersT], num_centers: int, effort: ClusteringEffort, seed: int, show: Callable[[int, int], None]
) -> CentersT:
    """Run k-means several times and return the best centres.

    The best run has the smallest mean squared distance of the points to their centres.

    Args:
        points: the points to cluster.
        num_centers: number of centres K.
        effort: number of restarts and iterations.
        seed: seed of the k-means++ draws.
        show: called with the number of iterations done and in total.
    """
    best: tuple[float, CentersT] | None = None
    total = effort.restarts * effort.iterations
    for restart in range(effort.restarts):
        rng = np.random.default_rng([seed, restart])
        centers = points.at(plus_plus(points.vectors, num_centers, rng))
        before = None
        for step in range(effort.iterations):
            labels, costs = points.assign(centers)
            loss = float(np.mean(costs.astype(np.float64) ** 2))
            if best is None or loss < best[0]:
                best = loss, centers
            show(restart * effort.iterations + step + 1, total)
            if before is not None and np.count_nonzero(labels != before) <= len(labels) // 1000:
                break
            before = labels
            centers = points.means(_fill_empty(labels, costs, num_centers), num_centers)
    assert best is not None
    return best[1]


def plus_plus(vectors: Vectors, num_centers: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Choose initial centres by k-means++.

    Each centre is drawn with probability proportional to its squared distance to the centres before it. With fewer
    different points than centres, positions repeat and some centres attract no points.

    Args:
        vectors: int16 [n, Q] points.
        num_centers: number of centres K.

    Returns:
        int64 [K] indices of the chosen points.
    """
    nearest = np.full(len(vectors), np.inf)
    chosen = np.empty(num_centers, dtype=np.int64)
    chosen[0] = rng.integers(len(vectors))
    for k in range(1, num_centers):
        costs = kernel.assign_vectors(vectors, vectors[chosen[k - 1 : k]])[1]
        np.minimum(nearest, costs.astype(np.float64) ** 2, out=nearest)
        sums = np.cumsum(nearest)
        chosen[k] = min(np.searchsorted(sums, rng.random() * sums[-1], side="right"), len(vectors) - 1)
    return chosen


def _fill_empty(labels: Labels, costs: Costs, num_centers: int) -> Labels:
    """Return labels in which every centre is used.

    Empty centres receive the points farthest from their own centres, from clusters with more than one point.
    """
    counts = np.bincount(labels, minlength=num_centers)
    empty = np.flatnonzero(counts == 0)
    if not len(empty):
        return labels
    filled, farthest = labels.copy(), iter(np.argsort(-costs, kind="stable"))
    for center in empty:
        point = next(i for i in farthest if counts[filled[i]] > 1)
        counts[filled[point]] -= 1
        filled[point] = center
    return filled
