"""Betting trees of a batch of games as tables: nodes, components, and rows of terminals."""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.vector.arrays import ACT, BELOW, HELD, NUMBER, OTHER, OWN
from poker.solve.torch.columns import (
    ACTIONS,
    COMPONENT_COLUMNS,
    COMPONENT_ROOT,
    DEAL,
    DECISIONS,
    DECISIONS_OF,
    ENTRY,
    FACTORS,
    FIRST,
    MIXED,
    NODE_COLUMNS,
    PLAYER,
    PRODUCTS,
    REACH_ROW,
    VALUE_ROW,
    Int32s,
    Longs,
)
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Layout, tree_layout

TREE_TABLES = ("nodes", "scales", "components", "decisions", "terminals", "mixed", "mix", "products")
"""Tables of `TreeTables` that a batch concatenates."""
_ONE_BATCH = 1 << 30


def device_layout(game: VectorGame) -> Layout:
    """Return a layout of the game's tree in which all nodes of a street have their own rows."""
    return tree_layout(game.tree, game.rake, _ONE_BATCH, game.rivers is not None)


class TreeTables:
    """Tables of one tree, with rows numbered from 0 until `place` moves them behind other trees' rows.

    Args:
        layout: its `device_layout`.
    """

    def __init__(self, game: VectorGame, layout: Layout) -> None:
        """Build the tables."""
        self.layout = layout
        nodes, batches = layout.nodes, layout.batches
        self.nodes = np.zeros((len(nodes.role), NODE_COLUMNS), np.int32)
        for column, array in (
            (PLAYER, nodes.player),
            (FIRST, nodes.first_child),
            (ACTIONS, nodes.num_children),
            (ENTRY, nodes.entry),
        ):
            self.nodes[:, column] = array
        for p in range(2):
            self.nodes[:, REACH_ROW + p], self.nodes[:, VALUE_ROW + p] = nodes.reach_row[p], nodes.value_row[p]
        self.scales = np.ascontiguousarray(nodes.scale.T)
        acts = [nodes.role == ACT, *((nodes.role == ACT) & (nodes.player == q) for q in range(2))]
        lists = [np.flatnonzero(chosen) for chosen in acts]
        self.decisions = np.concatenate(lists).astype(np.int32)
        self.components = np.zeros((len(batches.roots), COMPONENT_COLUMNS), np.int32)
        self.components[:, COMPONENT_ROOT], self.components[:, DEAL] = batches.roots, batches.deals
        ends, begin = np.append(batches.roots, len(nodes.role)), 0
        for column, numbers in zip((DECISIONS, DECISIONS_OF, DECISIONS_OF + 2), lists, strict=True):
            at = begin + np.searchsorted(numbers, ends)
            self.components[:, column], self.components[:, column + 1] = at[:-1], at[1:]
            begin += len(numbers)
        tables = batches.folds, batches.shows, batches.runouts, batches.controls, batches.leaves
        self.terminals = np.concatenate(tables)
        self.starts = np.cumsum([0, *map(len, tables)])
        self.mixed, self.mix, self.products = batches.mixed[:, :3], batches.mix, np.zeros((0, 3), np.int32)
        self._index_mixed()
        self._index_products(game)

    def street(self, start: NDArray[np.integer], p: int, street: int) -> range:
        """Return the rows of a table of `Batches` that belong to a street.

        Args:
            start: [2, Q + 1] starts of the rows by player and batch.
            p: the player.
        """
        first, last = self.layout.batches.street_start[street : street + 2]
        return range(int(start[p, first]), int(start[p, last]))

    def components_on(self, street: int) -> range:
        """Return the components of a street."""
        batches = self.layout.batches
        return range(*(int(batches.root_start[q]) for q in batches.street_start[street : street + 2]))

    def _component_of(self, p: int, street: int, value_rows: Int32s) -> Longs:
        """Return the components of the nodes to which rows of values belong; no two nodes share such a row."""
        batches = self.layout.batches
        first, last = (int(batches.node_start[q]) for q in batches.street_start[street : street + 2])
        rows = self.nodes[first:last, VALUE_ROW + p]
        node_of = np.zeros(int(rows.max(initial=0)) + 1, np.int64)
        node_of[rows] = np.arange(first, last)
        components: Longs = np.searchsorted(batches.roots, node_of[value_rows], side="right") - 1
        return components

    def _index(self, column: int, p: int, components: NDArray[np.integer], first: int, count: int) -> None:
        """Store starts and ends of rows first..first + count at `column`; the rows have ascending `components`."""
        at = first + np.searchsorted(components, np.arange(len(self.components) + 1))
        assert len(components) == count
        self.components[:, column + 2 * p], self.components[:, column + 2 * p + 1] = at[:-1], at[1:]

    def _index_mixed(self) -> None:
        streets = range(self.layout.first_street, self.layout.last_street + 1)
        for p in range(2):
            rows = [self.street(self.layout.batches.mixed_start, p, street) for street in streets]
            targets = [self._component_of(p, s, self.mixed[r, 0]) for s, r in zip(streets, rows, strict=True)]
            self._index(MIXED, p, np.concatenate(targets), rows[0].start, sum(map(len, rows)))

    def _index_products(self, game: VectorGame) -> None:
        """Add rows of values and reach that are multiplied by a vector, at gadgets."""
        start, gadgets = self.layout.gadgets
        parts, begin = [], 0
        at = self.layout.position[game.tree.gadgets] if len(gadgets) else np.zeros(0, np.int32)
        for p in range(2):
            rows = gadgets[start[p, 0] : start[p, -1]]
            owned, components = rows[:, OWN] == 1, np.searchsorted(self.layout.batches.roots, at, side="right") - 1
            values, values_of = rows[owned][:, [OTHER, HELD, NUMBER]], components[rows[owned, NUMBER]]
            reach, reach_of = rows[~owned][:, [BELOW, BELOW, NUMBER]], components[rows[~owned, NUMBER]]
            for column, table, of in ((PRODUCTS, values, values_of), (FACTORS, reach, reach_of)):
                order = np.argsort(of, kind="stable")
                self._index(column, p, of[order], begin, len(of))
                parts.append(table[order])
                begin += len(of)
        self.products = np.concatenate(parts).astype(np.int32)

    def place(self, before: "dict[str, int]") -> None:
        """Move all numbers behind the rows of earlier trees.

        Args:
            before: number of rows in each table so far; it is increased by this tree's rows.
        """
        self.base = dict(before)
        self.nodes[:, FIRST] += before["nodes"]
        self.components[:, COMPONENT_ROOT] += before["nodes"]
        self.components[:, DEAL] += np.where(self.components[:, DEAL] >= 0, before["nodes"], 0)
        self.decisions += before["nodes"]
        for column, name in (
            *((DECISIONS + k, "decisions") for k in range(6)),
            *((MIXED + k, "mixed") for k in range(4)),
            *((PRODUCTS + k, "products") for k in range(8)),
        ):
            self.components[:, column] += before[name]
        for name in before:
            before[name] += len(getattr(self, name))


def rows_of(rows: range) -> slice:
    """Return a range as a slice."""
    return slice(rows.start, rows.stop)
