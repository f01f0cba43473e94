"""Self-generated continuations of a hold'em blueprint with buckets ([DLS] section 4).

The steps are as in `poker.depth_limit.continuations.generation`, with two of them sampled. Values at preflop leaves
come from complete boards (`poker.depth_limit.leaves.leaf_table`, with standard errors). The opponent's best response,
with the blueprint's bets and buckets, is learned on sampled boards against the fixed searcher
(`poker.solvers.best_response.abstract`).

Symbols: L leaves, K continuations, B buckets, A actions, 169 classes of hands.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from poker.depth_limit.continuations.generation import Solving
from poker.depth_limit.evaluator import leaf_states
from poker.depth_limit.leaves.leaf_table import LeafTable
from poker.depth_limit.leaves.table import TableValues
from poker.game.cards import NUM_HANDS
from poker.game.state import Betting
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.solvers.best_response.abstract import learn_seat
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import BetMenu, DepthLimit, build_tree

SeatStrategy = Mapping[int, Singles]
"""[B, A] probabilities by betting node."""


@dataclass(frozen=True)
class Response:
    """Result of one step for a seat.

    Attributes:
        strategy: [B, A] response at each of the seat's decisions.
        searcher: the searcher that it answers.
        limited_value: chips per hand of the seat in the game with the depth limit.
    """

    strategy: SeatStrategy
    searcher: Blueprint
    limited_value: float


def respond(
    blueprint: Blueprint, table: LeafTable, menu: BetMenu, opponent: int, *, solving: Solving, boards: int, seed: int
) -> Response:
    """Compute a player's response to the searcher's first round.

    Args:
        table: values of the K continuations at the leaves.
        menu: bet menu of the first round.
        opponent: the player who responds.
        solving: settings of the solve.
        boards: boards from which the response is learned.
        seed: seed of the boards.
    """
    solver = solve_first_round(blueprint, table, menu, opponent, solving)
    searcher = above(blueprint, solver, 1 - opponent)
    strategy = learn_seat(searcher, opponent, boards, seed)
    return Response(strategy, searcher, solver.game_value(opponent))


def solve_first_round(
    blueprint: Blueprint, table: LeafTable, menu: BetMenu, opponent: int, solving: Solving
) -> VectorSolver:
    """Solve the first round, at whose end the opponent chooses among the K continuations of a table.

    Args:
        table: values of the continuations at the leaves.
        menu: bet menu of the first round.
        opponent: the player who chooses.
        solving: settings of the solve.
    """
    start, evaluator = Betting.start(blueprint.rules), TableValues(table, blueprint.tree)
    tree = build_tree(start, menu, DepthLimit(0, evaluator.num_continuations, (opponent,), cut_runouts=True))
    ranges = np.ones((2, NUM_HANDS), np.float32)
    values = evaluator.values(leaf_states(start, tree), (), ranges, 1 - opponent)
    solver = VectorSolver(VectorGame(tree, leaf_values=values), solving.algorithm)
    solver.run(iterations=solving.iterations)
    return solver


def above(blueprint: Blueprint, solver: VectorSolver, player: int) -> Blueprint:
    """Return the blueprint with a player's solution of the first round, averaged over the hands of a bucket.

    Args:
        solver: the solved first round.

    Raises:
        PokernetsError: the solver's bets differ from the bets of the blueprint's first round.
    """
    tree, limited = blueprint.tree, solver.game.tree
    buckets = blueprint.cards.buckets(())
    sizes = np.maximum(np.bincount(buckets, minlength=blueprint.cards.num_buckets[0]), 1)

    def average(node: int) -> Singles:
        probs = blueprint.probs(node)
        if tree.street[node] or tree.player[node] != player:
            return probs
        there = limited.find(tree.path(node))
        if limited.actions(there) != tree.actions(node):
            raise PokernetsError("the continuations need the bet menu of the blueprint's first round")
        solved = solver.strategy(there)
        sums = [np.bincount(buckets, column, len(sizes)) for column in solved.T]
        return np.asarray(np.stack(sums, axis=1) / sizes[:, None], np.float32)

    return blueprint_from(tree, blueprint.cards, average, bits=blueprint.strategy.itemsize * 8)
