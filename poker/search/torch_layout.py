"""The layout of a batch of games as tensors, for `poker.search.torch_vector`: rows of nodes, hands of boards, leaves.

Shapes as there: G games, B boards of a street, N hands of a player on a board (padded to the most), R rows, A actions.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poker.kernels.vector.arrays import ACT, PASS
from poker.search.torch_terminals import Hands
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Layout


@dataclass(frozen=True)
class Group:
    """Decisions of one depth and player with A actions: G nodes. `entries` [G, A] action rows, `parents` [G] and
    `children` [G, A] rows of reach or value, `scales` [G, A] on the children's values."""

    player: int
    entries: Tensor
    reach: Tensor
    child_reach: Tensor
    value: Tensor
    child_value: Tensor
    scales: Tensor


@dataclass(frozen=True)
class Street:
    """Boards of one street: `parent` [B] board above, `weight` [B], hands of both players, groups by depth."""

    parent: Tensor
    weight: Tensor
    hands: tuple[Hands, Hands]
    groups: tuple[tuple[Group, ...], tuple[Group, ...]]
    symmetric: bool
    runouts: Tensor | None


@dataclass(frozen=True)
class Leaf:
    """Per player: matrices [L, K, C, C'] and the cluster of every hand [B, N] of each street, -1 for none."""

    matrices: list[Tensor]
    clusters: list[dict[int, Tensor]]


class Tensors:
    """Tensors by street, or by (street, player whose values are computed).

    `tables` are rows of terminals, `mixed` values that are sums of two (target, won, held and their factors); reach of
    the components' roots is at `root_rows`, their values at `root_values_at` times a scale; cards are dealt from
    `deal_rows`, and values come back to `deal_slots`. `root` [G, N] are the ranges of each player.
    """

    def __init__(self, games: Sequence[VectorGame], layout: Layout, device: torch.device) -> None:
        self.games, self.layout, self.device = games, layout, device
        self.tables: dict[tuple[int, int], dict[str, Tensor]] = {}
        self.mixed: dict[tuple[int, int], list[tuple[int, int, int, float, float]]] = {}
        self.root_rows: dict[tuple[int, int], Tensor] = {}
        self.root_values_at: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}
        self.deal_rows: dict[tuple[int, int], Tensor] = {}
        self.deal_slots: dict[int, Tensor] = {}
        self.streets = {
            street: self._make_street(street) for street in range(layout.first_street, layout.last_street + 1)
        }
        self.root = [self._root_reach(player) for player in range(2)]
        self.leaf = self._make_leaf()

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
            self.root_values_at[street, p] = rows, self._tensor(nodes.scale[p, roots], torch.float32)
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

    def _make_groups(self, street: int, p: int) -> tuple[Group, ...]:
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
            scales = self._tensor(nodes.scale[p, child], torch.float32)
            rows = self._tensor(entries, torch.int64)
            groups.append(Group(player, rows, reach, child_reach, value, child_value, scales))
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
            for name in ("up", "less", "upto", "orbit"):
                arrays[name][row, :size] = getattr(lists, name)[window]
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

    def _make_leaf(self) -> Leaf | None:
        leaf = self.games[0].leaf_values
        if leaf is None:
            return None
        offset = 0.5 * self.games[0].tree.dead
        matrices = [
            self._tensor(leaf.matrices(p) - (offset if p == leaf.own else -offset), torch.float32) for p in range(2)
        ]
        clusters: list[dict[int, Tensor]] = [{}, {}]
        for p in range(2):
            for street, made in self.streets.items():
                found = np.full(made.hands[p].live.shape, -1, np.int64)
                for row, (game, b) in enumerate(self._boards(street)):
                    hands = game.hands(p, b)
                    found[row, : len(hands)] = leaf.cluster(p)[hands]
                clusters[p][street] = self._tensor(found, torch.int64)
        return Leaf(matrices, clusters)
