"""The betting tree as the sampling kernels read it: street nodes skipped, nodes packed in rows, table rows placed.

Symbols: N betting nodes, M sampling nodes (decisions and ends of the hand), P players, S streets, A actions.

Placement of table rows: all nodes of one player and street lie side by side for one bucket ("slab"), and slabs of a
player and street follow each other by bucket. A deal fixes one bucket per player and street, so everything a traversal
touches lies in P * S slabs and not all over the table.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.kernels import sampling_nodes
from poker.tree import BettingTree, Kind

ROW_UNIT = 2
"""Floats per unit of ROW and STRIDE; a row has 2 A floats."""


@dataclass(frozen=True)
class SamplingTree:
    """Arrays for `poker.kernels.mccfr`, which defines the columns of `nodes`."""

    nodes: NDArray[np.int32]  # [M, 8]
    committed: NDArray[np.int32]  # [M, P]
    folded: NDArray[np.bool_]  # [M, P]
    origin: NDArray[np.int32]  # [M] the betting node of each sampling node
    index: NDArray[
        np.int32
    ]  # [N] the sampling node of each betting node, of its first non-street descendant for streets
    num_buckets: tuple[int, ...]  # [S]
    table_size: int  # floats

    @property
    def num_infosets(self) -> int:
        decisions = self.nodes[self.nodes[:, sampling_nodes.KIND] == sampling_nodes.DECISION]
        return int(np.asarray(self.num_buckets)[decisions[:, sampling_nodes.STREET]].sum())

    def rows(self, table: NDArray[np.float32], node: int) -> NDArray[np.float32]:
        """[B, 2, A] view of sampling node `node`: regrets, then strategy sums, per bucket."""
        _, _, street, arity, _, row, stride, _ = (int(x) for x in self.nodes[node])
        buckets = self.num_buckets[street]
        shape, size = (buckets, 2, arity), table.itemsize
        strides = (ROW_UNIT * stride * size, arity * size, size)
        return np.lib.stride_tricks.as_strided(table[ROW_UNIT * row :], shape, strides)

    def starts(self, nodes: NDArray[np.int32]) -> NDArray[np.int64]:
        """[K, B] where the rows of K sampling nodes of one street begin: ROW + bucket * STRIDE."""
        buckets = np.arange(self.num_buckets[int(self.nodes[nodes[0], sampling_nodes.STREET])], dtype=np.int64)
        rows, strides = self.nodes[nodes, sampling_nodes.ROW], self.nodes[nodes, sampling_nodes.STRIDE]
        places: NDArray[np.int64] = rows[:, None] + buckets * strides[:, None]
        return places

    def batches(self, entries: int) -> Iterator[NDArray[np.int32]]:
        """All decisions in sampling nodes of one street and arity at a time, with up to so many `entries` together."""
        street, arity = self.nodes[:, sampling_nodes.STREET], self.nodes[:, sampling_nodes.ARITY]
        for s, buckets in enumerate(self.num_buckets):
            for a in np.unique(arity[(street == s) & (arity > 0)]):
                chosen = np.flatnonzero((street == s) & (arity == a)).astype(np.int32)
                size = max(1, entries // (buckets * int(a)))
                for start in range(0, len(chosen), size):
                    yield chosen[start : start + size]

    def entries(self, values: NDArray[Any], node: int) -> NDArray[Any]:
        """[B, A] view of sampling node `node` in an array with one entry an action: `table_size` / 2 of them."""
        _, _, street, arity, _, row, stride, _ = (int(x) for x in self.nodes[node])
        size = values.itemsize
        return np.lib.stride_tricks.as_strided(values[row:], (self.num_buckets[street], arity), (stride * size, size))


def sampling_tree(tree: BettingTree, num_buckets: tuple[int, ...]) -> SamplingTree:
    """`tree` must have no depth limit; num_buckets [S] counts the infosets of cards on each street."""
    if np.isin(tree.kind, (Kind.LEAF, Kind.CHOICE)).any() or tree.dead:
        raise PokernetsError(
            "sampling solvers play whole hands: the betting tree needs no depth limit and no dead chips"
        )
    target = np.arange(len(tree.kind), dtype=np.int32)
    for node in np.flatnonzero(tree.kind == Kind.STREET)[::-1]:
        target[node] = target[tree.first_child[node]]
    kept = tree.kind != Kind.STREET
    origin = _breadth_first(tree, target)
    index = np.full(len(target), -1, dtype=np.int32)
    index[origin] = np.arange(len(origin), dtype=np.int32)
    index = index[target]
    assert kept.sum() == len(origin)

    nodes = np.zeros((len(origin), 8), dtype=np.int32)
    decision = tree.kind[origin] == Kind.DECISION
    nodes[:, sampling_nodes.KIND] = _kinds(tree, origin)
    nodes[:, sampling_nodes.PLAYER] = tree.player[origin]
    nodes[:, sampling_nodes.STREET] = tree.street[origin]
    nodes[:, sampling_nodes.ARITY] = np.where(decision, tree.num_children[origin], 0)
    nodes[:, sampling_nodes.FIRST] = np.where(decision, index[np.where(decision, tree.first_child[origin], 0)], -1)
    nodes[:, sampling_nodes.STAKE] = _stakes(tree, origin)
    if nodes[:, sampling_nodes.ARITY].max() > sampling_nodes.MAX_ACTIONS:
        raise PokernetsError(f"a decision has more than {sampling_nodes.MAX_ACTIONS} actions: thin out the bet menu")
    size = _place_rows(nodes, decision, num_buckets)
    return SamplingTree(nodes, tree.committed[origin], tree.folded[origin], origin, index, num_buckets, size)


def _breadth_first(tree: BettingTree, target: NDArray[np.int32]) -> NDArray[np.int32]:
    """[M] betting nodes that are not street nodes, breadth first, children of a node side by side."""
    order = [target[:1]]
    while len(order[-1]):
        level = order[-1][tree.kind[order[-1]] == Kind.DECISION]
        counts = tree.num_children[level].astype(np.int64)
        starts = np.repeat(tree.first_child[level].astype(np.int64), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        order.append(target[starts + within])
    return np.concatenate(order)


def _kinds(tree: BettingTree, origin: NDArray[np.int32]) -> NDArray[np.int32]:
    codes = np.zeros(len(Kind), dtype=np.int32)
    multiway = tree.committed.shape[1] > 2
    codes[Kind.DECISION] = sampling_nodes.DECISION
    codes[Kind.FOLD] = sampling_nodes.MULTIWAY if multiway else sampling_nodes.FOLD
    codes[Kind.SHOWDOWN] = sampling_nodes.MULTIWAY if multiway else sampling_nodes.SHOWDOWN
    return codes[tree.kind[origin]]


def _stakes(tree: BettingTree, origin: NDArray[np.int32]) -> NDArray[np.int32]:
    """[M] what player 0 wins at a fold, what the better hand wins at a showdown; 0 with more than two players."""
    if tree.committed.shape[1] > 2:
        return np.zeros(len(origin), dtype=np.int32)
    committed = tree.committed[origin]
    fold = np.where(tree.folded[origin, 0], -committed[:, 0], committed[:, 1])
    stakes = np.where(tree.kind[origin] == Kind.FOLD, fold, committed.min(axis=1))
    return np.where(tree.kind[origin] == Kind.DECISION, 0, stakes).astype(np.int32)


def _place_rows(nodes: NDArray[np.int32], decision: NDArray[np.bool_], num_buckets: tuple[int, ...]) -> int:
    """Fills ROW and STRIDE; returns the size of the table in floats."""
    base = 0
    streets, players = nodes[:, sampling_nodes.STREET], nodes[:, sampling_nodes.PLAYER]
    for street, buckets in enumerate(num_buckets):
        for player in range(int(players.max()) + 1):
            mine = np.flatnonzero(decision & (streets == street) & (players == player))
            sizes = nodes[mine, sampling_nodes.ARITY].astype(np.int64)  # 2 A floats = A units
            if base + int(sizes.sum()) * buckets > np.iinfo(np.int32).max:
                raise PokernetsError("the strategy table exceeds 16 GiB: use fewer buckets or a smaller bet menu")
            nodes[mine, sampling_nodes.ROW] = base + np.cumsum(sizes) - sizes
            nodes[mine, sampling_nodes.STRIDE] = sizes.sum()
            base += int(sizes.sum()) * buckets
    return base * ROW_UNIT
