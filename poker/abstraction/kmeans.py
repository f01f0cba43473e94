"""k-means over hands: seeding, Lloyd iterations and restarts; `poker.kernels.cards.clustering` does the arithmetic.

n points, K centres, Q coordinates, M next-street buckets. Seeding is k-means++ under the city-block distance. The mean
of a cluster of distributions is their average, as usual with the earth mover's distance. Everything follows from the
seed, whatever the number of threads.
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
    """Effort of k-means: `restarts` seedings of at most `iterations` steps each, on `sample` points."""

    sample: int
    restarts: int
    iterations: int


class FlowCenters:
    """Centres that are distributions [K, M] over buckets with vectors [M, Q] (int16), ready for `assign_flows`."""

    def __init__(self, masses: NDArray[np.float32], bucket_vectors: Vectors) -> None:
        self.masses = masses
        self.vectors = np.rint(masses @ bucket_vectors.astype(np.float32)).astype(np.int16)


class Ground:
    """Distances between M buckets with vectors [M, Q]: `order` and `distance` [M, M], each row nearest first."""

    def __init__(self, bucket_vectors: Vectors) -> None:
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
    def vectors(self) -> Vectors: ...

    def at(self, chosen: NDArray[np.int64]) -> CentersT: ...

    def assign(self, centers: CentersT) -> tuple[Labels, Costs]: ...

    def means(self, labels: Labels, num_centers: int) -> CentersT: ...


@dataclass(frozen=True, eq=False)
class VectorPoints:
    """Points [n, Q] under the city-block distance; centres are int16 [K, Q]."""

    vectors: Vectors

    def at(self, chosen: NDArray[np.int64]) -> Vectors:
        return self.vectors[chosen]

    def assign(self, centers: Vectors) -> tuple[Labels, Costs]:
        return kernel.assign_vectors(self.vectors, centers)

    def means(self, labels: Labels, num_centers: int) -> Vectors:
        sums = kernel.sum_vectors(self.vectors, labels, num_centers)
        return np.rint(sums / np.bincount(labels, minlength=num_centers)[:, None]).astype(np.int16)


class FlowPoints:
    """Points that are lists [n, T] of next-street buckets, under the greedy flow distance."""

    def __init__(self, lists: NDArray[np.uint16], ground: Ground) -> None:
        self.lists = lists
        self.ground = ground
        self.vectors: Vectors = kernel.mean_vectors(lists, ground.bucket_vectors)
        self.flows = 0

    def at(self, chosen: NDArray[np.int64]) -> FlowCenters:
        return self._centers(np.arange(len(chosen), dtype=np.int32), self.lists[chosen], len(chosen))

    def assign(self, centers: FlowCenters) -> tuple[Labels, Costs]:
        labels, costs, flows = kernel.assign_flows(
            self.lists, self.vectors, centers.masses, centers.vectors, self.ground.order, self.ground.distance
        )
        self.flows += flows
        return labels, costs

    def means(self, labels: Labels, num_centers: int) -> FlowCenters:
        return self._centers(labels, self.lists, num_centers)

    def _centers(self, labels: Labels, lists: NDArray[np.uint16], num_centers: int) -> FlowCenters:
        counts = kernel.sum_lists(lists, labels, num_centers, len(self.ground.bucket_vectors))
        return FlowCenters((counts / counts.sum(axis=1, keepdims=True)).astype(np.float32), self.ground.bucket_vectors)


def find_centers(
    points: Points[CentersT],
    num_centers: int,
    effort: ClusteringEffort,
    seed: int,
    progress: Callable[[int, int], None],
) -> CentersT:
    """Centres of the best of several runs, by the mean squared distance of the points to their centres."""
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
            progress(restart * effort.iterations + step + 1, total)
            if before is not None and np.count_nonzero(labels != before) <= len(labels) // 1000:
                break
            before = labels
            centers = points.means(_fill_empty(labels, costs, num_centers), num_centers)
    assert best is not None
    return best[1]


def plus_plus(vectors: Vectors, num_centers: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """k-means++: positions of points [n, Q], each drawn in proportion to its squared distance to those before.

    Fewer different points than centres give repeated positions, hence centres that nothing is assigned to.
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
    """Labels with every centre in use: empty ones take the points farthest from theirs (of clusters that keep one)."""
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
