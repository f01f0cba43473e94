"""The blueprint's lines next to the off-tree bet, seen from after it: strategies and their translation."""

import numpy as np

from poker.experiments.off_tree_bet.rows import copy_rows
from poker.experiments.off_tree_bet.solutions import Solved
from poker.experiments.off_tree_bet.spot import OffTreeBet, twins
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, realization, strategy_of


def line_rows(spot: OffTreeBet, solution: Solved, total: int, branch: VectorGame, players: tuple[int, ...]) -> Rows:
    """Strategies of `players` after P1's first raise to `total` in a solved game, at the same choices of the branch."""
    tree, out = solution.game.tree, np.zeros(branch.num_entries, np.float32)
    for player in players:
        copy_rows(solution.game, solution.rows, twins(tree, tree.find([total]), spot.branch), branch, player, out)
    return out


def translated(spot: OffTreeBet, blueprint: Solved, branch: VectorGame, player: int) -> Rows:
    """Randomised pseudo-harmonic translation: the bet is taken for one of the two raises next to it, and played on.

    The mixture is over whole strategies, so hands carry what they took the bet for from decision to decision.
    """
    mixture = np.zeros(branch.num_entries, np.float32)
    for total, probability in spot.lines:
        rows = line_rows(spot, blueprint, total, branch, (player,))
        mixture += np.float32(probability) * realization(branch, player, strategy_of(branch, rows))
    return mixture
