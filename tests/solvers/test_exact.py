"""The vector engine as a trainer of blueprints: same strategy bucket by bucket, exact resume, refusals."""

from collections.abc import Mapping

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets, make_abstraction
from poker.abstraction.dealers import SmallGameDealer
from poker.game.cards import PREFLOP_CLASS
from poker.game.state import Betting
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import evaluate_policy
from poker.solvers.blueprint import blueprint_from
from poker.solvers.exact import ExactSolver
from poker.tree import bet_menu, build_tree
from tests.games import load_rules


def solver(game: str, algorithm: str, options: Mapping[str, float] | None = None) -> ExactSolver:
    rules = load_rules(game)
    tree, cards, dealer = build_tree(Betting.start(rules)), SmallGameBuckets(rules), SmallGameDealer(rules)
    return ExactSolver(tree, cards, dealer, algorithm=algorithm, options=options)


@pytest.mark.parametrize("algorithm", ["cfr_plus", "dcfr"])
def test_stored_blueprint_is_the_solution(algorithm: str) -> None:
    run = solver("leduc", algorithm)
    run.run(iterations=1000)
    metrics = run.metrics()
    assert metrics["nash_conv"] < 0.02
    assert metrics["game_value"] == pytest.approx(-0.0856, abs=0.001)
    blueprint = blueprint_from(run.tree, SmallGameBuckets(run.tree.rules), run.average, bits=32)
    assert evaluate_policy(run.tree, blueprint.probs).nash_conv == pytest.approx(metrics["nash_conv"], abs=1e-5)


@pytest.mark.parametrize("algorithm", ["cfr_plus", "apdcfr"])
def test_resumed_equals_uninterrupted(algorithm: str) -> None:
    whole, first, second = (solver("leduc", algorithm) for _ in range(3))
    whole.run(iterations=50)
    first.run(iterations=20)
    arrays, counters = first.state()
    second.restore({name: array.copy() for name, array in arrays.items()}, dict(counters))
    second.run(iterations=50)
    assert (second.iterations, second.visits) == (whole.iterations, whole.visits)
    for node in whole.tree.decision_nodes:
        assert np.array_equal(second.average(int(node)), whole.average(int(node)))


def test_hold_em_is_referred_to_sampling() -> None:
    rules = load_rules("flop_holdem_nolimit")
    tree = build_tree(Betting.start(rules), bet_menu(preflop=[["a"]], flop=[["a"]]))
    cards = make_abstraction((PREFLOP_CLASS[None],), (169,))
    with pytest.raises(PokernetsError, match=r"solver=cfr_plus solves .* use solver=external_sampling"):
        ExactSolver(tree, cards, SmallGameDealer(load_rules("leduc")), algorithm="cfr_plus")


def test_options_change_the_schedule_and_are_recorded() -> None:
    strategies = []
    for options in ({}, {"gamma": 4.0}, {"gamma": 2.0}):
        run = solver("leduc", "dcfr", options)
        run.run(iterations=30)
        strategies.append(run.metrics()["nash_conv"])
        assert run.settings == {"solver": "dcfr", "options": options}
    assert strategies[0] == strategies[1] != strategies[2]
    for wrong, message in (({"gamma": "x"}, "gamma is a number, not 'x'"), ({"gamme": 1.0}, "gamme")):
        with pytest.raises(PokernetsError, match=message):
            solver("leduc", "dcfr", wrong)  # type: ignore[arg-type]
