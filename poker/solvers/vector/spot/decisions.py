"""Decisions on the first street of a solved spot: ranges, frequencies and values of actions."""

import math
from dataclasses import dataclass

import numpy as np

from poker.cards import RARE
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.solvers.vector.spot.solution import action_name, find_node
from poker.tree import Kind
from poker.tree.spots import spot_tree
from poker.types import Floats, Reals, Singles


@dataclass(frozen=True)
class Decision:
    """`totals` of each action, and the strategy [H, A] of the hands that come there with weights [H]."""

    path: str
    player: int
    actions: dict[str, dict[str, float | None]]
    weights: Floats
    strategy: Singles


def decision(solver: VectorSolver, words: str) -> Decision:
    """The decision of the first street after words such as `check bet120`."""
    game = solver.game
    node, _ = find_node(game.tree, game.board, words)
    strategy, values = solver.strategy(node), solver.action_values(node).astype(np.float64)
    player, ranges = int(game.tree.player[node]), arriving(solver, node)
    weights = ranges[player] * game.rules.space.compatible_mass(ranges[1 - player])
    names = [action_name(game.tree, node, child) for child in game.tree.children(node)]
    actions = dict(zip(names, totals(weights, strategy, values), strict=True))
    return Decision(words, player, actions, weights, strategy)


def totals(weights: Floats, strategy: Reals, values: Reals) -> list[dict[str, float | None]]:
    """Frequency with which hands of `weights` [H] take each action, its mean value `ev` to those that do, and `ev_all`
    to all of them alike, by which actions compare; None where nothing is known, and for the `ev` of an action that is
    hardly taken (`poker.cards.RARE`). `strategy` and `values` are [H, A]."""
    found: list[dict[str, float | None]] = []
    for taken, worth in zip(strategy.T, values.T, strict=True):
        frequency = float(weights @ taken / weights.sum()) if weights.any() else math.nan
        ev = weighted_mean(worth, weights * taken) if frequency >= RARE else math.nan
        found.append({"frequency": frequency, "ev": _known(ev), "ev_all": _known(weighted_mean(worth, weights))})
    return found


def _known(value: float) -> float | None:
    return None if math.isnan(value) else value


def weighted_mean(values: Reals, weights: Floats) -> float:
    """Mean over the hands that have a weight and a value; NaN where there is none."""
    known = (weights > 0) & ~np.isnan(values)
    return float(weights[known] @ values[known] / weights[known].sum()) if known.any() else math.nan


def arriving(solver: VectorSolver, node: int) -> Floats:
    """[2, H] ranges with which both players come to a node of the first street."""
    tree, ranges = solver.game.tree, solver.game.ranges.astype(np.float64)
    while (parent := int(tree.parent[node])) >= 0:
        if tree.kind[parent] == Kind.DECISION:
            ranges[tree.player[parent]] *= solver.strategy(parent)[:, node - int(tree.first_child[parent])]
        node = parent
    return ranges


def equity(game: VectorGame) -> tuple[float, float]:
    """Each player's share of the pot when nobody bets any more."""
    tree = spot_tree(len(game.board), 2, 1, {})
    checked = VectorSolver(VectorGame(tree, game.board, game.ranges), "cfr_plus")
    return checked.game_value(0) / 2, checked.game_value(1) / 2
