"""Leaf values by rolling the blueprint and its biased forms out from the leaf during play ([DLS] section 4)."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import COMPATIBLE, hand_features
from poker.betting import Betting
from poker.features.leaf import CONTINUATIONS
from poker.search.beliefs import Ranges
from poker.search.blueprint_states import BlueprintStates
from poker.search.clusters import hand_clusters, pair_means
from poker.search.leaf import cluster_equity, leaf_values, played_street
from poker.solvers.continuation import Continuations, sample_boards
from poker.solvers.leaf_values import LeafValues
from poker.solvers.policy import Blueprint


class RolloutLeaf:
    """Exact expectations over the betting on `runouts` sampled boards, for `hands_per_cluster` hands of each cluster.

    `clusters` bounds C; `factor` multiplies the favoured class of action of a biased continuation. The boards and hands
    are drawn from `seed` and the board, so equal states get equal values.
    """

    num_continuations = len(CONTINUATIONS)

    def __init__(
        self, *, blueprint: Blueprint, factor: float, clusters: int, hands_per_cluster: int, runouts: int, seed: int
    ) -> None:
        self._blueprint = blueprint
        self._continuations = Continuations(blueprint, factor)
        self._states = BlueprintStates(blueprint.tree)
        self._clusters = clusters
        self._hands_per_cluster = hands_per_cluster
        self._runouts = runouts
        self._seed = seed

    def values(self, leaves: Sequence[Betting], board: tuple[int, ...], ranges: Ranges, own: int) -> LeafValues:
        """As `LeafEvaluator`."""
        rng = np.random.default_rng([self._seed, *board])
        strength = hand_features(board).ehs.astype(np.float32)
        clusters = hand_clusters(self._blueprint.cards.buckets(board), strength, self._clusters)
        hands = representatives(clusters, self._hands_per_cluster, rng)
        boards = sample_boards(self._blueprint.rules, board, self._runouts, rng)
        members = clusters[hands]
        predicted = [self._predict(leaf, boards, hands, members, own) for leaf in leaves if not leaf.is_over]
        count = int(clusters.max()) + 1
        in_pots = np.array(predicted, dtype=np.float32).reshape(-1, self.num_continuations, count, count)
        return leaf_values(leaves, own, clusters, cluster_equity(board, clusters), in_pots)

    def _predict(
        self,
        leaf: Betting,
        boards: Sequence[tuple[int, ...]],
        hands: NDArray[np.int64],
        members: NDArray[np.int32],
        own: int,
    ) -> NDArray[np.float32]:
        """[K, C, C] in pots of the blueprint's state that stands for `leaf`."""
        node = self._states.node(leaf, played_street(leaf))
        found = self._continuations.values(node, boards, hands, hands)
        pot = float(self._blueprint.tree.committed[node].sum())
        known = (found.count > 0) & COMPATIBLE[np.ix_(hands, hands)]
        weight = (known if own == 0 else known.T).astype(np.float32)
        net = found.mean[own] if own == 0 else found.mean[own].transpose(0, 2, 1)
        return np.stack([pair_means(values / pot, weight, members, members) for values in net]).astype(np.float32)


def representatives(clusters: NDArray[np.int32], per_cluster: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Up to `per_cluster` hands of each cluster, drawn without replacement."""
    shuffled = rng.permutation(np.flatnonzero(clusters >= 0))
    ordered = shuffled[np.argsort(clusters[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(clusters[ordered], prepend=-1))
    place = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    return np.sort(ordered[place < per_cluster])
