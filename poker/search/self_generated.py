"""Self-generated continuations of a blueprint of hold'em that plays by buckets ([DLS] section 4).

The steps are those of `poker.depth_limit.continuations.generation`, two of them sampled: values at preflop leaves come
from complete boards (`poker.depth_limit.leaves.leaf_table`, with standard errors), and the opponent's best response, in
the blueprint's own bets and buckets, is learned on sampled boards against the fixed searcher
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
"""[B, A] by betting node."""


@dataclass(frozen=True)
class Response:
    """Result of one step for a seat: the response [B, A] at its decisions, the searcher it answers, and chips per hand
    of the seat in the game with the depth limit."""

    strategy: SeatStrategy
    searcher: Blueprint
    limited_value: float


def respond(
    blueprint: Blueprint, table: LeafTable, menu: BetMenu, opponent: int, *, solving: Solving, boards: int, seed: int
) -> Response:
    """The response of `opponent` to the searcher's first round, solved with the continuations of `table`."""
    solver = solve_first_round(blueprint, table, menu, opponent, solving)
    searcher = above(blueprint, solver, 1 - opponent)
    strategy = learn_seat(searcher, opponent, boards, seed)
    return Response(strategy, searcher, solver.game_value(opponent))


def solve_first_round(
    blueprint: Blueprint, table: LeafTable, menu: BetMenu, opponent: int, solving: Solving
) -> VectorSolver:
    """The first round, at whose end `opponent` chooses among the K continuations of `table`."""
    start, evaluator = Betting.start(blueprint.rules), TableValues(table, blueprint.tree)
    tree = build_tree(start, menu, DepthLimit(0, evaluator.num_continuations, (opponent,), cut_runouts=True))
    ranges = np.ones((2, NUM_HANDS), np.float32)
    values = evaluator.values(leaf_states(start, tree), (), ranges, 1 - opponent)
    solver = VectorSolver(VectorGame(tree, leaf_values=values), solving.algorithm)
    solver.run(iterations=solving.iterations)
    return solver


def above(blueprint: Blueprint, solver: VectorSolver, player: int) -> Blueprint:
    """The blueprint with the player's solution of the first round: the mean over the hands of a bucket."""
    tree, limited = blueprint.tree, solver.game.tree
    buckets = blueprint.cards.buckets(())
    sizes = np.maximum(np.bincount(buckets, minlength=blueprint.cards.num_buckets[0]), 1)

    def average(node: int) -> Singles:
        probs = blueprint.probs(node)
        if tree.street[node] or tree.player[node] != player:
            return probs
        there = limited.find(tree.path(node))
        if limited.actions(there) != tree.actions(node):
            raise PokernetsError("continuations: the bet menu is not the one of the blueprint's first round")
        solved = solver.strategy(there)
        sums = [np.bincount(buckets, column, len(sizes)) for column in solved.T]
        return np.asarray(np.stack(sums, axis=1) / sizes[:, None], np.float32)

    return blueprint_from(tree, blueprint.cards, average, bits=blueprint.strategy.itemsize * 8)
