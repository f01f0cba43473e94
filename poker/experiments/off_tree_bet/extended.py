"""The game with the bet in the tree, solved from the blueprint's regrets instead of from nothing.

Its regrets are those of the blueprint; after the bet they are the mean of those after the two raises next to it. In a
game like this one that saves more than half of the iterations, and what is reached is measured as for any other start.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from poker.experiments.off_tree_bet.solutions import Solved, from_bfloat16
from poker.experiments.off_tree_bet.spot import OffTreeBet
from poker.solvers.vector.solver import VectorSolver


def warm_start(spot: OffTreeBet, blueprint: Solved) -> Callable[[VectorSolver], None]:
    """A function that puts the blueprint's regrets into a solver of the extended game."""
    maps = [_stand_ins(spot, total) for total, _ in spot.lines]

    def start(solver: VectorSolver) -> None:
        game, source = solver.game, blueprint.game
        targets = [array for name, array in solver.arrays.items() if name != "sums"]
        for node in game.layout.decisions.tolist():
            children = list(game.tree.children(node))
            twins = {int(found[node]) for found in maps}
            for board in game.on(int(game.tree.street[node])):
                rows = {twin: from_bfloat16(source.rows(blueprint.regrets, twin, board)) for twin in twins}
                mean = np.mean([_in_order(rows, source.tree.first_child, found, node, children) for found in maps], 0)
                for array in targets:
                    game.rows(array, node, board)[:] = mean
        solver.iterations = int(blueprint.counts["iterations"])

    return start


def _in_order(
    rows: dict[int, NDArray[np.float32]],
    first_child: NDArray[np.int32],
    found: NDArray[np.int32],
    node: int,
    children: list[int],
) -> NDArray[np.float32]:
    """[A, hands] the blueprint's rows for the actions of `node`."""
    twin = int(found[node])
    taken: NDArray[np.float32] = rows[twin][found[children] - first_child[twin]]
    return taken


def _stand_ins(spot: OffTreeBet, line: int) -> NDArray[np.int32]:
    """int32[N of the extended tree]: the blueprint's nodes, where the raise to `line` stands for the bet."""
    tree, other = spot.blueprint_tree, spot.extended_tree
    found = np.zeros(len(other), np.int32)
    raises = {int(tree.action[child]): child for child in tree.children(0)}
    for child in other.children(0):
        action = int(other.action[child])
        found[child] = raises[line if action == spot.total else action]
    for node in range(1, len(other)):
        children = other.children(node)
        found[children.start : children.stop] = tree.children(int(found[node]))
    return found
