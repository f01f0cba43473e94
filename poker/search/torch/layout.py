"""The layout of a batch of games as tensors, for `poker.search.torch.vector`: rows of nodes, hands of boards, leaves.

Shapes as there: G games, B boards of a street, N hands of a player on a board (padded to the most), R rows, A actions.
Where all games are alike in something, its dimension B is 1.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poker.kernels.vector.arrays import ACT, BELOW, HELD, OTHER, OWN, PASS, STOP
from poker.search.torch.terminals import Hands
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Layout
from poker.tree import BettingTree, Kind
from poker.types import Floats


def shape_of(game: VectorGame) -> Hashable:
    """Key equal for games that can be solved together: the same betting, whatever the chips (under rake, these too)."""
    tree, raked = game.tree, game.rake.fraction > 0
    names = ("kind", "player", "street", "parent", "folded", "leaf_state", "leaf_choice")
    arrays: list[NDArray[Any]] = [getattr(tree, name) for name in names]
    arrays.append(tree.committed if raked else _at_stake(tree) > 0)
    dead = tree.dead if raked else None
    return tree.rules, game.rake, dead, tree.gadget, *(array.tobytes() for array in arrays)


def _at_stake(tree: BettingTree) -> Floats:
    """[nodes] chips that a player wins or loses at a terminal of the zero-sum game."""
    stake: Floats = tree.committed.min(axis=1) + 0.5 * tree.dead
    return stake


@dataclass(frozen=True)
class DecisionGroup:
    """Decisions of one depth and player with A actions: G nodes. `entries` [G, A] action rows, `parents` [G] and
    `children` [G, A] rows of reach or value, `scales` [G, A, B] on the children's values."""

    player: int
    entries: Tensor
    reach: Tensor
    child_reach: Tensor
    value: Tensor
    child_value: Tensor
    scales: Tensor


class RootGadget(NamedTuple):
    """The gadget as a sweep for one player sees it, who may `own` it: rows of reach and values as in the kernels, and
    `alternatives` [G, N] of the zero-sum game."""

    own: bool
    below: int
    other: int
    held: int
    alternatives: Tensor


@dataclass(frozen=True)
class Street:
    """Boards of one street: `parent` [B] board above, `weight` [B], hands of both players, groups by depth."""

    parent: Tensor
    weight: Tensor
    hands: tuple[Hands, Hands]
    groups: tuple[tuple[DecisionGroup, ...], tuple[DecisionGroup, ...]]
    symmetric: bool
    runouts: Tensor | None


