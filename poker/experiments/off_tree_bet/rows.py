"""Strategies as the action rows of a vector game, carried from one game to another and mixed."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows


def copy_rows(
    source: VectorGame, rows: NDArray[Any], twins: NDArray[np.int32], target: VectorGame, player: int, out: Rows
) -> None:
    """Copy rows of `player` from the source's nodes `twins` [N of the target] into `out`, laid out as in the target.

    Twins of -1 are left out. Both games have the same boards and hands, those of the source maybe not to the end.
    """
    if source.boards.cards != target.boards.cards[: len(source.boards.cards)]:
        raise PokernetsError("strategies are carried between games with the same boards only")
    for node in target.layout.decisions.tolist():
        if target.tree.player[node] == player and twins[node] >= 0:
            for board in target.on(int(target.tree.street[node])):
                target.rows(out, node, board)[:] = source.rows(rows, int(twins[node]), board)


def by_suits(game: VectorGame, values: NDArray[np.float32]) -> NDArray[np.float32]:
    """[H] means over hands that the game's suit symmetries map to each other, which makes these exactly equal."""
    first = deck_of(game.rules).hand_map[np.array(game.boards.groups[0])].min(axis=0)
    means = (np.bincount(first, values) / np.maximum(np.bincount(first), 1)).astype(np.float32)
    return np.asarray(means[first])
