"""Lists of hands of a batch of games as tables: boards, orbits, and places by strength, card and cluster."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from poker.solve.torch.columns import (
    BLOCK,
    BOARD_COLUMNS,
    CARDS,
    CHILDREN,
    CHILDREN_END,
    CLUSTER_STARTS,
    CLUSTERS,
    DOWN,
    GAME,
    LIST,
    PAD,
    PARENT,
    REACH,
    RUNOUT,
    SIZE,
    VALUE,
    Longs,
)
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import Layout

Shorts = NDArray[np.int16]
Lists = dict[str, Shorts]


def flat_boards(games: Sequence[VectorGame], layouts: Sequence[Layout]) -> tuple[Longs, Lists, tuple[int, int]]:
    """Concatenate the boards of all games, without the columns DOWN, ORBIT, VECTORS and ROOT.

    Args:
        layouts: their layouts.

    Returns:
        table of boards [B, columns], lists of hands by name, and the number of floats of reach and of values.
    """
    parts, lists, sizes = [], [], np.zeros((2, 2), np.int64)
    entries = hands = before = runouts = 0
    for number, (game, layout) in enumerate(zip(games, layouts, strict=True)):
        made = game.boards.boards
        table = np.full((len(made.weight), BOARD_COLUMNS), -1, np.int64)
        street = np.repeat(np.arange(len(made.street_start) - 1), np.diff(made.street_start))
        parent = game.boards.parent
        table[:, PARENT], table[:, GAME] = np.where(parent >= 0, parent + before, -1), number
        table[:, CHILDREN], table[:, CHILDREN_END] = made.child_start[:-1] + before, made.child_start[1:] + before
        table[:, RUNOUT : RUNOUT + 2] = game.runout_at.T + runouts
        for p in range(2):
            table[:, LIST + p], table[:, SIZE + p] = made.list_start[p] + hands, made.size[p]
            table[:, PAD + p], table[:, BLOCK + p] = made.padded[p], made.block[p] + entries
            needs = layout.reach_rows[street] * made.padded[1 - p], layout.value_rows[street] * made.padded[p]
            for row, (column, need) in enumerate(zip((REACH, VALUE), needs, strict=True)):
                ends = sizes[row, p] + np.cumsum(need)
                table[:, column + p], sizes[row, p] = ends - need, ends[-1]
        parts.append(table)
        lists.append(game.boards.lists)
        entries, hands, before = entries + game.num_entries, hands + len(lists[-1].hand), before + len(table)
        runouts += len(game.runout_matrix)
    names = "hand", "up", "card0", "card1", "same", "by_card"
    columns = {name: np.concatenate([getattr(each, name) for each in lists]).astype(np.int16) for name in names}
    places = [np.stack([each.less, each.upto], axis=1) for each in lists]
    columns["less_upto"] = np.concatenate(places).astype(np.int16)
    columns["card_less_upto"] = np.concatenate([card_places(game) for game in games])
    return np.concatenate(parts), columns, (int(sizes[0].max()), int(sizes[1].max()))


def places_below(table: Longs, up: Shorts) -> NDArray[np.int16]:
    """Set the column DOWN, and map hands of each board's parent to their places on the board.

    Args:
        table: [B, columns] boards.
        up: places of hands in the list of the board above.

    Returns:
        int16 places in a board's list, by place in the parent's list; -1 for hands that are not on the board.
    """
    begin, parts = 0, []
    below = np.flatnonzero(table[:, PARENT] >= 0)
    for p in range(2):
        sizes = table[table[below, PARENT], PAD + p]
        ends = np.cumsum(sizes)
        table[below, DOWN + p] = begin + ends - sizes
        counts = table[below, SIZE + p]
        place = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        out = np.full(int(ends[-1]) if len(ends) else 0, -1, np.int16)
        above = up[np.repeat(table[below, LIST + p], counts) + place].astype(np.int64)
        out[np.repeat(ends - sizes, counts) + above] = place
        parts.append(out)
        begin += len(out)
    return np.concatenate(parts)


def cluster_starts(
    games: Sequence[VectorGame], table: Longs, starts: Sequence[int], hands: Lists, width: int
) -> NDArray[np.int16]:
    """Set the column CLUSTER_STARTS, and sort the hands with each card by cluster.

    Args:
        table: [B, columns] boards.
        starts: number of each game's first board.
        hands: lists of hands; `by_cluster0` and `by_cluster1` are added, which are `by_card` in the order of each
            player's clusters, with hands without a cluster last.
        width: largest number of clusters.

    Returns:
        int16 starts of the clusters, board after board.
    """
    parts, begin = [np.zeros(1, np.int16)], 1
    orders = [hands["by_card"].copy() for _ in range(2)]
    for game, start in zip(games, starts, strict=False):
        if game.leaf_values is None:
            continue
        offset = int(table[start, LIST : LIST + 2].min())
        for q in range(2):
            board, cards, place, element = _holders(game, q)
            cluster = hands[f"cluster{q}"][offset + element].astype(np.int64)
            cluster[cluster < 0] = width
            order = np.lexsort((cluster, cards, board))
            orders[q][2 * offset + place] = hands["by_card"][2 * offset + place[order]]
            counts = np.zeros((len(game.boards.cards) * CARDS, width + 1), np.int64)
            np.add.at(counts, (board * CARDS + cards, cluster), 1)
            at = np.cumsum(counts, axis=1) - counts
            table[start : start + len(game.boards.cards), CLUSTER_STARTS + q] = begin + (
                np.arange(len(game.boards.cards)) * CARDS * (width + 1)
            )
            parts.append(at.astype(np.int16).ravel())
            begin += at.size
    hands["by_cluster0"], hands["by_cluster1"] = orders
    return np.concatenate(parts)


def card_starts(game: VectorGame) -> NDArray[np.int16]:
    """Return where the hands with each card start in `by_card`, int16 [B, 2, CARDS]."""
    starts = game.boards.lists.card_start
    out = np.empty((starts.shape[1], 2, CARDS), np.int16)
    out[...] = starts[:, :, -1:].swapaxes(0, 1)
    out[:, :, : starts.shape[2]] = starts.swapaxes(0, 1)
    return out


def card_places(game: VectorGame) -> NDArray[np.int16]:
    """Return the places that hands need in running sums over the opposing hands with each of their cards.

    Returns:
        int16 [list elements, 4]: for each card of a hand in turn, the place after the weaker hands and the place after
        those no stronger, among the opponent's hands with that card; each card has CARDS places.
    """
    lists = game.boards.lists
    out = np.zeros((len(lists.hand), 4), np.int16)
    for p in range(2):
        _, cards, entry, hand = _holders(game, p)
        side = 2 * (lists.card0[hand] != cards)
        out[hand, side] = CARDS * cards + lists.card_less[entry]
        out[hand, side + 1] = CARDS * cards + lists.card_upto[entry]
    return out


def cluster_width(games: Longs) -> int:
    """Return a power of two that is at least the largest number of clusters of a player in any game.

    Args:
        games: [G, columns] table of games.
    """
    return max(16, 1 << int(games[:, CLUSTERS : CLUSTERS + 2].max(initial=1) - 1).bit_length())


def _holders(game: VectorGame, p: int) -> tuple[Longs, Longs, Longs, Longs]:
    """Return boards, cards, places in `by_card` and list elements of every hand with each of its cards."""
    made, lists = game.boards.boards, game.boards.lists
    counts = np.diff(lists.card_start[p].astype(np.int64), axis=1)
    sizes, start = made.size[p].astype(np.int64), made.list_start[p].astype(np.int64)
    cards = np.repeat(np.tile(np.arange(counts.shape[1]), len(counts)), counts.ravel())
    board, first = np.repeat(np.arange(len(start)), 2 * sizes), np.repeat(start, 2 * sizes)
    place = 2 * first + np.arange(len(first)) - np.repeat(np.cumsum(2 * sizes) - 2 * sizes, 2 * sizes)
    return board, cards, place, first + lists.by_card[place]
