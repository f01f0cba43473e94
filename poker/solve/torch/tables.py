"""Tables of a batch of games for the kernels in `poker.solve.torch.kernels`: betting, boards, hands and work lists.

Games may differ. Boards, nodes and rows of all games are numbered in one sequence. A program of a kernel reads all it
needs by the numbers of a board and of a component (the part of a tree within one betting round). Action rows are
ordered as in `VectorSolver.arrays`, game after game. A level is a street counted from the root of its game.

Symbols: G games, B boards, M nodes, C components, T terminal rows, of all games; columns as in `columns`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solve.torch.betting import TREE_TABLES, TreeTables, device_layout, rows_of
from poker.solve.torch.columns import (
    ALL_IN,
    CARDS,
    CLUSTERS,
    CONTROL,
    GAME_COLUMNS,
    LIST,
    ORBIT,
    ORBITS,
    PAD,
    PARENT,
    REACH_ALONE,
    ROOT,
    SIZE,
    VECTORS,
    Int32s,
    Longs,
)
from poker.solve.torch.hands import Lists, Shorts, card_starts, cluster_starts, cluster_width, flat_boards, places_below
from poker.solvers.vector.game import VectorGame


class LevelWork(NamedTuple):
    """Work on a level.

    Attributes:
        pairs: [n, 2] boards and components.
        deals: [n, 2] boards of the level above and the components dealt from them.
        width: length of the longest list of hands, by player.
        orbits: largest number of orbits of a board above, by player.
        members: largest number of hands in such an orbit; 1 without symmetric boards.
    """

    pairs: Int32s
    deals: Int32s
    width: tuple[int, int]
    orbits: tuple[int, int]
    members: int


@dataclass(frozen=True)
class BatchTables:
    """Arrays of a batch.

    - `boards` [B, columns], `weights` [B]; `nodes` [M, columns], `scales` [M, 2]; `components` [C, columns];
      `decisions`: nodes by component; `terminals` [T, (row of reach, row of values, leaf state, choice)]; `mixed` and
      `mix`: targets, sources and factors of sums; `products`: targets, sources and vectors.
    - `ends[p]` [n, 5]: work at terminals in the update of player p. It is a board, a kind, and either a row of reach
      with its rows of values at a fold and at a showdown (-1: none), or all-ins first..last with the first of p's
      hands. `leaves[p]` [n, 2]: boards and terminal rows at the depth limit.
    - `hands`: columns of the lists of hands, with places in order of strength and by card. `card_start` [B, 2, CARDS]:
      where the hands with a card start in `by_card`. `cluster_starts` [boards with leaves, 2, CARDS, width + 1]: where
      the hands of a cluster start among these, in `by_cluster`.
    - `vectors`: factors that a product multiplies values or reach by. `root_pairs` [G, 2]: boards and components of the
      roots.
    - `entries` [G + 1]: where the action rows of a game start. `scratch`: numbers of floats of all rows of reach and of
      values.
    """

    boards: Longs
    weights: Singles
    nodes: Int32s
    scales: Singles
    components: Int32s
    decisions: Int32s
    terminals: Int32s
    mixed: Int32s
    mix: Singles
    products: Int32s
    levels: tuple[LevelWork, ...]
    root_pairs: Int32s
    ends: tuple[Int32s, Int32s]
    card_start: Shorts
    leaves: tuple[Int32s, Int32s]
    games: Longs
    matrices: Singles
    cluster_starts: Shorts
    hands: Lists
    down: Shorts
    members: Shorts
    roots: Singles
    vectors: Singles
    runouts: Shorts
    entries: Longs
    scratch: tuple[int, int]


def flatten(games: Sequence[VectorGame], tile: tuple[int, int]) -> BatchTables:
    """Build the tables of a batch.

    Args:
        tile: largest number of rows and of hands in a tile of all-ins.

    Raises:
        PokernetsError: a deck has too many cards.
    """
    if any(game.boards.num_card_slots > CARDS - 1 for game in games):
        raise PokernetsError(f"a device solves games of at most {CARDS - 1} cards; use VectorSolver on the CPU")
    trees: dict[int, TreeTables] = {}
    before = dict.fromkeys(TREE_TABLES, 0)
    bettings = []
    for game in games:
        layout = device_layout(game)
        if id(layout) not in trees:
            trees[id(layout)] = TreeTables(game, layout)
            trees[id(layout)].place(before)
        bettings.append(trees[id(layout)])
    boards, hands, scratch = flat_boards(games, [betting.layout for betting in bettings])
    starts = np.cumsum([0, *(len(game.boards.cards) for game in games)])
    streets = [(game.layout.first_street, game.layout.last_street) for game in games]
    batch = _Batch(games, bettings, boards, starts.tolist(), max(last - first for first, last in streets) + 1)
    members, most = batch.orbits()
    matrices, table = batch.leaf_matrices(hands)
    edges = cluster_starts(games, boards, batch.starts, hands, cluster_width(table))
    return BatchTables(
        boards=boards,
        weights=np.concatenate([game.boards.boards.weight for game in games]),
        **{name: np.concatenate([getattr(tree, name) for tree in trees.values()]) for name in TREE_TABLES},
        levels=tuple(batch.level(number, most) for number in range(batch.num_levels)),
        root_pairs=batch.root_pairs(),
        ends=(batch.ends(0, *tile), batch.ends(1, *tile)),
        card_start=np.concatenate([card_starts(game) for game in games]),
        leaves=(batch.leaves(0), batch.leaves(1)),
        games=table,
        matrices=matrices,
        cluster_starts=edges,
        hands=hands,
        down=places_below(boards, hands["up"]),
        members=members,
        roots=batch.roots(),
        vectors=batch.vectors(),
        runouts=np.concatenate([game.runout_matrix for game in games]),
        entries=np.cumsum([0, *(game.num_entries for game in games)]),
        scratch=scratch,
    )


@dataclass(frozen=True)
class _Batch:
    """Games with their trees and boards; `starts` are the numbers of their first boards."""

    games: Sequence[VectorGame]
    bettings: Sequence[TreeTables]
    boards: Longs
    starts: list[int]
    num_levels: int

    def on(self, level: int) -> Iterator[tuple[VectorGame, TreeTables, int, Longs]]:
        """Yield the games that have a level, with their trees, the street, and the boards' numbers."""
        for game, betting, start in zip(self.games, self.bettings, self.starts, strict=False):
            street = game.layout.first_street + level
            if level >= 0 and street <= game.layout.last_street:
                yield game, betting, street, np.array(game.on(street), np.int64) + start

    def level(self, number: int, members: dict[int, int]) -> LevelWork:
        pairs, deals = [np.zeros((0, 2), np.int64)], [np.zeros((0, 2), np.int64)]
        here = [boards for _, _, _, boards in self.on(number)]
        for _, betting, street, boards in self.on(number):
            components = np.array(betting.components_on(street), np.int64) + betting.base["components"]
            pairs.append(_product(boards, components))
            if number:
                above = np.unique(self.boards[boards, PARENT])
                deals.append(_product(above, components))
        width = self.boards[np.concatenate(here)][:, SIZE : SIZE + 2].max(axis=0)
        orbits = width
        if number:
            above = np.concatenate([boards for _, _, _, boards in self.on(number - 1)])
            column = ORBITS if members.get(number - 1, 1) > 1 else SIZE
            orbits = self.boards[above][:, column : column + 2].max(axis=0)
        return LevelWork(
            np.concatenate(pairs).astype(np.int32),
            np.concatenate(deals).astype(np.int32),
            (int(width[0]), int(width[1])),
            (int(orbits[0]), int(orbits[1])),
            members.get(number - 1, 1),
        )

    def ends(self, p: int, rows: int, hands: int) -> Int32s:
        parts = [np.zeros((0, 5), np.int64)]
        for level in range(self.num_levels):
            for _, betting, street, boards in self.on(level):
                batches = betting.layout.batches
                folds = batches.folds[rows_of(betting.street(batches.fold_start, p, street))]
                shows = batches.shows[rows_of(betting.street(batches.show_start, p, street))]
                parts.append(_with_boards(boards, _reached(folds, shows)))
                for kind, start in ((ALL_IN, batches.runout_start), (CONTROL, batches.control_start)):
                    listed, begin = betting.street(start, p, street), int(betting.starts[1 + kind])
                    begin += betting.base["terminals"]
                    for first in range(listed.start, listed.stop, rows):
                        last = begin + min(first + rows, listed.stop)
                        starts = np.arange(0, int(self.boards[boards, SIZE + p].max()), hands)
                        work = [np.full_like(starts, value) for value in (kind, begin + first, last)]
                        parts.append(_with_boards(boards, np.stack([*work, starts], axis=1)))
        return np.concatenate(parts).astype(np.int32)

    def leaves(self, p: int) -> Int32s:
        parts = [np.zeros((0, 2), np.int64)]
        for level in range(self.num_levels):
            for game, betting, street, boards in self.on(level):
                if game.leaf_values is not None:
                    rows = np.array(betting.street(betting.layout.batches.leaf_start, p, street), np.int64)
                    parts.append(_product(boards, rows + int(betting.starts[4]) + betting.base["terminals"]))
        return np.concatenate(parts).astype(np.int32)

    def orbits(self) -> tuple[Shorts, dict[int, int]]:
        """Return the hands of all orbits [orbits, most hands], board after board, and the largest number by level.

        Missing hands are -1. Levels without symmetric boards have no orbits.
        """
        most, parts, begin = {}, [np.zeros(0, np.int16)], 0
        for level in range(self.num_levels - 1):
            chosen = [(game, game.on(street), boards) for game, _, street, boards in self.on(level)]
            if not any(game.boards.boards.symmetric[on].any() for game, on, _ in chosen):
                continue
            counted = []
            for game, on, boards in chosen:
                made, orbit = game.boards.boards, game.boards.lists.orbit
                for b, number in zip(on, boards.tolist(), strict=True):
                    for p in range(2):
                        start, size = int(made.list_start[p, b]), int(made.size[p, b])
                        of = orbit[start : start + size] if made.symmetric[b] else np.arange(size)
                        counted.append((number, p, of.astype(np.int64), np.bincount(of)))
            most[level] = 1 << int(max(counts.max() for *_, counts in counted) - 1).bit_length()
            for number, p, of, counts in counted:
                order = np.argsort(of, kind="stable")
                place = np.arange(len(of)) - np.repeat(np.cumsum(counts) - counts, counts)
                table = np.full((len(counts), most[level]), -1, np.int16)
                table[of[order], place] = order
                self.boards[number, ORBIT + p], self.boards[number, ORBITS + p] = begin, len(counts)
                parts.append(table.ravel())
                begin += table.size
        return np.concatenate(parts), most

    def root_pairs(self) -> Int32s:
        components = [
            betting.components_on(game.layout.first_street).start + betting.base["components"]
            for game, betting in zip(self.games, self.bettings, strict=True)
        ]
        return np.stack([self.starts[:-1], components], axis=1).astype(np.int32)

    def roots(self) -> Singles:
        """Set the column ROOT and return the reach at the roots [padded hands], by game and player."""
        parts, begin = [], 0
        for game, start in zip(self.games, self.starts, strict=False):
            for q in range(2):
                hands, padded = game.hands(q), int(self.boards[start, PAD + q])
                parts.append(np.zeros(padded, np.float32))
                parts[-1][: len(hands)] = game.ranges[q, hands]
                self.boards[start, ROOT + q] = begin
                begin += padded
        return np.concatenate(parts)

    def vectors(self) -> Singles:
        """Set the column VECTORS and return the alternative values of gadgets, by the owner's hands."""
        parts, begin = [np.zeros(1, np.float32)], 1
        for game, start in zip(self.games, self.starts, strict=False):
            gadgets = game.tree.gadget
            if gadgets is not None:
                owner, on = gadgets.player, np.array(game.on(gadgets.street))
                self.boards[on + start, VECTORS + owner] = begin + game.alternative_at[on]
                parts.append(game.alternatives)
                begin += len(parts[-1])
        return np.concatenate(parts)

    def leaf_matrices(self, hands: Lists) -> tuple[Singles, Longs]:
        """Return the leaf matrices of all games, less half of the dead chips, and the table of games.

        The clusters of each player's hands are added to `hands`, -1 for none.
        """
        table = np.zeros((len(self.games), GAME_COLUMNS), np.int64)
        parts, begin, placed = [np.zeros(1, np.float32)], 1, dict[tuple[int, float], int]()
        clusters = [np.full(len(hands["hand"]), -1, np.int16) for _ in range(2)]
        for number, (game, start) in enumerate(zip(self.games, self.starts, strict=False)):
            leaf, dead = game.leaf_values, 0.5 * game.tree.dead
            if leaf is None:
                continue
            if (id(leaf), dead) not in placed:
                placed[id(leaf), dead] = begin
                parts.append((leaf.values - np.float32(dead)).ravel())
                begin += parts[-1].size
            at = int(self.boards[start, LIST : LIST + 2].min())
            window = slice(at, at + len(game.boards.lists.hand))
            for q in range(2):
                clusters[q][window] = leaf.cluster(q)[hands["hand"][window]]
            owner = leaf.own
            table[number] = placed[id(leaf), dead], 0, 0, owner, leaf.num_continuations
            table[number, CLUSTERS + owner], table[number, CLUSTERS + 1 - owner] = leaf.values.shape[2:]
        hands["cluster0"], hands["cluster1"] = clusters
        return np.concatenate(parts), table


def _reached(folds: Int32s, shows: Int32s) -> Longs:
    """Return work [n, 4] for the rows of reach of folds and showdowns [*, (reach, value, ...)]."""
    rows = np.unique(np.concatenate([folds[:, 0], shows[:, 0]]))
    out = np.full((len(rows), 4), -1, np.int64)
    out[:, 0], out[:, 1] = REACH_ALONE, rows
    out[np.searchsorted(rows, folds[:, 0]), 2] = folds[:, 1]
    out[np.searchsorted(rows, shows[:, 0]), 3] = shows[:, 1]
    return out


def _with_boards(boards: NDArray[Any], work: NDArray[Any]) -> Longs:
    """Return every board with every row of `work`, [n, 1 + columns]."""
    return np.concatenate([np.repeat(boards, len(work))[:, None], np.tile(work, (len(boards), 1))], axis=1)


def _product(boards: NDArray[Any], others: NDArray[Any]) -> Longs:
    """Return every board with every element of `others`, [n, 2]."""
    return np.stack([np.repeat(boards, len(others)), np.tile(others, len(boards))], axis=1)
