"""Subgames of three players: small games against full solves and exact values, leaves against what they stand for."""

from collections.abc import Callable

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import SmallGameDealer
from poker.depth_limit.evaluator import leaf_states
from poker.game.rules import Rules
from poker.game.state import Betting
from poker.kernels.types import Board, Floats, Singles
from poker.solvers.best_response.ranges import RangePolicy, RangeWalk, evaluate_policy
from poker.solvers.blueprint import Blueprint
from poker.solvers.sampling.mccfr import ExternalSampling
from poker.solvers.sampling.subgame import RolledOut, SubgameSolver
from poker.solvers.small_games import strategy_value
from poker.tree import BettingTree, DepthLimit, build_tree
from poker.tree.translation import HistoryTranslator
from tests.blueprints import random_blueprint
from tests.games import load_rules

KUHN, LEDUC = load_rules("kuhn_3p"), load_rules("leduc_3p")


def uniform(rules: Rules) -> Singles:
    return np.full((rules.num_players, rules.num_hands), 1 / rules.num_hands, np.float32)


def whole(rules: Rules) -> SubgameSolver:
    tree = build_tree(Betting.start(rules))
    return SubgameSolver(tree, (), uniform(rules), 1, cards=SmallGameBuckets(rules))


def limited(rules: Rules, blueprint: Blueprint, *continuations: str) -> SubgameSolver:
    """The first round, valued by a blueprint."""
    root = Betting.start(rules)
    tree = build_tree(root, None, DepthLimit(0, 1))
    rolled_out = RolledOut(blueprint, HistoryTranslator(blueprint.tree, 0), 10.0, continuations)
    return SubgameSolver(tree, (), uniform(rules), 2, leaves=leaf_states(root, tree), rolled_out=rolled_out)


def played(solver: SubgameSolver, tree: BettingTree, rest: Callable[[int], Singles] | None = None) -> RangePolicy:
    """The strategy of `solver`, after its tree that of `rest` by bucket."""
    cards, first = SmallGameBuckets(tree.rules), len(solver.tree) if rest else 0

    def policy(node: int, board: Board) -> Singles:
        if tree.street[node] == 0:
            return solver.strategy(solver.tree.find(tree.path(node)) if first else node)
        return (rest or solver.strategy)(node)[cards.buckets(board)]

    return policy


@pytest.mark.parametrize(("rules", "iterations", "most"), [(KUHN, 300_000, 0.01), (LEDUC, 8_000, 1.5)])
def test_a_whole_game_is_solved_as_by_a_trainer_of_blueprints(rules: Rules, iterations: int, most: float) -> None:
    solver = whole(rules)
    solver.run(iterations)
    nash_conv = evaluate_policy(solver.tree, played(solver, solver.tree)).nash_conv
    cards, dealer = SmallGameBuckets(rules), SmallGameDealer(rules)
    trained = ExternalSampling(solver.tree, cards, dealer, seed=1, discount_every=iterations // 100, batch=100)
    trained.run(iterations=iterations)
    wanted = strategy_value(solver.tree, cards, trained.average).nash_conv
    assert nash_conv < most
    assert nash_conv < wanted + 0.002


def dealt_value(solver: SubgameSolver, player: int, table: Singles) -> tuple[float, float]:
    """Weight of a deal, and net chips of `player` times that, where all play by the rows of a table."""
    count = solver._traverse(table, solver._draw_deals(player, 1), 0.0)
    weights = solver._prior[player, solver._work.live[:count]].astype(np.float64)
    return float(weights.sum()), float(weights @ solver._work.value[:count])


def test_values_are_exact_in_the_mean() -> None:
    """All leaves at once, from hands of the first round to the ends of the second, with a biased continuation."""
    tree, cards = build_tree(Betting.start(LEDUC)), SmallGameBuckets(LEDUC)
    blueprint = random_blueprint(tree, cards)
    for kind in ("blueprint", "raise"):
        solver, later = limited(LEDUC, blueprint, kind), blueprint.biased(kind)
        first = {
            node: blueprint.probs(tree.find(solver.tree.path(node)))[cards.buckets(())]
            for node in solver.tree.decision_nodes.tolist()
        }

        def policy(node: int, board: Board, later: Blueprint = later) -> Singles:
            return (later if tree.street[node] else blueprint).probs(node, board)

        table = np.ones_like(solver._table)
        for node, probs in first.items():
            solver._rows(table, node)[:] = probs.T
        for player in range(3):
            deals = np.array([dealt_value(solver, player, table) for _ in range(5_000)])
            wanted = RangeWalk(tree, policy, player, own=policy).value()
            mean = deals[:, 1].sum() / deals[:, 0].sum()
            error = (deals[:, 1] - mean * deals[:, 0]).std() / deals[:, 0].mean() / np.sqrt(len(deals))
            assert abs(mean - wanted) < 4 * error
            assert error < 0.1


def test_players_play_on_by_the_continuation_that_they_picked() -> None:
    """Where nobody ever picks the first of two continuations, all is as where there is only the second."""
    blueprint = random_blueprint(build_tree(Betting.start(LEDUC)), SmallGameBuckets(LEDUC))
    values = []
    for continuations in (("raise",), ("blueprint", "raise"), ("blueprint",)):
        solver = limited(LEDUC, blueprint, *continuations)
        table = np.ones_like(solver._table)
        if len(continuations) == 2:
            table[solver._game.leaves.row.ravel()] = 0.0
        won = []
        for _ in range(50):
            count = solver._traverse(table, solver._draw_deals(0, 1), 0.0)
            won.append(solver._work.value[:count].sum())
        values.append(won)
    assert values[1] == pytest.approx(values[0], rel=1e-5)
    assert values[2] != pytest.approx(values[0], rel=1e-5)


class FirstRoundResponse(RangeWalk):
    """A best response in the first round, by the `own` policy after it."""

    def values(self, node: int, board: Board, others: Floats) -> Floats:
        if self.tree.player[node] != self.player or self.tree.street[node] > 0:
            return super().values(node, board, others)
        return np.asarray(np.max([self.values(child, board, others) for child in self.tree.children(node)], axis=0))


def test_round_before_leaves_is_solved_for_their_values() -> None:
    """No player gains by another first round if all play the blueprint after it."""
    tree, cards = build_tree(Betting.start(LEDUC)), SmallGameBuckets(LEDUC)
    blueprint = random_blueprint(tree, cards)
    solver = limited(LEDUC, blueprint, "blueprint")
    policy, gains = played(solver, tree, blueprint.probs), []
    for iterations in (100, 9_900):
        solver.run(iterations)
        own = [RangeWalk(tree, policy, player, own=policy).value() for player in range(3)]
        best = [FirstRoundResponse(tree, policy, player, own=policy).value() for player in range(3)]
        gains.append(sum(best) - sum(own))
    assert gains[1] < gains[0] / 3
    assert gains[1] < 0.15


def test_ranges_that_do_not_fit_together_are_solved_somehow() -> None:
    ranges = np.zeros((3, KUHN.num_hands), np.float32)
    ranges[:, 2] = 1.0
    solver = SubgameSolver(build_tree(Betting.start(KUHN)), (), ranges, 1)
    solver.run(1)
    assert np.isfinite(solver.strategy(0)).all()
