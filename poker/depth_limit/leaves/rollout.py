"""Leaf values from rollouts of the blueprint and its biased forms during play ([DLS] section 4)."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

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
from poker.kernels.types import I32, I64, Board, Ranges, Singles
from poker.solvers.blueprint import CONTINUATIONS, Blueprint
from poker.solvers.vector.leaves import LeafValues
from poker.store.entropy import drawn_seed
from poker.store.lru_cache import LRUCache

_CACHED_BOARDS = 32
_CACHED_NODES = 256
"""Solves of one round with different bet sizes share most leaves; other tables may interleave their solves."""


@dataclass(frozen=True)
class _Sample:
    """The sample for one board: complete boards, hands [m], their clusters [m], clusters [H] and equity [C, C]."""

    runouts: list[Board]
    hands: I64
    members: I32
    clusters: I32
    equity: Singles


class RolloutLeaf(LeafEvaluator):
    """An evaluator that rolls out the blueprint: exact over betting, sampled over boards and hands.

    Boards and hands are drawn from the seed and the board, so equal states receive equal values.
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
        """Prepare rollouts.

        Args:
            blueprint: the strategy to roll out.
            factor: multiplier of the favoured class of action of a biased continuation.
            clusters: largest number of clusters C; None for single hands.
            hands_per_cluster: hands drawn from each cluster.
            runouts: number of sampled boards.
            seed: seed of the samples; None for a random seed.
        """
        self._blueprint = blueprint
        self._continuations = Continuations(blueprint, Biased(factor).of(blueprint))
        self._states = BlueprintStates(blueprint.tree)
        self._clusters = clusters
        self._hands_per_cluster = hands_per_cluster
        self._runouts = runouts
        self._seed = drawn_seed(seed)
        self._samples: LRUCache[Board, _Sample] = LRUCache(_CACHED_BOARDS)
        self._values: LRUCache[tuple[Board, int], Singles] = LRUCache(_CACHED_NODES)

    def check_game(self, game: Rules) -> None:
        """Check that the blueprint fits a game.

        Raises:
            RulesError: the games differ in deck, streets, players or their order.
        """
        self._states.check_game(game)

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        """Compute the values of several leaves; the ranges are ignored.

        Args:
            leaves: L states at which a betting round is over.
            board: [B] cards on the board.
            ranges: [P, H] ignored.
            own: the player whose value is computed.

        Returns:
            Net chips of `own`, [L, K, C, C].
        """
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
        """Return values [2, K, C, C], first axis own, in pots of the blueprint's state that represents `leaf`."""
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


def representatives(clusters: I32, per_cluster: int, rng: np.random.Generator) -> I64:
    """Draw hands of each cluster without replacement.

    Args:
        clusters: int32 [H] cluster of each hand, -1 for none.
        per_cluster: largest number of hands per cluster.

    Returns:
        int64 [m] hands in ascending order.
    """
    shuffled = rng.permutation(np.flatnonzero(clusters >= 0))
    ordered = shuffled[np.argsort(clusters[shuffled], kind="stable")]
    starts = np.flatnonzero(np.diff(clusters[ordered], prepend=-1))
    place = np.arange(len(ordered)) - np.repeat(starts, np.diff(np.append(starts, len(ordered))))
    return np.sort(ordered[place < per_cluster])
