"""Chance sampling: the same regrets as external sampling in the mean, exact resume, convergence."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import Deals, SmallGameDealer
from poker.kernels.chance_sampling import chance_sampling
from poker.rules import Rules
from poker.solvers.chance_sampling import ChanceSampling
from poker.state import Betting
from poker.tree import build_tree
from tests.games import load_rules
from tests.solvers.test_outcome_sampling import Increments
from tests.solvers.test_sampling_tree import three_players


def solver(game: str = "leduc", **settings: Any) -> ChanceSampling:
    rules = load_rules(game)
    options = {"seed": 1, "batch": 50, "discount_every": 200, **settings}
    return ChanceSampling(build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules), **options)


@pytest.mark.parametrize("rules", [load_rules("kuhn"), three_players()], ids=lambda rules: rules.name)
def test_regrets_are_unbiased(rules: Rules) -> None:
    game = Increments(rules, range(rules.num_players))
    scratch = [np.zeros((len(game.tree.nodes), rules.num_players)) for _ in range(2)]

    def sweep(arrays: Any, start: NDArray[np.float32], deals: Deals, rng: Any) -> NDArray[np.float32]:
        table = start.copy()
        chance_sampling(*arrays, table, deals.buckets, deals.ranks, *scratch)
        return table

    (expected, error), (found, other_error) = game.of(game.external), game.of(sweep)
    spread = np.hypot(error, other_error)
    seen = spread > 0
    deviation = (found - expected)[seen] / spread[seen]
    assert seen.sum() >= 12
    assert np.mean(np.abs(deviation) > 4) < 0.02  # rare infosets have errors that are themselves uncertain
    assert 0.6 < np.sqrt(np.mean(deviation**2)) < 1.4


def test_a_sweep_reaches_every_node_while_the_strategy_is_uniform() -> None:
    run = solver("kuhn", batch=1)
    run.run(iterations=1)
    assert run.visits == len(run.sampling.nodes) == 9
    assert run.sampling.rows(run.table, 0)[:, 1].sum() == pytest.approx(1)


def test_resumed_equals_uninterrupted() -> None:
    whole, first, second = solver(), solver(), solver()
    whole.run(iterations=1000)
    first.run(iterations=430)
    arrays, counters = first.state()
    second.restore({name: array.copy() for name, array in arrays.items()}, dict(counters))
    second.run(iterations=1000)
    assert second.table.tobytes() == whole.table.tobytes()
    assert (second.iterations, second.visits, second.periods) == (whole.iterations, whole.visits, whole.periods)


@pytest.mark.parametrize(
    ("game", "iterations", "nash_conv", "value", "tolerance"),
    [
        # over 12 seeds: nash_conv 0.0074 +- 0.0018, value -0.05555 +- 0.00005
        ("kuhn", 50_000, 0.0074 + 4 * 0.0018, -1 / 18, 4 * 0.00005),
        # over 12 seeds: nash_conv 0.0850 +- 0.0124, value -0.0883 +- 0.0024 (the game's is -0.0856)
        ("leduc", 50_000, 0.0850 + 4 * 0.0124, -0.0883, 4 * 0.0024),
    ],
)
def test_converges(game: str, iterations: int, nash_conv: float, value: float, tolerance: float) -> None:
    """Tolerances are four standard deviations, measured over seeds."""
    run = solver(game, batch=500, discount_every=iterations // 100)
    run.run(iterations=iterations)
    figures = run.figures()
    assert 0 < figures["nash_conv"] < nash_conv
    assert figures["game_value"] == pytest.approx(value, abs=tolerance)
