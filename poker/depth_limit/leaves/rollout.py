"""Leaf values by rolling the blueprint and its biased forms out from the leaf during play ([DLS] section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.dealers import sample_boards
from poker.abstraction.features import hand_features
from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.continuations.rollout import Continuations
from poker.depth_limit.evaluator import LeafEvaluator, cluster_equity, leaf_values, played_street
from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.depth_limit.leaves.clusters import hand_clusters, pair_means
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.game.rules import Rules
from poker.kernels.types import Board, Ranges, Singles
from poker.solvers.blueprint import CONTINUATIONS, Blueprint
from poker.solvers.vector.leaves import LeafValues
from poker.store.entropy import drawn_seed
from poker.store.lru_cache import LRUCache

_REMEMBERED_BOARDS = 32
_REMEMBERED_NODES = 256
"""Solves of one round with other bet sizes share most leaves; tables side by side come between."""


@dataclass(frozen=True)
class _Sample:
    """Sample for one board: complete boards, hands [m], their clusters [m]; clusters [H], equity [C, C]."""

    runouts: list[Board]
    hands: NDArray[np.int64]
    members: NDArray[np.int32]
    clusters: NDArray[np.int32]
    equity: Singles


class RolloutLeaf(LeafEvaluator):
    """Exact expectations over the betting on `runouts` sampled boards, for `hands_per_cluster` hands of each cluster.

    `clusters` bounds C, None leaves every hand by itself; `factor` multiplies the favoured class of action of a biased
    continuation. The boards and hands are drawn from `seed` and the board, so equal states get equal values.
    """

    num_continuations = len(CONTINUATIONS)

    def __init__(
        self,
        *,
        blueprint: Blueprint,
        factor: float,
        clusters: int | None,
        hands_per_cluster: int,
        runouts: int,
        seed: int | None,
    ) -> None:
        self._blueprint = blueprint
        self._continuations = Continuations(blueprint, Biased(factor).of(blueprint))
        self._states = BlueprintStates(blueprint.tree)
        self._clusters = clusters
        self._hands_per_cluster = hands_per_cluster
        self._runouts = runouts
        self._seed = drawn_seed(seed)
        self._samples: LRUCache[Board, _Sample] = LRUCache(_REMEMBERED_BOARDS)
        self._values: LRUCache[tuple[Board, int], Singles] = LRUCache(_REMEMBERED_NODES)

    def check_game(self, game: Rules) -> None:
        self._states.check_game(game)

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Values of `LeafEvaluator`; ranges play no part."""
        sample = self._sample(board)
        predicted = [self._predict(leaf, board, sample)[own] for leaf in leaves if not leaf.is_over]
        count = len(sample.equity)
        in_pots = np.array(predicted, dtype=np.float32).reshape(-1, self.num_continuations, count, count)
        return leaf_values(leaves, own, sample.clusters, sample.equity, in_pots)

    def _sample(self, board: Board) -> _Sample:
        return self._samples.get_or_make(board, lambda: self._draw(board))

    def _draw(self, board: Board) -> _Sample:
        rng = np.random.default_rng([self._seed, *board])
        strength = hand_features(board).ehs.astype(np.float32)
        clusters = hand_clusters(self._blueprint.cards.buckets(board), strength, self._clusters)
        hands = representatives(clusters, self._hands_per_cluster, rng)
        runouts = sample_boards(self._blueprint.rules, board, self._runouts, rng)
        equity = cluster_equity(self._blueprint.rules, board, clusters)
        return _Sample(runouts, hands, clusters[hands], clusters, equity)

    def _predict(self, leaf: Betting, board: Board, sample: _Sample) -> Singles:
        """[2, K, C, C] values, first axis own, in pots of the blueprint's state that stands for `leaf`."""
        node = self._states.node(leaf, played_street(leaf))
        return self._values.get_or_make((board, node), lambda: self._roll_out(node, sample))

    def _roll_out(self, node: int, sample: _Sample) -> Singles:
        hands, members = sample.hands, sample.members
        estimate = self._continuations.values(node, sample.runouts, hands, hands)
        pot = float(self._blueprint.tree.committed[node].sum())
        valued = (estimate.count > 0) & HOLDEM.disjoint[np.ix_(hands, hands)]
        by_own = []
        for mean, pairs in ((estimate.mean[0], valued), (estimate.mean[1].transpose(0, 2, 1), valued.T)):
            weight = pairs.astype(np.float32)
            by_own.append([pair_means(values / pot, weight, members, members) for values in mean])
        return np.array(by_own, dtype=np.float32)


def representatives(clusters: NDArray[np.int32], per_cluster: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Up to `per_cluster` hands of each cluster, drawn without replacement."""
    shuffled = rng.permutation(np.flatnonzero(clusters >= 0))
    ordered = shuffled[np.argsort(clusters[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(clusters[ordered], prepend=-1))
    place = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    return np.sort(ordered[place < per_cluster])