class Tensors:
    """Tensors by street, or by (street, player whose values are computed).

    `tables` are rows of terminals, `mixed` values that are sums of two (target, won, held and their factors); reach of
    the components' roots is at `root_rows`, their values at `root_values_at` times a scale [R, B]; cards are dealt from
    `deal_rows`, and values come back to `deal_slots`. `root` [G, N] are the ranges of each player. `leaves` [R, B, C,
    C'] are the matrices of the rows of leaves, own clusters first, `clusters` [B, N] those of the player's hands, -1
    for none.
    """

    def __init__(self, games: Sequence[VectorGame], layout: Layout, device: torch.device) -> None:
        self.games, self.layout, self.device = games, layout, device
        self.tables: dict[tuple[int, int], dict[str, Tensor]] = {}
        self.mixed: dict[tuple[int, int], list[tuple[int, int, int, float, float]]] = {}
        self.root_rows: dict[tuple[int, int], Tensor] = {}
        self.root_values_at: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
        self.deal_rows: dict[tuple[int, int], Tensor] = {}
        self.deal_slots: dict[int, Tensor] = {}
        self.leaves: dict[tuple[int, int], Tensor] = {}
        self.clusters: dict[tuple[int, int], Tensor] = {}
        self._scales = self._chip_scales()
        self.streets = {
            street: self._make_street(street) for street in range(layout.first_street, layout.last_street + 1)
        }
        self.root = [self._root_reach(player) for player in range(2)]
        if games[0].leaf_values is not None:
            for street in self.streets:
                self._make_leaves(street)
        self.gadgets = self._make_gadgets()

    def _make_street(self, street: int) -> Street:
        self._index_rows(street)
        parents, offset = [], 0
        for game in self.games:
            above = game.on(street - 1) if street > self.layout.first_street else range(0)
            parents.append(game.boards.parent[game.on(street)] - above.start + offset)
            offset += len(above)
        weights = [game.boards.boards.weight[game.on(street)] for game in self.games]
        hands = (self._make_hands(street, 0), self._make_hands(street, 1))
        symmetric = any(game.boards.boards.symmetric[game.on(street)].any() for game in self.games)
        return Street(
            self._tensor(np.concatenate(parents), torch.int64),
            self._tensor(np.concatenate(weights), torch.float32),
            hands,
            (self._make_groups(street, 0), self._make_groups(street, 1)),
            symmetric,
            self._runout_tensor(street, hands) if street in self.layout.runout_streets else None,
        )

    def _boards(self, street: int) -> list[tuple[VectorGame, int]]:
        """All boards of a street, in the order of the tensors."""
        return [(game, b) for game in self.games for b in game.on(street)]

    def _tensor(self, array: NDArray[np.generic], dtype: torch.dtype) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device, dtype)

    def _index_rows(self, street: int) -> None:
        """Row tables of a street, whose components are one batch."""
        nodes, batches = self.layout.nodes, self.layout.batches
        first, last = batches.street_start[street], batches.street_start[street + 1]
        roots = batches.roots[batches.root_start[first] : batches.root_start[last]]
        deals = batches.deals[batches.root_start[first] : batches.root_start[last]]
        for p in range(2):
            self.root_rows[street, p] = self._tensor(nodes.reach_row[p, roots], torch.int64)
            rows = self._tensor(nodes.value_row[p, roots], torch.int64)
            self.root_values_at[street, p] = rows, self._scale(street, p, roots)
            if deals[0] >= 0:
                self.deal_rows[street, p] = self._tensor(nodes.reach_row[p, deals], torch.int64)
                self.deal_slots[street] = self._tensor(nodes.value_row[p, deals], torch.int64)
            tables = {}
            for name, start, table in (
                ("folds", batches.fold_start, batches.folds),
                ("shows", batches.show_start, batches.shows),
                ("runouts", batches.runout_start, batches.runouts),
                ("leaves", batches.leaf_start, batches.leaves),
            ):
                tables[name] = self._tensor(table[start[p, first] : start[p, last]], torch.int64)
            self.tables[street, p] = tables
            begin, end = batches.mixed_start[p, first], batches.mixed_start[p, last]
            self.mixed[street, p] = [
                (*map(int, batches.mixed[i, :3]), float(batches.mix[i, 0]), float(batches.mix[i, 1]))  # type: ignore[misc]
                for i in range(begin, end)
            ]

    def _make_groups(self, street: int, p: int) -> tuple[DecisionGroup, ...]:
        nodes, batches = self.layout.nodes, self.layout.batches
        first, last = batches.street_start[street], batches.street_start[street + 1]
        depth: dict[int, int] = {}
        found: dict[tuple[int, int, int], list[int]] = {}
        for node in range(batches.node_start[first], batches.node_start[last]):
            if nodes.role[node] == ACT:
                level = depth.setdefault(node, 0)
                found.setdefault((level, int(nodes.player[node]), int(nodes.num_children[node])), []).append(node)
                for child in range(nodes.first_child[node], nodes.first_child[node] + nodes.num_children[node]):
                    depth[child] = level + 1
            assert nodes.role[node] in (ACT, PASS) or nodes.num_children[node] == 0
        groups = []
        for (_, player, actions), members in sorted(found.items()):
            at = np.array(members)
            child = nodes.first_child[at][:, None] + np.arange(actions)
            entries = nodes.entry[at][:, None] + np.arange(actions)
            reach, child_reach = (self._tensor(nodes.reach_row[p, chosen], torch.int64) for chosen in (at, child))
            value, child_value = (self._tensor(nodes.value_row[p, chosen], torch.int64) for chosen in (at, child))
            rows, scales = self._tensor(entries, torch.int64), self._scale(street, p, child)
            groups.append(DecisionGroup(player, rows, reach, child_reach, value, child_value, scales))
        return tuple(groups)

    def _make_hands(self, street: int, p: int) -> Hands:
        widths = [max(int(game.boards.boards.size[q, game.on(street)].max()) for game in self.games) for q in (0, 1)]
        boards = len(self._boards(street))
        slots = self.games[0].boards.num_card_slots
        width = widths[p]
        arrays = {name: np.zeros((boards, width), np.int64) for name in ("live", "up", "less", "upto", "orbit")}
        arrays["twin"] = np.full((boards, width), widths[1 - p])
        cards, where = np.zeros((2, boards, width, 2), np.int64)
        wide = {name: np.zeros((boards, 2 * width), np.int64) for name in ("by_card", "card_less", "card_upto")}
        wide["by_card"][:] = width
        starts = np.zeros((boards, slots + 1), np.int64)
        for row, (game, b) in enumerate(self._boards(street)):
            made, lists = game.boards.boards, game.boards.lists
            start, size = int(made.list_start[p, b]), int(made.size[p, b])
            window, entries = slice(start, start + size), slice(2 * start, 2 * (start + size))
            arrays["live"][row, :size] = 1
            for name in ("up", "less", "upto"):
                arrays[name][row, :size] = getattr(lists, name)[window]
            arrays["orbit"][row, :size] = lists.orbit[window] if made.symmetric[b] else np.arange(size)
            same = lists.same[window].astype(np.int64)
            arrays["twin"][row, :size] = np.where(same >= made.size[1 - p, b], widths[1 - p], same)
            cards[row, :size] = np.stack([lists.card0[window], lists.card1[window]], axis=1)
            places = lists.by_card[entries].astype(np.int64)
            wide["by_card"][row, : 2 * size] = places
            starts[row] = lists.card_start[p, b]
            theirs = lists.card_start[1 - p, b].astype(np.int64)
            card_of = np.repeat(np.arange(slots), np.diff(starts[row]))
            for name in ("card_less", "card_upto"):
                wide[name][row, : 2 * size] = getattr(lists, name)[entries] + theirs[card_of]
            side = (lists.card0[window][places] != card_of).astype(np.int64)
            where[row, places, side] = np.arange(2 * size)
        every = {**arrays, **wide, "cards": cards, "card_start": starts, "where": where}
        tensors = {name: self._tensor(array, torch.int64) for name, array in every.items()}
        return Hands(**{**tensors, "live": tensors["live"].float()})

    def _runout_tensor(self, street: int, hands: tuple[Hands, Hands]) -> Tensor:
        """[B, N of player 1, N of player 0] showdown results summed over run-outs."""
        out = torch.zeros((len(hands[0].live), hands[1].live.shape[1], hands[0].live.shape[1]), device=self.device)
        for row, (game, b) in enumerate(self._boards(street)):
            made = game.boards.boards
            shape = int(made.size[1, b]), int(made.padded[0, b])
            start, width = int(game.runout_at[b]), int(made.size[0, b])
            matrix = game.runout_matrix[start : start + shape[0] * shape[1]].reshape(shape)[:, :width]
            out[row, : shape[0], :width] = self._tensor(matrix, torch.float32)
        return out

    def _root_reach(self, player: int) -> Tensor:
        width = self.streets[self.layout.first_street].hands[player].live.shape[1]
        out = np.zeros((len(self.games), width), np.float32)
        for row, game in enumerate(self.games):
            hands = game.hands(player)
            out[row, : len(hands)] = game.ranges[player, hands]
        return self._tensor(out, torch.float32)

    def _chip_scales(self) -> Floats:
        """[G or 1, nodes]: chips at the terminals of each game, as a multiple of the first's."""
        stakes = [_at_stake(game.tree) for game in self.games]
        if all(np.array_equal(stake, stakes[0]) for stake in stakes):
            return np.ones((1, len(self.layout.nodes.role)))
        position, role, kind = self.layout.position, self.layout.nodes.role, self.games[0].tree.kind
        paid = np.flatnonzero((position >= 0) & (kind != Kind.LEAF) & (kind != Kind.ALTERNATIVE))
        paid = paid[(role[position[paid]] == STOP) & (stakes[0][paid] > 0)]
        out = np.ones((len(stakes), len(role)))
        out[:, position[paid]] = [stake[paid] / stakes[0][paid] for stake in stakes]
        return out

    def _scale(self, street: int, p: int, nodes: NDArray[np.integer]) -> Tensor:
        """[..., B] factors on the values of `nodes` [...]."""
        scale = self.layout.nodes.scale[p, nodes] * self._scales[:, nodes]
        return self._tensor(np.moveaxis(self._by_board(street, scale), 0, -1), torch.float32)

    def _by_board(self, street: int, rows: NDArray[Any]) -> NDArray[Any]:
        """[B or 1, ...] of [G or 1, ...]."""
        return rows if len(rows) == 1 else np.repeat(rows, [len(game.on(street)) for game in self.games], axis=0)

    def _make_leaves(self, street: int) -> None:
        values = [game.leaf_values for game in self.games]
        offsets = [0.5 * game.tree.dead for game in self.games]
        alike = len({(id(leaf), offset) for leaf, offset in zip(values, offsets, strict=True)}) == 1
        for p in range(2):
            found = np.full(self.streets[street].hands[p].live.shape, -1, np.int64)
            for row, (game, b) in enumerate(self._boards(street)):
                hands, leaf = game.hands(p, b), game.leaf_values
                assert leaf is not None
                found[row, : len(hands)] = leaf.cluster(p)[hands]
            self.clusters[street, p] = self._tensor(found, torch.int64)
            matrices, (state, choice) = [], self.tables[street, p]["leaves"][:, 2:].T.cpu().numpy()
            for leaf, offset in list(zip(values, offsets, strict=True))[: 1 if alike else None]:
                assert leaf is not None
                matrices.append(leaf.matrices(p)[state, choice] - (offset if p == leaf.own else -offset))
            sizes = np.max([matrix.shape[1:] for matrix in matrices], axis=0)
            padded = np.zeros((len(matrices), len(state), *sizes), np.float32)
            for place, matrix in zip(padded, matrices, strict=True):
                place[:, : matrix.shape[1], : matrix.shape[2]] = matrix
            self.leaves[street, p] = self._tensor(self._by_board(street, padded).swapaxes(0, 1), torch.float32)

    def _make_gadgets(self) -> dict[int, RootGadget]:
        """The gadget at the root by the player whose values are computed."""
        gadget, (start, rows) = self.games[0].tree.gadget, self.layout.gadgets
        if gadget is None:
            return {}
        alternatives = np.zeros(self.root[gadget.player].shape, np.float32)
        for row, game in zip(alternatives, self.games, strict=True):
            count = len(game.hands(gadget.player))
            row[:count] = game.alternatives[game.alternative_at[0] :][:count]
        theirs = self._tensor(alternatives, torch.float32)
        found = {}
        for p in range(2):
            own, below, other, held = rows[start[p, 0], [OWN, BELOW, OTHER, HELD]].tolist()
            found[p] = RootGadget(bool(own), below, other, held, theirs)
        return found
