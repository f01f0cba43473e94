"""Strategies as the action rows of a vector game: after the off-tree bet as after the blueprint's raises next to it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.experiments.off_tree_bet.solutions import SolvedGame
from poker.experiments.off_tree_bet.spot import OffTreeBet, twins
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, realization, strategy_of
from poker.types import Singles


def line_rows(spot: OffTreeBet, solution: SolvedGame, total: int, branch: VectorGame, player: int) -> Rows:
    """Strategy of `player` after P1's first raise to `total` in a solved game, at the same choices of the branch."""
    tree, out = solution.game.tree, np.zeros(branch.num_entries, np.float32)
    copy_rows(solution.game, solution.rows, twins(tree, tree.find([total]), spot.branch), branch, player, out)
    return out


def translated(spot: OffTreeBet, blueprint: SolvedGame, branch: VectorGame, player: int) -> Rows:
    """Randomised pseudo-harmonic translation: the bet is taken for one of the two raises next to it, and played on.

    The mixture is over whole strategies, so hands carry what they took the bet for from decision to decision.
    """
    mixture = np.zeros(branch.num_entries, np.float32)
    for total, probability in spot.lines:
        rows = line_rows(spot, blueprint, total, branch, player)
        mixture += np.float32(probability) * realization(branch, player, strategy_of(branch, rows))
    return mixture


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


def by_suits(game: VectorGame, values: Singles) -> Singles:
    """[H] means over hands that the game's suit symmetries map to each other, which makes these exactly equal."""
    first = deck_of(game.rules).hand_map[np.array(game.boards.groups[0])].min(axis=0)
    means = (np.bincount(first, values) / np.maximum(np.bincount(first), 1)).astype(np.float32)
    return np.asarray(means[first])
