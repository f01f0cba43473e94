"""k-means and its kernels against plain Python."""

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.kmeans import ClusteringEffort, FlowPoints, Ground, VectorPoints, find_centers, plus_plus


def quiet(done: int, total: int) -> None:
    assert 0 < done <= total


@pytest.fixture
def vectors() -> NDArray[np.int16]:
    """500 points around five centres in eight dimensions."""
    rng = np.random.default_rng(0)
    return (rng.integers(0, 3500, (5, 1, 8)) + rng.integers(0, 200, (5, 100, 8))).reshape(-1, 8).astype(np.int16)


@pytest.fixture
def flows() -> FlowPoints:
    """300 lists of 47 next-street buckets of 12, each list around a place of its own."""
    rng = np.random.default_rng(1)
    bucket_vectors = np.sort(rng.integers(0, 500, (12, 20)), axis=0).astype(np.int16)
    middles = rng.integers(0, 12, 300)
    lists = np.clip(np.rint(middles[:, None] + rng.normal(0, 1.5, (300, 47))), 0, 11).astype(np.uint16)
    return FlowPoints(np.sort(lists, axis=1), Ground(bucket_vectors))


def test_nearest_vectors(vectors: NDArray[np.int16]) -> None:
    centers = vectors[::41]
    labels, costs = VectorPoints(vectors).assign(centers)
    distances = np.abs(vectors[:, None].astype(int) - centers).sum(axis=2)
    assert np.array_equal(labels, distances.argmin(axis=1))
    assert np.array_equal(costs, distances.min(axis=1))


def test_means(vectors: NDArray[np.int16]) -> None:
    labels = np.repeat(np.arange(5, dtype=np.int32), 100)
    expected = np.rint(vectors.reshape(5, 100, 8).mean(axis=1))
    assert np.array_equal(VectorPoints(vectors).means(labels, 5), expected)


def test_cluster_finds_separate_groups(vectors: NDArray[np.int16]) -> None:
    points = VectorPoints(vectors)
    centers = find_centers(points, 5, ClusteringEffort(500, 3, 10), 0, quiet)
    labels, _ = points.assign(centers)
    groups = labels.reshape(5, 100)
    assert (groups == groups[:, :1]).all()
    assert sorted(groups[:, 0].tolist()) == list(range(5))
    assert np.array_equal(centers, find_centers(points, 5, ClusteringEffort(500, 3, 10), 0, quiet))


def test_more_centres_than_different_points() -> None:
    points = VectorPoints(np.repeat(np.array([[1, 2], [30, 4]], dtype=np.int16), 10, axis=0))
    centers = find_centers(points, 4, ClusteringEffort(20, 1, 5), 0, quiet)
    assert points.assign(centers)[1].max() == 0


def test_seeding_prefers_far_points(vectors: NDArray[np.int16]) -> None:
    chosen = plus_plus(vectors, 5, np.random.default_rng(3))
    assert len(set((chosen // 100).tolist())) == 5


def greedy_flow(points: list[int], masses: list[float], distance: NDArray[np.float64]) -> float:
    """Ganzfried & Sandholm 2014, algorithm 2, over the distinct buckets of a point."""
    sources = sorted(set(points))
    left = {b: points.count(b) / len(points) for b in sources}
    room, cost = list(masses), 0.0
    nearest = {b: sorted(range(len(masses)), key=lambda c: (distance[b, c], c)) for b in sources}
    for step in range(len(masses)):
        for b in sources:
            target = nearest[b][step]
            moved = min(left[b], room[target])
            cost += moved * distance[b, target]
            left[b] -= moved
            room[target] -= moved
    return cost


def test_flow_assignment_is_the_plain_one(flows: FlowPoints) -> None:
    """Bounds save flow computations and change nothing: same label and cost as trying every centre."""
    centers = flows.at(np.arange(0, 300, 25))
    labels, costs = flows.assign(centers)
    wide = flows.ground.bucket_vectors.astype(np.float64)
    distance = np.abs(wide[:, None] - wide).sum(axis=2)
    for i in range(0, 300, 7):
        every = [greedy_flow(flows.lists[i].tolist(), row.tolist(), distance) for row in centers.masses]
        assert costs[i] == pytest.approx(min(every), rel=1e-4, abs=1e-2)
        assert every[labels[i]] == pytest.approx(min(every), rel=1e-4, abs=1e-2)
    assert flows.flows < 300 * 12


def test_flow_of_a_point_to_itself_is_free(flows: FlowPoints) -> None:
    centers = flows.at(np.arange(300))
    labels, costs = flows.assign(centers)
    assert costs.max() < 1e-2
    assert np.array_equal(flows.lists[labels], flows.lists)


def test_flow_is_never_below_its_bound(flows: FlowPoints) -> None:
    centers = flows.at(np.array([10]))
    _, costs = flows.assign(centers)
    bounds = np.abs(flows.vectors.astype(int) - centers.vectors[0]).sum(axis=1)
    assert (costs >= bounds - flows.vectors.shape[1]).all()
    assert (bounds > 0).mean() > 0.9


def test_flow_means_are_average_distributions(flows: FlowPoints) -> None:
    labels = (np.arange(300) % 3).astype(np.int32)
    centers = flows.means(labels, 3)
    for k in range(3):
        expected = np.bincount(flows.lists[labels == k].ravel(), minlength=12) / (100 * 47)
        assert np.allclose(centers.masses[k], expected, atol=1e-6)


def test_flow_clusters_improve_on_their_seeds(flows: FlowPoints) -> None:
    seeds = flows.at(plus_plus(flows.vectors, 6, np.random.default_rng([5, 0])))
    centers = find_centers(flows, 6, ClusteringEffort(300, 1, 15), 5, quiet)
    losses = [np.mean(flows.assign(c)[1].astype(np.float64) ** 2) for c in (seeds, centers)]
    assert losses[1] < 0.8 * losses[0]
