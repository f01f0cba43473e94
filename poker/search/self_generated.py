"""Self-generated continuations of a blueprint of hold'em that plays by buckets ([DLS] section 4).

As `poker.solvers.continuations.generation`, with two steps that are sampled: values at preflop leaves come from
complete boards (`poker.solvers.rollout.leaf_table`, with standard errors), and the opponent's best response, in the
blueprint's own bets and buckets, is learned on sampled boards against the fixed searcher
(`poker.solvers.best_response.abstract`).

Symbols: L leaves, K continuations, B buckets, A actions, 169 classes of hands.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS
from poker.errors import PokernetsError
from poker.search.round_solver import leaf_states
from poker.search.table_leaf import TableValues
from poker.solvers.best_response.abstract import learn_seat
from poker.solvers.blueprint import Blueprint, blueprint_from
from poker.solvers.continuations.generation import Remedies, Solving
from poker.solvers.continuations.remedies import infoset_gains, lowered, reached
from poker.solvers.rollout.leaf_table import LeafTable
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.state import Betting
from poker.tree import BetMenu, DepthLimit, Kind, build_tree

Strategy = Mapping[int, NDArray[np.float32]]
"""[B, A] by betting node."""


@dataclass(frozen=True)
class Response:
    """What one step finds for a seat: the response [B, A] at its decisions, the searcher it answers, and chips per hand
    of the seat in the game with the depth limit."""

    strategy: Strategy
    searcher: Blueprint
    limited_value: float


def respond(
    blueprint: Blueprint,
    table: LeafTable,
    menu: BetMenu,
    opponent: int,
    *,
    solving: Solving,
    boards: int,
    seed: int,
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
    solver.run(iterations=solving.iterations, target=solving.target)
    return solver


def above(blueprint: Blueprint, solver: VectorSolver, player: int) -> Blueprint:
    """The blueprint with the player's solution of the first round: the mean over the hands of a bucket."""
    tree, limited = blueprint.tree, solver.game.tree
    buckets = blueprint.cards.buckets(())
    sizes = np.maximum(np.bincount(buckets, minlength=blueprint.cards.num_buckets[0]), 1)

    def average(node: int) -> NDArray[np.float32]:
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


def remedied(
    blueprint: Blueprint,
    node: int,
    values: NDArray[np.float32],
    blueprint_values: NDArray[np.float32],
    remedies: Remedies,
) -> NDArray[np.float32]:
    """Values [2, K, 169, 169] of responses at a leaf, in pots, after the remedies; `blueprint_values` [2, 169, 169].

    The first axis is the player who keeps to the blueprint; the responses are the other's.
    """
    found = values.copy()
    for own, opponent in ((0, 1), (1, 0)):
        sign = np.float32(1 if own == 0 else -1)
        beliefs = _belief(blueprint, node, own)[None]
        for k in range(values.shape[1]):
            taken = np.full((1, len(_PAIRS)), remedies.pot_fraction, np.float32)
            if remedies.weaken:
                difference = sign * (values[own, k] - blueprint_values[own])[None]
                taken = np.maximum(taken, infoset_gains(difference, opponent, beliefs, _PAIRS))
            found[own, k] = sign * lowered(sign * values[own, k][None], opponent, taken)[0]
    return found


def _belief(blueprint: Blueprint, node: int, player: int) -> NDArray[np.float64]:
    """[169] how likely a hand of each class comes to a betting node of the first round in the blueprint."""
    tree, reach = blueprint.tree, np.ones(NUM_HANDS)
    while tree.parent[node] >= 0:
        parent = int(tree.parent[node])
        if tree.kind[parent] == Kind.DECISION and tree.player[parent] == player:
            reach *= blueprint.probs(parent, ())[:, node - int(tree.first_child[parent])]
        node = parent
    return reached(reach, PREFLOP_CLASS.astype(np.int32))


_MEMBER = np.eye(int(PREFLOP_CLASS.max()) + 1, dtype=np.float32)[PREFLOP_CLASS]
_PAIRS = _MEMBER.T @ HOLDEM.disjoint.astype(np.float32) @ _MEMBER
"""[169, 169] compatible pairs of hands of two classes."""
