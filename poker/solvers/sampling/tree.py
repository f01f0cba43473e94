"""The betting tree in the form that sampling kernels read: without street nodes, packed, with table rows assigned.

N is the number of betting nodes, M of sampling nodes (decisions and ends of the hand), P of players, S of streets, A of
actions, and E of different ends of hands with more than two players.

Placement of table rows: all nodes of one player and street lie side by side for one bucket (a slab), and the slabs of a
player and street follow each other by bucket. A deal fixes one bucket per player and street. A traversal therefore
touches only P * S slabs instead of the whole table.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.sampling import nodes as kernel
from poker.kernels.types import I32, I64, Bools
from poker.run.errors import PokernetsError
from poker.tree import BettingTree, Kind

ROW_UNIT = 2
"""Floats per unit of `row` and of the strides; a row has 2 A floats."""


@dataclass(frozen=True)
class SamplingTree:
    """A betting tree as arrays; `poker.kernels.sampling.nodes` explains those that the kernels read.

    Attributes:
        nodes: [M] packed nodes (`kernel.NODE`).
        strides: int32 [P, S] distance between the slabs of consecutive buckets.
        committed: int32 [E, P] chips at the different ends with more than two players.
        folded: bool [E, P] who has folded there.
        index: int32 [N] sampling node of each betting node; for street nodes that of the node after the deal.
        num_buckets: [S] number of buckets.
        table_size: number of floats in a table.
    """

    nodes: NDArray[np.void]  # [M] of kernel.NODE
    strides: I32  # [P, S]
    committed: I32  # [E, P]
    folded: Bools  # [E, P]
    index: I32  # [N]
    num_buckets: tuple[int, ...]  # [S]
    table_size: int  # floats

    @property
    def arrays(self) -> kernel.Tree:
        """The arrays that kernels take."""
        return kernel.Tree(self.nodes, self.strides, self.committed, self.folded)

    @property
    def before_last(self) -> int:
        """Number of entries, one per action, of all streets but the last; they come first."""
        return int((self.strides[:, :-1] * np.array(self.num_buckets[:-1])).sum())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return self.index.nbytes + sum(array.nbytes for array in self.arrays)

    def origin(self) -> I32:
        """Return the betting node int32 [M] of each sampling node."""
        nodes = np.empty(len(self.nodes), dtype=np.int32)
        nodes[self.index] = np.arange(len(self.index), dtype=np.int32)  # street nodes come before their descendants
        return nodes

    def entries(self, values: NDArray[Any], node: int) -> NDArray[Any]:
        """Return a view of one node's entries.

        Args:
            values: [table_size / 2] array with one entry per action.
            node: sampling node.

        Returns:
            [B, A] view into `values`.
        """
        at, size = self.nodes[node], values.strides[0]
        shape = self.num_buckets[at["street"]], int(at["arity"])
        stride = int(self.strides[at["player"], at["street"]])
        return np.lib.stride_tricks.as_strided(values[int(at["row"]) :], shape, (stride * size, size))

    def starts(self, nodes: I32) -> I64:
        """Return where the rows of several nodes begin: row + bucket * stride.

        Args:
            nodes: int32 [K] sampling nodes of one street.

        Returns:
            int64 [K, B].
        """
        chosen = self.nodes[nodes]
        buckets = np.arange(self.num_buckets[int(chosen["street"][0])], dtype=np.int64)
        strides = self.strides[chosen["player"], chosen["street"]]
        return np.asarray(chosen["row"][:, None] + buckets * strides[:, None])

    def batches(self, entries: int) -> Iterator[I32]:
        """Iterate over all decisions in groups of one street and number of actions.

        Args:
            entries: largest number of entries in a group.

        Yields:
            int32 [K] sampling nodes.
        """
        street, arity = self.nodes["street"], self.nodes["arity"]
        for s, buckets in enumerate(self.num_buckets):
            for a in np.unique(arity[(street == s) & (arity > 0)]):
                chosen = np.flatnonzero((street == s) & (arity == a)).astype(np.int32)
                size = max(1, entries // (buckets * int(a)))
                for start in range(0, len(chosen), size):
                    yield chosen[start : start + size]


def sampling_tree(tree: BettingTree, num_buckets: tuple[int, ...]) -> SamplingTree:
    """Convert a betting tree.

    Args:
        tree: a tree without depth limit.
        num_buckets: [S] number of card infosets on each street.

    Raises:
        PokernetsError: the tree has a depth limit or dead chips, a decision has too many actions, or the table is too
            large.
    """
    if np.isin(tree.kind, (Kind.LEAF, Kind.CHOICE)).any() or tree.dead:
        raise PokernetsError(
            "a sampling solver needs a betting tree of whole hands, without a depth limit or dead chips"
        )
    target = np.arange(len(tree.kind), dtype=np.int32)
    for node in np.flatnonzero(tree.kind == Kind.STREET)[::-1]:
        target[node] = target[tree.first_child[node]]
    origin = _breadth_first(tree, target)
    index = np.full(len(target), -1, dtype=np.int32)
    index[origin] = np.arange(len(origin), dtype=np.int32)
    index = index[target]

    decision = tree.kind[origin] == Kind.DECISION
    most_actions = int(tree.num_children[origin].max())
    if most_actions > kernel.MAX_ACTIONS:
        raise PokernetsError(f"a decision has more than {kernel.MAX_ACTIONS} actions: use fewer bet sizes")
    nodes = np.zeros(len(origin), dtype=kernel.NODE)
    fold, showdown = (kernel.MULTIWAY,) * 2 if tree.rules.num_players > 2 else (kernel.FOLD, kernel.SHOWDOWN)
    nodes["kind"] = np.where(decision, kernel.DECISION, np.where(tree.kind[origin] == Kind.FOLD, fold, showdown))
    nodes["player"] = tree.player[origin]
    nodes["street"] = tree.street[origin]
    nodes["arity"] = np.where(decision, tree.num_children[origin], 0)
    nodes["first"] = np.where(decision, index[np.where(decision, tree.first_child[origin], 0)], -1)
    strides, size = _place_rows(nodes, num_buckets, tree.rules.num_players)
    committed, folded = _place_ends(tree, nodes, origin)
    return SamplingTree(nodes, strides, committed, folded, index, num_buckets, size)


def _breadth_first(tree: BettingTree, target: I32) -> I32:
    """Return the betting nodes [M] that are not street nodes, in breadth-first order with siblings side by side."""
    order = [target[:1]]
    while len(order[-1]):
        level = order[-1][tree.kind[order[-1]] == Kind.DECISION]
        counts = tree.num_children[level].astype(np.int64)
        starts = np.repeat(tree.first_child[level].astype(np.int64), counts)
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        order.append(target[starts + within])
    return np.concatenate(order)


def _place_rows(nodes: NDArray[np.void], num_buckets: tuple[int, ...], num_players: int) -> tuple[I32, int]:
    """Fill `row` of decisions; return the strides [P, S] and the size of the table in floats."""
    base = 0
    strides = np.zeros((num_players, len(num_buckets)), dtype=np.int32)
    decision = nodes["kind"] == kernel.DECISION
    for street, buckets in enumerate(num_buckets):
        for player in range(num_players):
            chosen = np.flatnonzero(decision & (nodes["street"] == street) & (nodes["player"] == player))
            sizes = nodes["arity"][chosen].astype(np.int64)  # 2 A floats = A units
            stride = int(sizes.sum())
            if base + stride * buckets > np.iinfo(np.int32).max:
                raise PokernetsError("the strategy table exceeds 16 GiB: use fewer buckets or a smaller bet menu")
            nodes["row"][chosen] = base + np.cumsum(sizes) - sizes
            strides[player, street] = stride
            base += stride * buckets
    return strides, base * ROW_UNIT


def _place_ends(tree: BettingTree, nodes: NDArray[np.void], origin: I32) -> tuple[I32, Bools]:
    """Fill `row` of the ends; return `committed` and `folded` of the E different ends of more than two players."""
    ends = np.flatnonzero(nodes["kind"] != kernel.DECISION)
    at = origin[ends]
    if tree.rules.num_players > 2:
        numbers, first = _distinct([*tree.committed.T, *tree.folded.T], at)
        nodes["row"][ends] = numbers
        return tree.committed[at[first]], tree.folded[at[first]]
    committed = tree.committed[at]
    fold = np.where(tree.folded[at, 0], -committed[:, 0], committed[:, 1])
    nodes["row"][ends] = np.where(tree.kind[at] == Kind.FOLD, fold, committed.min(axis=1))
    return np.zeros((0, 2), dtype=np.int32), np.zeros((0, 2), dtype=np.bool_)


def _distinct(columns: Sequence[NDArray[Any]], rows: I32) -> tuple[I64, I64]:
    """Number the different combinations of the `columns` at `rows`; return the numbers and one row of each."""
    numbers = np.zeros(len(rows), dtype=np.int64)
    for column in columns:
        values = column[rows].astype(np.int64)
        keys = numbers * (values.max(initial=0) + 1) + values
        present = np.bincount(keys) > 0 if keys.max(initial=0) < 4 * len(keys) else None
        numbers = np.unique(keys, return_inverse=True)[1] if present is None else (np.cumsum(present) - 1)[keys]
    first = np.zeros(numbers.max(initial=-1) + 1, dtype=np.int64)
    first[numbers] = np.arange(len(numbers))
    return numbers, first
