"""Strategies as the action rows of a vector game, carried from one game to another and mixed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.kernels.simd import to_float32
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.tree import Kind

Rows = NDArray[np.float32]
"""float32[entries] in the layout of a game: weights of actions, of which the strategy is the share of each."""


def copy_rows(
    source: VectorGame, rows: NDArray[Any], twins: NDArray[np.int32], target: VectorGame, player: int, out: Rows
) -> None:
    """Rows (or bfloat16 regrets) of `player` at nodes `twins` [N of the target] of the source, into `out` as the target
    lays them out.

    Twins of -1 are left out. Both games have the same boards and hands, those of the source maybe not to the end.
    """
    if source.boards.cards != target.boards.cards[: len(source.boards.cards)]:
        raise PokernetsError("strategies are carried between games with the same boards only")
    for node in target.layout.decisions.tolist():
        if target.tree.player[node] == player and twins[node] >= 0:
            for board in target.on(int(target.tree.street[node])):
                target.rows(out, node, board)[:] = to_float32(source.rows(rows, int(twins[node]), board))


def realization(game: VectorGame, rows: Rows, player: int) -> Rows:
    """The probability with which `player` plays to each of the own actions: rows that can be added up to mixtures."""
    out = np.zeros_like(rows)

    def walk(node: int, board: int, reach: Rows) -> None:
        tree = game.tree
        if tree.kind[node] == Kind.STREET:
            if game.layout.position[tree.first_child[node]] >= 0:
                children = game.boards.boards.child_start
                for below in range(children[board], children[board + 1]):
                    walk(int(tree.first_child[node]), below, reach)
            return
        if tree.kind[node] != Kind.DECISION:
            return
        if tree.player[node] != player:
            for child in tree.children(node):
                walk(child, board, reach)
            return
        hands = game.hands(player, board)
        own = shares(game.rows(rows, node, board)) * reach[hands]
        game.rows(out, node, board)[:] = own
        for child, weights in zip(tree.children(node), own, strict=True):
            going = np.zeros_like(reach)
            going[hands] = weights
            walk(child, board, going)

    walk(0, 0, np.ones(game.rules.num_hands, np.float32))
    return out


def shares(rows: Rows) -> Rows:
    """[A, hands] weights that add up to 1 for each hand; alike where there are none."""
    mass = rows.sum(axis=0)
    weights: Rows = np.where(mass > 0, rows / np.where(mass > 0, mass, 1), np.float32(1 / len(rows)))
    return weights


def by_suits(game: VectorGame, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """[H] the means over hands that the game's suit symmetries turn into each other: exactly alike, so boards merge."""
    first = deck_of(game.rules).hand_map[np.array(game.boards.groups[0])].min(axis=0)
    means = (np.bincount(first, values) / np.maximum(np.bincount(first), 1)).astype(np.float32)
    return np.asarray(means[first])
