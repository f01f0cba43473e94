"""Betting trees cut into lanes for `kernels.vector.response`: groups of up to sixteen street beginnings of one shape.

Lanes where the opponent's policy goes with no hand are left out: the responder wins nothing there.

Symbols: B buckets of a street, A actions of a node, E ends of a group (rows that end the street).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.kernels.cards.hands import NUM_HANDS
from poker.kernels.simd import LANES, aligned_zeros
from poker.kernels.vector.response import ADD, BEST, LINEAR, MAX, SET, SLOT
from poker.tree import BettingTree, Kind
from poker.types import Singles

BucketPolicy = Callable[[int], Singles]
"""Decision node -> [B, A] probabilities of its actions."""

Nodes = NDArray[np.int64]


@dataclass
class LaneGroup:
    """`entries` are the nodes of the lanes, `shares`, `steps` and `factors` as the kernels want them.

    `ends` [E, lanes] are STREET or SHOWDOWN nodes, -1 where the opponent never goes; `targets` [E, 16] say where the
    kernels find the lanes that follow, and are set once those are known.
    """

    entries: Nodes
    ends: Nodes
    shares: Singles
    num_rows: int
    num_slots: int
    steps: NDArray[np.int32]
    factors: Singles
    targets: Nodes = field(default_factory=lambda: np.zeros((0, LANES), np.int64))


def lanes_of(
    tree: BettingTree, policy: BucketPolicy, num_buckets: Sequence[int], responder: int, entries: Sequence[int]
) -> list[list[LaneGroup]]:
    """Groups of the street of `entries` and of all later streets, for `responder` against `policy` in the other seat.

    Raises PokernetsError for betting that two players cannot have, and for what is no policy.
    """
    found = [_street(tree, policy, num_buckets, responder, entries)]
    while True:
        reached = np.unique(np.concatenate([group.ends[group.ends >= 0] for group in found[-1]]))
        following = tree.first_child[reached[tree.kind[reached] == Kind.STREET]].tolist()
        if not following:
            return found
        groups = _street(tree, policy, num_buckets, responder, following)
        place = np.full(len(tree), -1, np.int64)
        for number, group in enumerate(groups):
            place[group.entries] = number * NUM_HANDS * LANES + np.arange(len(group.entries))
        for group in found[-1]:
            group.targets = np.full((len(group.ends), LANES), -1, np.int64)
            live = group.ends >= 0
            group.targets[:, : group.ends.shape[1]][live] = place[tree.first_child[group.ends[live]]]
        found.append(groups)


def _street(
    tree: BettingTree, policy: BucketPolicy, num_buckets: Sequence[int], responder: int, entries: Sequence[int]
) -> list[LaneGroup]:
    shapes: dict[Any, list[int]] = {}
    for entry in entries:
        shapes.setdefault(_shape(tree, entry), []).append(entry)
    return [
        _Writer(tree, policy, num_buckets[int(tree.street[alike[0]])], responder).group(
            np.array(alike[start : start + LANES], np.int64)
        )
        for alike in shapes.values()
        for start in range(0, len(alike), LANES)
    ]


def _shape(tree: BettingTree, node: int) -> Any:
    """Equal for nodes from which the rest of the street goes alike."""
    kind = int(tree.kind[node])
    if kind == Kind.FOLD:
        return int(tree.folded[node, 0])
    if kind != Kind.DECISION:
        return Kind(kind).name
    return (int(tree.player[node]), *(_shape(tree, child) for child in tree.children(node)))


class _Writer:
    """Writes the program of one group; rows are numbered as they come, 0 is the entry."""

    def __init__(self, tree: BettingTree, policy: BucketPolicy, buckets: int, responder: int) -> None:
        self.tree, self.policy, self.buckets, self.responder = tree, policy, buckets, responder
        self.shares: list[Singles] = []
        self.ends: dict[int, Nodes] = {}
        self.steps: list[tuple[int, int, int, int]] = []
        self.factors: list[Singles] = []
        self.num_slots = 1

    def group(self, entries: Nodes) -> LaneGroup:
        self.shares.append(np.ones((1, len(entries)), np.float32))
        self._value(entries, 0, 0)
        used = {row for what, _, _, row in self.steps if what != SLOT}
        rows = [*sorted(self.ends), *sorted(used - set(self.ends))]
        if set(rows) | {0} != set(range(len(self.shares))) or rows[len(self.ends) :] not in ([], [0]):
            raise PokernetsError(
                f"the betting after `{self.tree.path_text(int(entries[0]))}` is not that of two players"
            )
        flat = aligned_zeros(self.buckets * len(rows) * LANES)
        shares = flat.reshape(self.buckets, len(rows), LANES)
        ends = np.stack([self.ends[row] for row in rows[: len(self.ends)]])
        for place, row in enumerate(rows):
            shares[:, place, : len(entries)] = self.shares[row]
        ends[shares[:, : len(ends), : len(entries)].max(axis=0) <= 0] = -1
        number = {row: place for place, row in enumerate(rows)}
        steps = [(what, how, slot, row if what == SLOT else number[row]) for what, how, slot, row in self.steps]
        return LaneGroup(
            entries, ends, flat, len(rows), self.num_slots, np.array(steps, np.int32), np.stack(self.factors).ravel()
        )

    def _value(self, nodes: Nodes, row: int, slot: int) -> None:
        """Steps that leave the responder's value of `nodes` in a slot, where the opponent has played `row` so far."""
        self.num_slots = max(self.num_slots, slot + 1)
        if self._kind(nodes) != Kind.DECISION:
            self._step(LINEAR, SET, slot, row, end=self._end(nodes, row))
        elif self.tree.player[nodes[0]] == self.responder:
            self._own(nodes, row, slot)
        else:
            self._opponents(nodes, row, slot)

    def _own(self, nodes: Nodes, row: int, slot: int) -> None:
        children = self._children(nodes)
        how = SET
        for child in children:
            if self._kind(child) == Kind.DECISION:
                how = self._later(child, row, slot, how, MAX)
        end = mass = None
        for child in children:
            if self._kind(child) == Kind.FOLD:
                mass = -self._chips(child)
            elif self._kind(child) != Kind.DECISION:
                end = self._end(child, row)
        if end is not None or mass is not None:
            self._step(LINEAR if end is None or mass is None else BEST, how, slot, row, end, mass)

    def _opponents(self, nodes: Nodes, row: int, slot: int) -> None:
        """Steps of an opponent's decision. Folds are worth the mass of the row before less those that play on."""
        children = self._children(nodes)
        probabilities = np.stack([self.policy(int(node)) for node in nodes])
        if not np.isfinite(probabilities).all() or (abs(probabilities.sum(axis=2) - 1) > 1e-3).any():
            raise PokernetsError(f"the policy at `{self.tree.path_text(int(nodes[0]))}` does not add to 1")
        folds = [self._chips(child) for child in children if self._kind(child) == Kind.FOLD]
        lost = -folds[0] if folds else None
        how = SET
        rest: list[tuple[int, Singles | None]] = []
        for number, child in enumerate(children):
            if self._kind(child) == Kind.FOLD:
                continue
            self.shares.append(self.shares[row] * probabilities[:, :, number].T)
            played = len(self.shares) - 1
            if self._kind(child) == Kind.DECISION:
                how = self._later(child, played, slot, how, ADD)
                rest.append((played, None))
            else:
                rest.append((played, self._end(child, played)))
        for played, end in rest:
            if end is not None or lost is not None:
                self._step(LINEAR, how, slot, played, end, lost)
                how = ADD
        if folds:
            self._step(LINEAR, how, slot, row, None, folds[0])

    def _later(self, child: Nodes, row: int, slot: int, how: int, combine: int) -> int:
        """Value of a child where somebody acts, combined with what the slot holds already."""
        if how == SET:
            self._value(child, row, slot)
        else:
            self._value(child, row, slot + 1)
            self._step(SLOT, combine, slot, slot + 1)
        return combine

    def _step(
        self, what: int, how: int, slot: int, row: int, end: Singles | None = None, mass: Singles | None = None
    ) -> None:
        factors = np.zeros((2, LANES), np.float32)
        for place, factor in enumerate((end, mass)):
            if factor is not None:
                factors[place, : len(factor)] = factor
        self.steps.append((what, how, slot, row))
        self.factors.append(factors)

    def _end(self, nodes: Nodes, row: int) -> Singles:
        """Marks the end of a row; chips of a showdown, 1 where the value comes from the next street."""
        self.ends[row] = nodes
        return self._chips(nodes) if self._kind(nodes) == Kind.SHOWDOWN else np.ones(len(nodes), np.float32)

    def _kind(self, nodes: Nodes) -> int:
        return int(self.tree.kind[nodes[0]])

    def _children(self, nodes: Nodes) -> list[Nodes]:
        first = self.tree.first_child[nodes].astype(np.int64)
        return [first + number for number in range(int(self.tree.num_children[nodes[0]]))]

    def _chips(self, nodes: Nodes) -> Singles:
        return np.asarray(self.tree.committed[nodes].min(axis=1).astype(np.float32))
