"""Leaf values predicted by a net from the 34 inputs (`poker.depth_limit.inputs`), the DNN of [DLS] section 6."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, Protocol

import numpy as np

from poker.abstraction.features import ahead_now, all_in_equity
from poker.depth_limit.evaluator import LeafEvaluator, LeafQuery, cluster_equity, leaf_values, possible_pairs
from poker.depth_limit.inputs import BoardFeatures, GridParts, board_features, public_features
from poker.depth_limit.leaves.clusters import cluster_means, hand_clusters, k_means, pair_means
from poker.game.betting import Betting
from poker.game.cards import HOLDEM
from poker.game.rules import CALL, Rules
from poker.kernels.types import I32, Board, Ranges, Singles
from poker.solvers.vector.leaves import LeafValues
from poker.store.lru_cache import LRUCache

_CACHED_LEAVES = 256
"""Solves of one round with different bet sizes share most leaves; other tables may interleave their solves."""

_CACHED_BOARDS = 1755
"""Number of canonical flops; each takes 60 kB with 64 clusters."""

_OPPONENT_GROUPS = 8
"""Number of opponent groups, from weak to strong, against which we compare the values of two hands."""


class ValueNet(Protocol):
    """A net that maps features of pairs of hands to the values of continuations, without knowing solve or board."""

    @property
    def num_continuations(self) -> int:
        """Number of continuations K."""

    def grid_values(self, grids: Sequence[tuple[GridParts, Singles]]) -> list[Singles]:
        """Predict the values of several grids of pairs.

        Args:
            grids: for each board its card features, n own by m opponent hands, and the betting features [L, 6] of L
                leaves.

        Returns:
            For each grid float32 [L, n * m, K] net chips of own over the whole hand, divided by the pot.
        """


class _Groups(NamedTuple):
    """The hands of a board in clusters [H], mean features of their hands and pairs, and equities [C, C]."""

    clusters: I32
    parts: GridParts
    equity: Singles


@dataclass(frozen=True)
class _Grouping:
    """How hands are grouped; results are shared by all evaluators of a process with equal nets."""

    net: ValueNet
    clusters: int | None

    def groups(self, rules: Rules, board: Board) -> _Groups:
        return (_every_hand if self.clusters is None else _clustered)(self, rules, board)


def _make_groups(grouping: _Grouping, rules: Rules, board: Board) -> _Groups:
    cards = board_features(board)
    clusters = _feature_classes(cards)
    if grouping.clusters is None:
        clusters = hand_clusters(clusters, cards.hands[:, 0], None)
    elif clusters.max() >= grouping.clusters:
        clusters = _value_clusters(grouping.net, rules, cards, clusters, grouping.clusters)
    parts = _grid_parts(cards, clusters, clusters)
    equity = parts.pairs[:, :, 0] if rules.total_board_cards == 5 else cluster_equity(rules, board, clusters)
    return _Groups(clusters, parts, equity)


def _feature_classes(cards: BoardFeatures) -> I32:
    """Return [H] numbers of hands by features and increasing equity, equal for equal features; -1 for dead hands."""
    live = HOLDEM.live(cards.board)
    kinds = np.full(len(live), -1, dtype=np.int32)
    kinds[live] = np.unique(cards.hands[live], axis=0, return_inverse=True)[1].ravel()
    return kinds


def _value_clusters(net: ValueNet, rules: Rules, cards: BoardFeatures, kinds: I32, limit: int) -> I32:
    """Return [H] at most `limit` clusters of hands to which `net` gives similar values.

    The values are taken against groups of weak to strong hands after a small raise.
    """
    field = hand_clusters(kinds, cards.hands[:, 0], _OPPONENT_GROUPS)
    state = Betting.start(rules)
    state = state.apply(state.legal().min_raise)
    while state.street <= rules.board_sizes.index(len(cards.board)):
        state = state.apply(CALL)
    [grid] = net.grid_values([(_grid_parts(cards, kinds, field), public_features(state, own=0)[None])])
    values = grid.reshape(kinds.max() + 1, -1)
    return np.where(kinds >= 0, k_means(values, np.bincount(kinds[kinds >= 0]), limit)[kinds], -1).astype(np.int32)


def _grid_parts(cards: BoardFeatures, own: I32, opp: I32) -> GridParts:
    by_hand, possible = (all_in_equity(cards.board), ahead_now(cards.board)), possible_pairs(cards.board)
    pairs = np.stack([pair_means(values, possible, own, opp) for values in by_hand], axis=2)
    return GridParts(cluster_means(cards.hands, own), cluster_means(cards.hands, opp), pairs, cards.texture)


_clustered, _every_hand = lru_cache(maxsize=_CACHED_BOARDS)(_make_groups), lru_cache(maxsize=8)(_make_groups)


class NetLeaf(LeafEvaluator):
    """An evaluator with a net, which sees means over clusters of hands that it values alike."""

    def __init__(self, *, net: ValueNet, clusters: int | None) -> None:
        """Wrap a net.

        Args:
            clusters: largest number of clusters; None gives the net every pair of hands separately.
        """
        self._net = net
        self.num_continuations = net.num_continuations
        self._grouping = _Grouping(net, clusters)
        self._cache: LRUCache[_LeafKey, Singles] = LRUCache(_CACHED_LEAVES if clusters is not None else 0)

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
        return self.together([(leaves, board, ranges, own)])[0]

    def together(self, queries: Sequence[LeafQuery]) -> list[LeafValues]:
        """Compute the values of several queries with one call of the net; predictions are cached.

        Args:
            queries: arguments of `values`, with boards [B] and ranges [P, H].

        Returns:
            One result of `values` per query.
        """
        predicted, values = self._predicted(queries), []
        for leaves, board, _, own in queries:
            groups = self._grouping.groups(leaves[0].rules, board)
            count = len(groups.equity)
            rows = [predicted[_leaf_key(leaf, board, own)] for leaf in leaves if not leaf.is_over]
            in_pots = np.array(rows, dtype=np.float32).reshape(-1, count, count, self.num_continuations)
            values.append(leaf_values(leaves, own, groups.clusters, groups.equity, in_pots.transpose(0, 3, 1, 2)))
        return values

    def _predicted(self, queries: Sequence[LeafQuery]) -> dict["_LeafKey", Singles]:
        """Return the values [C * C, K] in pots of all leaves where a player can still act."""
        predicted: dict[_LeafKey, Singles] = {}
        missing: dict[tuple[Rules, Board, int], dict[str, Betting]] = {}
        for leaves, board, _, own in queries:
            for leaf in (leaf for leaf in leaves if not leaf.is_over):
                values = self._cache.get(_leaf_key(leaf, board, own))
                if values is None:
                    missing.setdefault((leaf.rules, board, own), {})[leaf.text()] = leaf
                else:
                    predicted[_leaf_key(leaf, board, own)] = values
        grids = [
            (self._grouping.groups(rules, board).parts, np.stack([public_features(s, own) for s in states.values()]))
            for (rules, board, own), states in missing.items()
        ]
        if self._grouping.clusters is not None:
            self._cache.hold(len(predicted) + sum(map(len, missing.values())))
        for ((rules, board, own), texts), grid in zip(missing.items(), self._net.grid_values(grids), strict=True):
            for text, values in zip(texts, grid, strict=True):
                predicted[rules, board, text, own] = values
                self._cache.put((rules, board, text, own), values)
        return predicted


_LeafKey = tuple[Rules, Board, str, int]
"""Game, board, betting text and `own` of a leaf."""


def _leaf_key(leaf: Betting, board: Board, own: int) -> _LeafKey:
    return leaf.rules, board, leaf.text(), own
