"""`evaluate=leaf_values`: the reference against rollouts, signs of values."""

from collections.abc import Sequence

import numpy as np
import pytest

from poker.depth_limit.continuations.forms import Biased
from poker.depth_limit.evaluator import LeafEvaluator
from poker.depth_limit.leaves.rollout import RolloutLeaf
from poker.evaluation.leaf_values import FLOP, Arrival, Reference, arrival, values_of
from poker.game.beliefs import observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.rules import CALL
from poker.kernels.types import Board, Ranges
from poker.solve.types import SolverSettings
from poker.solvers.blueprint import Blueprint
from poker.solvers.vector.leaves import LeafValues
from poker.tree import bet_menu, build_tree
from tests.blueprints import random_blueprint
from tests.depth_limit.leaves.test_leaf_evaluators import FLOP as CARDS
from tests.depth_limit.leaves.test_leaf_evaluators import StrengthBuckets
from tests.games import HEADS_UP as RULES
from tests.search.even_leaf import even_solver

MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[[1.0], ["a"]], turn=[[1.0], ["a"]], river=[[1.0], ["a"]])


class Flat(LeafEvaluator):
    """`own` wins the same chips with every hand, under both continuations."""

    num_continuations = 2

    def __init__(self, chips: float) -> None:
        self._chips = chips

    def values(self, leaves: Sequence[Betting], board: Board, ranges: Ranges, own: int) -> LeafValues:
        cluster = np.where(RULES.space.live(board), 0, -1).astype(np.int32)
        return LeafValues(own, cluster, cluster, np.full((len(leaves), 2, 1, 1), self._chips, np.float32))


@pytest.fixture(scope="module")
def blueprint() -> Blueprint:
    return random_blueprint(build_tree(Betting.start(RULES), MENU), StrengthBuckets())


@pytest.fixture(scope="module")
def there() -> Arrival:
    root = Betting.start(RULES).apply(300).apply(CALL)
    ranges = observe_board(start_ranges(RULES), CARDS)
    ranges[1] *= np.random.default_rng(0).random(RULES.num_hands) < 0.1
    ranges[1] /= ranges[1].sum()
    return Arrival(CARDS, root.apply(CALL).apply(CALL), ranges)


def test_values_are_to_the_player_whose_hands_they_are(there: Arrival) -> None:
    hands = np.flatnonzero(RULES.space.live(CARDS))[:5]
    for player in (0, 1):
        values = values_of(Flat(60.0), there, player, hands)
        assert values[player] == pytest.approx(np.full((2, 5), 60 / there.end.pot))
        assert values[1 - player] == pytest.approx(np.full((2, 5), -60 / there.end.pot))


def test_reference_equals_rollouts_of_every_hand(there: Arrival, blueprint: Blueprint) -> None:
    rollouts = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=128, hands_per_cluster=2, runouts=24, seed=3)
    hands = np.random.default_rng(1).choice(np.flatnonzero(RULES.space.live(CARDS)), 24, replace=False)
    for player in (0, 1):
        truth, error = Reference(blueprint, Biased()).values(there, player, hands, 48, np.random.default_rng(2))
        values = values_of(rollouts, there, player, hands)
        assert truth.shape == values.shape == (2, 4, 24)
        assert np.corrcoef(values.ravel(), truth.ravel())[0, 1] > 0.9
        assert np.abs(values - truth).mean() < 0.35 * np.abs(truth).mean()
        assert 0 < np.abs(error).mean() < np.abs(values - truth).mean()


def test_play_arrives_at_ends_of_the_flop_with_its_ranges(blueprint: Blueprint) -> None:
    rollouts = RolloutLeaf(blueprint=blueprint, factor=10.0, clusters=8, hands_per_cluster=1, runouts=2, seed=3)
    solver = SolverSettings("apdcfr", (5,), 1)
    agent = even_solver(leaves=[rollouts, rollouts], menu=MENU, ahead=MENU, solver=solver, opponent_noise=0.0)
    arrived = arrival(agent, RULES, FLOP, 0.5, np.random.default_rng(4))
    assert (arrived.end.street, arrived.end.actions[-1], arrived.end.is_over) == (2, (), False)
    assert arrived.ranges.sum(axis=1) == pytest.approx(1, abs=1e-4)
    assert (arrived.ranges[:, ~RULES.space.live(arrived.board)] == 0).all()
