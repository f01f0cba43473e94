"""Decisions on the first street of a solved spot: ranges, frequencies and values of actions."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.solvers.vector.spot.solution import action_name, find_node
from poker.tree.spots import spot_tree


@dataclass(frozen=True)
class Decision:
    """`totals` of each action, and the strategy [H, A] of the hands that come there with weights [H]."""

    path: str
    player: int
    actions: dict[str, dict[str, float | None]]
    weights: NDArray[np.float64]
    strategy: NDArray[np.float32]


def decision(solver: VectorSolver, words: str) -> Decision:
    """The decision of the first street after words such as `check bet120`."""
    game = solver.game
    node, _ = find_node(game.tree, game.board, words)
    strategy, values = solver.strategy(node), solver.action_values(node).astype(np.float64)
    own, other = _arriving(solver, node)
    weights = own * game.rules.space.compatible_mass(other)
    names = [action_name(game.tree, node, child) for child in game.tree.children(node)]
    actions = dict(zip(names, totals(weights, strategy, values), strict=True))
    return Decision(words, int(game.tree.player[node]), actions, weights, strategy)


def totals(
    weights: NDArray[np.float64], strategy: NDArray[np.floating], values: NDArray[np.floating]
) -> list[dict[str, float | None]]:
    """Frequency with which hands of `weights` [H] take each action, its mean value `ev` to those that do, and `ev_all`
    to all of them alike, by which actions compare; None where nothing is known. `strategy` and `values` are [H, A]."""
    return [
        {
            "frequency": float(weights @ taken / weights.sum()) if weights.any() else math.nan,
            "ev": _mean(weights * taken, worth),
            "ev_all": _mean(weights, worth),
        }
        for taken, worth in zip(strategy.T, values.T, strict=True)
    ]


def _mean(weights: NDArray[np.float64], values: NDArray[np.floating]) -> float | None:
    known = (weights > 0) & ~np.isnan(values)
    return float(weights[known] @ values[known] / weights[known].sum()) if known.any() else None


def _arriving(solver: VectorSolver, node: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ranges [H] with which the player to act and the other one come to a node of the first street."""
    game, tree = solver.game, solver.game.tree
    ranges = game.ranges.astype(np.float64)
    at = node
    while tree.parent[at] >= 0:
        parent = int(tree.parent[at])
        ranges[tree.player[parent]] *= solver.strategy(parent)[:, at - int(tree.first_child[parent])]
        at = parent
    player = int(tree.player[node])
    return ranges[player], ranges[1 - player]


def equity(game: VectorGame) -> tuple[float, float]:
    """Each player's share of the pot when nobody bets any more."""
    tree = spot_tree(len(game.board), 2, 1, {})
    checked = VectorSolver(VectorGame(tree, game.board, game.ranges), "cfr_plus")
    return checked.game_value(0) / 2, checked.game_value(1) / 2
