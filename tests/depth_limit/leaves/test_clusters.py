"""Clusters of hands: ordered by strength, never more than requested, and means over exactly their members."""

import numpy as np
import pytest

from poker.depth_limit.leaves.clusters import cluster_means, hand_clusters, k_means, pair_means


@pytest.fixture
def buckets() -> np.ndarray:
    buckets = np.random.default_rng(0).integers(0, 40, 1326).astype(np.int32)
    buckets[::9] = -1
    return buckets


@pytest.fixture
def strength(buckets: np.ndarray) -> np.ndarray:
    strength: np.ndarray = (np.random.default_rng(1).permutation(40)[buckets] / 40).astype(np.float32)
    return strength


def test_one_cluster_a_bucket_in_order_of_strength(buckets: np.ndarray, strength: np.ndarray) -> None:
    clusters = hand_clusters(buckets, strength, 64)
    live = buckets >= 0
    assert (clusters[~live] == -1).all()
    assert set(clusters[live]) == set(range(40))
    means = cluster_means(strength[:, None], clusters)[:, 0]
    assert (np.diff(means) > 0).all()
    for bucket in range(40):
        assert len(set(clusters[buckets == bucket])) == 1


@pytest.mark.parametrize("limit", [1, 7, 39])
def test_fewer_clusters_merge_neighbours(buckets: np.ndarray, strength: np.ndarray, limit: int) -> None:
    clusters = hand_clusters(buckets, strength, limit)
    assert 1 <= clusters.max() + 1 <= limit
    assert clusters.max() + 1 >= 0.8 * limit
    top = [strength[clusters == c].max() for c in range(clusters.max() + 1)]
    bottom = [strength[clusters == c].min() for c in range(clusters.max() + 1)]
    assert all(below < above for below, above in zip(top[:-1], bottom[1:], strict=True))


def test_no_limit_makes_every_hand_its_own(buckets: np.ndarray, strength: np.ndarray) -> None:
    clusters = hand_clusters(buckets, strength, None)
    assert clusters.max() + 1 == np.count_nonzero(buckets >= 0)
    assert len(set(clusters[clusters >= 0])) == clusters.max() + 1


def test_k_means_finds_groups_that_lie_apart_and_leaves_no_number_out() -> None:
    rng = np.random.default_rng(2)
    groups = rng.integers(0, 5, 300)
    points = (rng.normal(0, 10, (5, 8))[groups] + rng.normal(0, 0.1, (300, 8))).astype(np.float32)
    labels = k_means(points, rng.integers(1, 9, 300), 5)
    assert len(set(zip(groups.tolist(), labels.tolist(), strict=True))) == 5
    assert set(labels) == set(range(5))
    assert set(k_means(np.repeat(points[:2], 10, axis=0), np.ones(20, np.int64), 9)) == {0, 1}


def test_pair_means_count_possible_pairs_only() -> None:
    rng = np.random.default_rng(3)
    values = rng.random((12, 12)).astype(np.float32)
    compatible = (rng.random((12, 12)) < 0.7).astype(np.float32)
    rows = np.array([0, 0, 1, 1, 2, 2, -1, 0, 1, 2, 2, -1], dtype=np.int32)
    columns = np.array([1, 0, 1, 0, -1, 1, 0, 1, 0, 1, 0, 1], dtype=np.int32)
    compatible[np.ix_(rows == 2, columns == 1)] = 0.0
    means = pair_means(values, compatible, rows, columns)
    possible = [(i, j) for i in range(12) for j in range(12) if compatible[i, j] and rows[i] >= 0 and columns[j] >= 0]
    for row in range(3):
        for column in range(2):
            chosen = [values[i, j] for i, j in possible if rows[i] == row and columns[j] == column]
            expected = np.mean(chosen) if chosen else np.mean([values[i, j] for i, j in possible])
            assert means[row, column] == pytest.approx(expected, rel=1e-5)
