"""The kernels' arrays for a game: layout of scratch memory, reach at the root, chunks of boards, leaf values."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.game.rules import Rules
from poker.kernels.simd import LANES, aligned_zeros
from poker.kernels.types import Board, Singles
from poker.kernels.vector.arrays import LEAF_LANES, Gadgets, Sweep
from poker.solvers.vector.game import VectorGame

NUM_CHUNKS = 16


def bind(
    game: VectorGame, regrets: NDArray[Any], source: NDArray[Any], sums: NDArray[Any], predictive: bool
) -> tuple[Sweep, int]:
    """Create a sweep over a game.

    Args:
        regrets: float32 [entries] regrets.
        source: float32 [entries] regrets, or predicted regrets, that define the current strategy.
        sums: float32 [entries] strategy sums.
        predictive: whether `source` has predicted regrets.

    Returns:
        The sweep, and the number of floats of scratch memory that a thread needs.
    """
    layout, boards, leaf = game.layout, game.boards.boards, game.leaf_values
    clusters = (0, 0) if leaf is None else leaf.matrices(0).shape[2:]
    place, areas, size = _scratch(game, _leaf_width(max(clusters)))
    root_stride = int(place[0, layout.first_street])
    root_reach = np.zeros((2, root_stride), np.float32)
    for player in range(2):
        hands = game.hands(player)
        root_reach[player, : len(hands)] = game.ranges[player, hands]
    children = np.arange(boards.child_start[0], boards.child_start[1] + 1)
    chunks = min(NUM_CHUNKS, len(children) - 1)
    bounds = np.linspace(0, len(children) - 1, chunks + 1).round().astype(np.int64)
    matrices, where = _leaf_matrices(game)
    cluster = np.zeros((2, game.rules.num_hands), np.int32)
    if leaf is not None:
        cluster[:] = leaf.cluster(0), leaf.cluster(1)
    sweep = Sweep(
        nodes=layout.nodes._replace(locked=layout.nodes.locked.copy()),
        batches=layout.batches,
        boards=boards,
        lists=game.boards.lists,
        regrets=regrets,
        source=source,
        sums=sums,
        place=place,
        areas=areas,
        root_reach=root_reach,
        root_value=np.zeros((2, root_stride), np.float32),
        chunk_start=children[bounds].astype(np.int32),
        partial=aligned_zeros(chunks * int(layout.num_slots[layout.first_street]) * root_stride),
        cluster=cluster,
        num_clusters=np.array(clusters, np.int32),
        alike=game.clusters_are_orbits,
        leaf_matrix=where,
        leaf_values=matrices,
        runout_at=game.runout_at,
        runout_matrix=game.runout_matrix,
        num_slots=layout.num_slots,
        gadgets=Gadgets(*layout.gadgets, game.alternative_at, game.alternatives),
        starts=np.zeros(0, np.float32),
        num_card_slots=game.boards.num_card_slots,
        first_street=layout.first_street,
        last_street=layout.last_street,
        predictive=predictive,
        best=np.zeros(1, np.uint8),
        modelled=np.zeros(1, np.float32),
        modelled_player=-1,
    )
    return sweep, size


def _scratch(game: VectorGame, wide: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return `place` and `areas` of a `Sweep`, and the floats of a thread's memory; `wide` clusters are padded."""
    layout, boards = game.layout, game.boards.boards
    place = np.zeros((3, layout.last_street + 1), np.int64)
    top, widest = 0, LANES
    for street in range(layout.first_street, layout.last_street + 1):
        stride = max(LANES, int(boards.padded[:, game.on(street)].max()))
        widest = max(widest, stride)
        value = top + int(layout.reach_rows[street]) * stride
        place[:, street] = stride, top, value
        top = value + int(layout.value_rows[street]) * stride
    slots = game.boards.num_card_slots
    sizes = [LANES * (widest + LANES)] * 3 + [LANES * slots, widest, widest, wide * (slots + 1)]
    areas = top + np.concatenate([[0], np.cumsum(sizes)])
    return place, areas[:-1], int(areas[-1])


def _leaf_width(clusters: int) -> int:
    """Return the padded length of a line of a leaf matrix."""
    return (clusters + LEAF_LANES - 1) // LEAF_LANES * LEAF_LANES


def _leaf_matrices(game: VectorGame) -> tuple[Singles, NDArray[np.int64]]:
    """Return both players' leaf matrices and where each starts [2, L, K].

    A matrix has the opponent's clusters as rows, padded to LEAF_LANES.
    """
    leaf = game.leaf_values
    if leaf is None:
        return np.zeros(LANES, np.float32), np.zeros((2, 1, 1), np.int64)
    shape = leaf.num_leaves, leaf.num_continuations
    where, views = np.zeros((2, *shape), np.int64), [leaf.matrices(player).swapaxes(2, 3) for player in range(2)]
    widths = [_leaf_width(view.shape[3]) for view in views]
    sizes = [view.shape[2] * width for view, width in zip(views, widths, strict=True)]
    values = np.zeros(int(np.prod(shape)) * sum(sizes), np.float32)
    share: Singles | float = 1.0
    if game.clusters_are_orbits:
        share = _compatible_share(game.rules, game.board, leaf.own_cluster.tobytes())
    for player, (view, width, size) in enumerate(zip(views, widths, sizes, strict=True)):
        begin = player * int(np.prod(shape)) * sizes[0]
        where[player] = begin + np.arange(where[player].size).reshape(shape) * size
        rows = values[begin : begin + where[player].size * size].reshape(*view.shape[:3], width)[..., : view.shape[3]]
        offset = 0.5 * game.tree.dead if player == leaf.own else -0.5 * game.tree.dead
        for target, matrices in zip(rows, view, strict=True):
            np.subtract(matrices, offset, out=target)
            target *= share
    return values, where


@lru_cache(maxsize=4)
def _compatible_share(rules: Rules, board: Board, clusters_of_hands: bytes) -> Singles:
    """Return the share [C, C] of a row's hands that are compatible with a hand of the column's cluster."""
    live, clusters = np.flatnonzero(rules.space.live(board)), np.frombuffer(clusters_of_hands, np.int32)
    examples = live[np.unique(clusters[live], return_index=True)[1]]
    member = np.eye(len(examples), dtype=np.float32)[clusters[live]]
    compatible = rules.space.disjoint[np.ix_(examples, live)].astype(np.float32)
    share: Singles = (compatible @ (member / member.sum(axis=0))).T
    return share
