"""Exact values and best responses of any policy given as a table, by the sweeps of the vector engine.

`nash_conv` is what both players together gain by best responses; exploitability is half of it. All values are chips per
hand. The policy must be given for every public state of the tree, over all hands at once.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BettingTree, Kind

Probabilities = NDArray[np.float32]
TabularPolicy = Callable[[int, tuple[int, ...]], Probabilities]
"""(tree node, board) -> [H, A] probabilities of its actions."""


@dataclass(frozen=True)
class ProfileValue:
    """Chips per hand: the value of player 0 under the profile, and of each player's best response to the other."""

    value: float
    best_response: tuple[float, float]

    @property
    def nash_conv(self) -> float:
        return self.best_response[0] + self.best_response[1]

    @property
    def exploitability(self) -> float:
        return self.nash_conv / 2


def evaluate_policy(tree: BettingTree, policy: TabularPolicy, board: tuple[int, ...] = ()) -> ProfileValue:
    """Values of a policy for both players from the root of a game without dead chips.

    Boards are not merged, so a policy may treat suits as it likes. Raises PokernetsError where it is not one.
    """
    solver = VectorSolver(VectorGame(tree, board, isomorphism=False), "cfr")
    load_policy(solver, policy)
    best = tuple(solver.best_response_value(player) for player in range(2))
    return ProfileValue(solver.game_value(0), (best[0], best[1]))


def load_policy(solver: VectorSolver, policy: TabularPolicy) -> None:
    """Makes `policy` the average strategy of `solver` at every decision on every board of its game."""
    game = solver.game
    for node in np.flatnonzero((game.tree.kind == Kind.DECISION) | (game.tree.kind == Kind.CHOICE)).tolist():
        start = game.boards.boards.street_start
        street = int(game.tree.street[node])
        for index in range(start[street], start[street + 1]):
            board = game.boards.cards[index]
            probabilities = np.asarray(policy(node, board), np.float32)
            hands = game.hands(int(game.tree.player[node]), index)
            rows = probabilities[hands]
            wrong = ~(np.isfinite(rows).all(axis=1) & (rows >= 0).all(axis=1) & (abs(rows.sum(axis=1) - 1) < 1e-3))
            if wrong.any():
                where = f"`{game.tree.path_text(node)}` on `{game.rules.cards_text(board)}`"
                raise PokernetsError(
                    f"the policy at {where} gives hand {hands[wrong][0]} no probabilities that add to 1"
                )
            solver.set_average(node, index, rows)
