"""The betting tree in the form that vector kernels read: nodes by street and component, scratch rows and terminals.

A component is the part of the tree within one betting round. Its root is the child of a STREET node, or the root of the
tree. For an update of player p the kernels store two rows per node: the opponent's reach [hands of the opponent] and
p's counterfactual values [hands of p]. Nodes at which p or nobody acts share the reach row of their parent. All
terminals that follow from the same actions of the opponent are therefore evaluated once: FOLD as the mass of compatible
hands, and SHOWDOWN as the mass of weaker hands minus the mass of stronger hands. The payoff of p is that row times a
scale.

A STREET node below which nobody acts any more (a run-out) is also a terminal if its remaining boards can be enumerated
once per board. It is then the product of a matrix of showdown results and the reach.

A control is a control variate for games that have only some of the boards after a STREET node before the last street.
To the values of the boards in the game we add the value of a check-down over all boards, minus its value over the
boards in the game. This difference is the product of a matrix and the reach.

Payoffs belong to the zero-sum game in which both players own half of the dead chips. `VectorGame` adds the half back.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from math import comb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Floats
from poker.kernels.vector.arrays import ACT, BELOW, HELD, NUMBER, OTHER, OWN, PASS, STOP, Batches, Nodes
from poker.run.errors import PokernetsError
from poker.tree import BettingTree, Kind

MAX_ACTIONS = 64
MAX_RUNOUTS = 1500
"""Largest number of final boards over which a run-out matrix is summed."""

CONTROL_UNIT = 256
"""Weight of a board in the matrix of a control; boards that are in the game have less weight."""

_RUNOUT = 8
"""The kind of a run-out, in addition to the kinds of the tree."""
_FOLD, _LEAF, _ALTERNATIVE = int(Kind.FOLD), int(Kind.LEAF), int(Kind.ALTERNATIVE)

_Row = tuple[int, int, int, int, int]
"""Player and batch encoded in one number, then a row of `Batches`."""


class Rake(NamedTuple):
    """The rake that the house takes from the winner of a pot; ties share it.

    Attributes:
        fraction: fraction of the pot, 0 to 1.
        cap: largest rake in chips.
    """

    fraction: float = 0.0
    cap: float = float("inf")

    def of(self, pot: Floats) -> Floats:
        """Return the rake of pots.

        Args:
            pot: float64 [N] chips in each pot.

        Returns:
            float64 [N] chips.
        """
        return np.minimum(self.fraction * pot, self.cap)


NO_RAKE = Rake()


@dataclass(frozen=True)
class Layout:
    """The layout of a tree.

    Attributes:
        nodes: nodes in kernel order.
        batches: batches of components.
        gadgets: `start` and `rows` of the kernel's `Gadgets`.
        position: int32 [N] kernel index of each tree node, -1 below a run-out.
        entries: int64 [S, 2] number of action rows of each player on each street.
        reach_rows: int64 [S] largest number of reach rows of either player's update.
        value_rows: int64 [S] largest number of value rows.
        num_slots: int64 [S] number of STREET nodes, which own the first value rows.
        first_street: street of the root.
        last_street: last street of the tree.
        runout_streets: streets on which players can be all-in with cards to come.
    """

    nodes: Nodes
    batches: Batches
    gadgets: tuple[NDArray[np.int32], NDArray[np.int32]]
    position: NDArray[np.int32]
    entries: NDArray[np.int64]
    reach_rows: NDArray[np.int64]
    value_rows: NDArray[np.int64]
    num_slots: NDArray[np.int64]
    first_street: int
    last_street: int
    runout_streets: tuple[int, ...]

    @cached_property
    def decisions(self) -> NDArray[np.int64]:
        """int64 [D] tree nodes at which a player acts, in kernel order."""
        acting = np.flatnonzero(self.position >= 0)
        return np.asarray(acting[self.nodes.role[self.position[acting]] == ACT], np.int64)


@lru_cache(maxsize=8)
def tree_layout(tree: BettingTree, rake: Rake = NO_RAKE, batch_rows: int = 96, control: bool = False) -> Layout:
    """Return the layout of a tree, from a cache that several games on one tree share.

    Args:
        rake: rake that the winner of a pot pays.
        batch_rows: components of the last street share a batch until it has this many terminal rows.
        control: give STREET nodes before the last street a control.

    Raises:
        PokernetsError: the game does not have two players, nobody acts at the root, or a node has too many actions.
    """
    if tree.rules.num_players != 2:
        raise PokernetsError(f"vector solving is for two players; `{tree.rules.name}` has {tree.rules.num_players}")
    if tree.kind[0] not in (Kind.DECISION, Kind.GADGET):
        raise PokernetsError("there is nothing to solve: nobody acts at the root of the tree")
    return _LayoutBuilder(tree, rake, batch_rows, control).build()


class _Plain(NamedTuple):
    """Columns that are read node by node, as lists in kernel order; `half` and `rake` are in tree order."""

    role: list[int]
    kind: list[int]
    player: list[int]
    first_child: list[int]
    num_children: list[int]
    is_root: list[bool]
    order: list[int]
    half: list[float]
    rake: list[float]


class _LayoutBuilder:
    def __init__(self, tree: BettingTree, rake: Rake, batch_rows: int, control: bool) -> None:
        self.tree = tree
        self.batch_rows = batch_rows
        self.control = control
        # chips that the winner gains (before rake) and the loser loses at a terminal of the zero-sum game
        self.half: Floats = tree.committed.min(axis=1).astype(np.float64) + 0.5 * tree.dead
        self.rake = rake.of(2 * self.half)
        self.kinds, left = self._find_runouts()
        streets = tree.street.astype(np.int64)
        is_root = np.zeros(len(tree), np.bool_)
        is_root[0] = True
        is_root[1:] = tree.kind[tree.parent[1:]] == Kind.STREET
        component = np.cumsum(is_root) - 1
        for node in np.flatnonzero(~is_root):
            component[node] = component[tree.parent[node]]
        order = np.lexsort((np.arange(len(tree)), component, streets))
        self.order = order[left[order]]
        self.is_root = is_root[self.order]
        self.street = streets[self.order]
        self.position = np.full(len(tree), -1, np.int32)
        self.position[self.order] = np.arange(len(self.order), dtype=np.int32)
        self.first, self.last = int(self.street[0]), int(self.street[-1])

    def _find_runouts(self) -> tuple[NDArray[np.int8], NDArray[np.bool_]]:
        """Return the kinds, with run-outs marked if their boards can be enumerated, and a mask of the other nodes."""
        tree, rules = self.tree, self.tree.rules
        acts = (tree.kind != Kind.STREET) & (tree.kind != Kind.SHOWDOWN)
        for node in range(len(tree) - 1, 0, -1):
            acts[tree.parent[node]] |= acts[node]
        runouts = [comb(rules.deck_size - size, rules.total_board_cards - size) for size in rules.board_sizes]
        runout = (tree.kind == Kind.STREET) & ~acts & (np.array(runouts) <= MAX_RUNOUTS)[tree.street]
        left = np.ones(len(tree), np.bool_)
        for node in range(1, len(tree)):
            parent = tree.parent[node]
            left[node] = left[parent] and not runout[parent]
        return np.where(runout, _RUNOUT, tree.kind).astype(np.int8), left

    def build(self) -> Layout:
        tree, order = self.tree, self.order
        kind = self.kinds[order]
        role = np.full(len(order), STOP, np.int8)
        role[(kind == Kind.DECISION) | (kind == Kind.CHOICE) | (kind == Kind.GADGET)] = ACT
        role[kind == Kind.STREET] = PASS
        has_child = (tree.num_children[order] > 0) & (kind != _RUNOUT)
        first_child = np.where(has_child, self.position[tree.first_child[order]], -1).astype(np.int32)
        children = np.where(has_child, tree.num_children[order], 0).astype(np.int32)
        if children.max() > MAX_ACTIONS:
            raise PokernetsError(f"a node has {children.max()} actions; at most {MAX_ACTIONS} are supported")
        player = tree.player[order]
        entry, entries = np.full(len(role), -1, np.int32), np.zeros((self.last + 1, 2), np.int64)
        for node in np.flatnonzero(role == ACT):
            key = self.street[node], player[node]
            entry[node] = entries[key]
            entries[key] += children[node]
        deals = role == PASS
        self.num_slots = np.bincount(self.street[deals], minlength=self.last + 1)
        before = np.cumsum(self.num_slots) - self.num_slots
        self.slot_of = np.where(deals, np.cumsum(deals) - 1 - before[self.street], -1)
        bounds = self._batch_bounds(role)
        shape = (2, len(order))
        reach_row, value_row = np.zeros((2, *shape), np.int32)
        locked, scale = np.zeros(len(order), np.bool_), np.ones(shape, np.float32)
        nodes = Nodes(role, player.astype(np.int8), first_child, children, entry, locked, reach_row, value_row, scale)
        sizes = np.zeros((2, 2, self.last + 1), np.int64)
        self.rows: dict[str, list[_Row]] = {
            name: [] for name in ("folds", "shows", "leaves", "runouts", "controls", "mixed", "gadgets")
        }
        self.mix: list[tuple[float, float]] = []
        columns = role, kind, player, first_child, children, self.is_root, order, self.half, self.rake
        plain = _Plain(*(column.tolist() for column in columns))
        for p in range(2):
            reach, value = [0] * len(order), [0] * len(order)
            for q, (begin, end) in enumerate(bounds):
                street = int(self.street[begin])
                used = self._assign_rows(p, p * len(bounds) + q, begin, end, nodes, plain, reach, value)
                sizes[:, p, street] = np.maximum(sizes[:, p, street], used)
            nodes.reach_row[p], nodes.value_row[p] = reach, value
        batches, gadgets = self._batches(bounds), self._gadgets(nodes, len(bounds))
        return Layout(
            nodes=nodes,
            batches=batches,
            gadgets=gadgets,
            position=self.position,
            entries=entries,
            reach_rows=sizes[0].max(axis=0),
            value_rows=sizes[1].max(axis=0),
            num_slots=self.num_slots,
            first_street=self.first,
            last_street=self.last,
            runout_streets=tuple(sorted({int(street) for street in self.street[kind == _RUNOUT]})),
        )

    def _batch_bounds(self, role: NDArray[np.int8]) -> list[tuple[int, int]]:
        """Return the node ranges of batches: one for a street with deals below it, small ones on the last street."""
        starts = np.searchsorted(self.street, np.arange(self.first, self.last + 2)).tolist()
        bounds, (begin, stop) = list(pairwise(starts[:-1])), starts[-2:]
        components = [*(int(node) for node in range(begin, stop) if self.is_root[node]), stop]
        for component, following in pairwise(components):
            rows = int((role[begin:following] == STOP).sum()) // 2
            if rows > self.batch_rows and component > begin:
                bounds.append((begin, component))
                begin = component
        return [*bounds, (begin, stop)]

    def _assign_rows(
        self, p: int, key: int, begin: int, end: int, nodes: Nodes, plain: _Plain, reach: list[int], value: list[int]
    ) -> tuple[int, int]:
        """Assign reach and value rows to a batch's nodes for an update of player p; return the number of each.

        Rows of terminals are listed with `key`, which encodes player and batch.
        """
        tree, rules = self.tree, self.tree.rules
        street = self.street[begin]
        sizes = [0, int(self.num_slots[street])]
        seen: dict[tuple[str, int], int] = {}
        for node in range(begin, end):
            if plain.is_root[node]:
                reach[node] = sizes[0]
                sizes[0] += 1
            role = plain.role[node]
            if role == PASS:
                value[node] = int(self.slot_of[node])
                if self.control and street == self.last - 1:
                    original, cards = plain.order[node], rules.board_sizes[street] + 2 * rules.num_hole_cards
                    self.rows["controls"].append((key, reach[node], sizes[1], 0, 0))
                    self.rows["mixed"].append((key, value[node], sizes[1], value[node], 0))
                    orders = CONTROL_UNIT * comb(rules.deck_size - cards, rules.board_cards[street + 1])
                    self.mix.append(((plain.half[original] - plain.rake[original] / 2) / orders, 1.0))
                    sizes[1] += 1
            elif role != STOP:
                value[node] = sizes[1]
                sizes[1] += 1
            if role == ACT:
                first, count = plain.first_child[node], plain.num_children[node]
                if plain.player[node] == p:
                    reach[first : first + count] = [reach[node]] * count
                else:
                    reach[first : first + count] = range(sizes[0], sizes[0] + count)
                    sizes[0] += count
            elif role == STOP:
                original, kind, row = plain.order[node], plain.kind[node], reach[node]
                half, rake = plain.half[original], plain.rake[original]

                def shared(results: str, reach_row: int = row) -> int:
                    """Return the value row of these results and reach; the first call lists it for evaluation."""
                    if (results, reach_row) not in seen:
                        seen[results, reach_row] = sizes[1]
                        sizes[1] += 1
                        self.rows[results].append((key, reach_row, seen[results, reach_row], 0, 0))
                    return seen[results, reach_row]

                if kind == _FOLD:
                    nodes.scale[p, node] = -half if tree.folded[original, p] else half - rake
                    value[node] = shared("folds")
                elif kind == _ALTERNATIVE:
                    gadget = node - 1
                    held, owner = shared("folds"), plain.player[gadget]
                    nodes.scale[p, node] = 1.0 if owner == p else -1.0
                    value[node] = held
                    if owner == p:
                        value[node] = sizes[1]
                        sizes[1] += 1
                    number = int(np.searchsorted(tree.gadgets, self.order[gadget]))
                    self.rows["gadgets"].append((key, gadget, held, number, p))
                elif kind == _LEAF:
                    value[node] = sizes[1]
                    sizes[1] += 1
                    state, choice = int(tree.leaf_state[original]), int(tree.leaf_choice[original])
                    self.rows["leaves"].append((key, row, value[node], state, choice))
                else:
                    results, orders = "shows", 1
                    if kind == _RUNOUT:
                        seen_cards = rules.board_sizes[street] + 2 * rules.num_hole_cards
                        to_come = rules.total_board_cards - rules.board_sizes[street]
                        results, orders = "runouts", comb(rules.deck_size - seen_cards, to_come)
                    won = shared(results)
                    nodes.scale[p, node] = half / orders
                    value[node] = won
                    if rake > 0:
                        held = shared("folds")
                        nodes.scale[p, node] = 1.0
                        value[node] = sizes[1]
                        sizes[1] += 1
                        self.rows["mixed"].append((key, value[node], won, held, 0))
                        self.mix.append(((half - rake / 2) / orders, -rake / 2))
        return sizes[0], sizes[1]

    def _batches(self, bounds: list[tuple[int, int]]) -> Batches:
        node_start = np.array([*(begin for begin, _ in bounds), bounds[-1][1]], np.int32)
        roots = np.flatnonzero(self.is_root)
        parents = self.tree.parent[self.order[roots]]
        return Batches(
            np.searchsorted(self.street[node_start[:-1]], np.arange(self.last + 2)).astype(np.int32),
            node_start,
            np.searchsorted(roots, node_start).astype(np.int32),
            roots.astype(np.int32),
            np.where(parents >= 0, self.position[parents], -1).astype(np.int32),
            *self._table("folds", len(bounds)),
            *self._table("shows", len(bounds)),
            *self._table("leaves", len(bounds)),
            *self._table("runouts", len(bounds)),
            *self._table("controls", len(bounds)),
            *self._table("mixed", len(bounds)),
            np.array(self.mix, np.float32).reshape(-1, 2),
        )

    def _gadgets(self, nodes: Nodes, num_batches: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return `start` and `rows` of the kernel's `Gadgets`."""
        start, listed = self._table("gadgets", num_batches)
        rows = np.zeros((len(listed), 5), np.int32)
        for row, (gadget, held, number, p) in zip(rows, listed.tolist(), strict=True):
            child = int(nodes.first_child[gadget])
            row[[NUMBER, OWN, HELD]] = number, nodes.player[gadget] == p, held
            row[[BELOW, OTHER]] = nodes.reach_row[p, child], nodes.value_row[p, child]
        return start, rows

    def _table(self, name: str, num_batches: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the starts [2, Q + 1] of rows [n, 4]."""
        table = np.array(self.rows[name], np.int32).reshape(-1, 5)
        keys = np.arange(2)[:, None] * num_batches + np.arange(num_batches + 1)
        return np.searchsorted(table[:, 0], keys).astype(np.int32), np.ascontiguousarray(table[:, 1:])
