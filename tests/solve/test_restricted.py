"""Restricted Nash responses in Kuhn and Leduc: both ends of p and the frontier between them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import ArrayLike

from poker.game.rules import Rules
from poker.run.errors import PokernetsError
from poker.solvers.best_response.ranges import RangePolicy, RangeWalk
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, realization, strategy_of
from poker.solvers.vector.solver import VectorSolver
from tests.solvers.games import kuhn, leduc, small_holdem, some_model
from tests.solvers.resolving import game_tree

Board = tuple[int, ...]
LEDUC = 0.0856
"""Chips per hand that the first player loses between equilibrium strategies."""


def modelled(game: VectorGame, player: int, model: RangePolicy, confidence: ArrayLike = 1.0) -> Rows:
    """Weights [entries] M(I a) for p = 1 of a model by boards and hands, with one confidence, or by hand [H]."""
    sure = np.broadcast_to(confidence, game.rules.num_hands)

    def strategy(node: int, board: int) -> Any:
        hands = game.hands(player, board)
        return model(node, game.boards.cards[board])[hands].T * sure[hands]

    return realization(game, player, strategy, game.ranges[player])


def response(game: VectorGame, searcher: int, model: RangePolicy, p: float, iterations: int = 1000) -> VectorSolver:
    solver = VectorSolver(game, "dcfr")
    if p > 0:
        solver.restrict(1 - searcher, p * modelled(game, 1 - searcher, model))
    solver.run(iterations=iterations)
    return solver


def won_and_conceded(solver: VectorSolver, searcher: int, model: RangePolicy) -> tuple[float, float]:
    """Chips per hand, in plain Python: of the searcher from the model, and of best responses from the searcher."""
    tree = solver.game.tree
    won = RangeWalk(tree, model, searcher, own=solver.strategy).value()
    return won, RangeWalk(tree, solver.strategy, 1 - searcher).value()


@pytest.mark.parametrize("rules", [kuhn(), leduc()], ids=["kuhn", "leduc"])
@pytest.mark.parametrize("searcher", [0, 1])
def test_the_ends_are_an_equilibrium_and_the_best_response(rules: Rules, searcher: int) -> None:
    game = VectorGame(game_tree(rules))
    model = some_model(game.tree)
    won, _ = won_and_conceded(response(game, searcher, model, 1.0), searcher, model)
    assert won == pytest.approx(RangeWalk(game.tree, model, searcher).value(), abs=1e-6)
    _, conceded = won_and_conceded(response(game, searcher, model, 0.0), searcher, model)
    value = {"kuhn": 1 / 18, "leduc": LEDUC}[rules.name]
    assert conceded == pytest.approx(value if searcher == 0 else -value, abs=2e-3)


@pytest.mark.parametrize("searcher", [0, 1])
def test_responses_over_p_run_along_the_frontier(searcher: int) -> None:
    game = VectorGame(game_tree(leduc()))
    model, shares = some_model(game.tree), (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 1.0)
    solved = [response(game, searcher, model, p) for p in shares]
    frontier = [won_and_conceded(each, searcher, model) for each in solved]
    won, conceded = np.array(frontier).T
    assert (np.diff(won) > -1e-4).all()
    assert (np.diff(conceded) > -2e-3).all()
    assert won[-1] > won[0] + 0.1
    assert conceded[-1] > conceded[0] + 0.1
    for p, each, gain, loss in zip(shares, solved, won, conceded, strict=True):
        assert p * gain - (1 - p) * loss == pytest.approx(each.best_response_value(searcher), abs=2e-3)
        assert (1 - p) * (loss - conceded[0]) <= p * (gain - won[0]) + 2e-3


def test_the_searcher_faces_the_sum_of_both_parts() -> None:
    """Against the mixture of whole strategies, written as one strategy, best responses are worth the same."""
    game, model, p = VectorGame(game_tree(small_holdem())), some_model(game_tree(small_holdem())), 0.3
    solver = response(game, 0, model, p, iterations=5)
    average = solver.normalised_average()
    free = realization(game, 1, strategy_of(game, average))
    mixed = VectorSolver(game)
    mixed.arrays["sums"][:] = (1 - p) * free + p * modelled(game, 1, model)
    assert solver.best_response_value(0) == pytest.approx(mixed.best_response_value(0), abs=1e-5)
    assert solver.best_response_value(0) != pytest.approx(response(game, 0, model, 0.0, 5).best_response_value(0))


def test_a_model_without_confidence_changes_no_bit() -> None:
    game = VectorGame(game_tree(small_holdem()))
    plain, doubted = VectorSolver(game), VectorSolver(game)
    doubted.restrict(1, modelled(game, 1, some_model(game.tree), 0.0))
    for solver in (plain, doubted):
        solver.run(iterations=10)
    for name, array in plain.arrays.items():
        np.testing.assert_array_equal(array, doubted.arrays[name])


def test_confidence_is_of_each_decision_and_hand() -> None:
    """Every opponent who follows the model with at least its confidence concedes what the response counts on."""
    game = VectorGame(game_tree(leduc()))
    model, other, tree = some_model(game.tree), some_model(game.tree, 2), game.tree
    sure = np.repeat([0.3, 0.9, 0.6], 2)
    solver = VectorSolver(game, "dcfr")
    solver.restrict(1, modelled(game, 1, model, sure))
    solver.run(iterations=500)
    floor = solver.best_response_value(0)
    values = []
    for deviation in (model, other, some_model(tree, 3)):

        def opponent(node: int, board: Board, deviation: RangePolicy = deviation) -> np.ndarray:
            return sure[:, None] * model(node, board) + (1 - sure[:, None]) * deviation(node, board)

        values.append(won_and_conceded(solver, 0, opponent)[0])
    assert min(values) > floor - 1e-3
    equilibrium, certain = (response(game, 0, model, p).best_response_value(0) for p in (0.0, 1.0))
    assert equilibrium + 0.01 < floor < certain - 0.01


def test_p_bounds_the_risk_whatever_the_confidence() -> None:
    game, p = VectorGame(game_tree(leduc())), 0.7
    model = some_model(game.tree)
    solver = VectorSolver(game, "dcfr")
    solver.restrict(1, p * modelled(game, 1, model, 0.9))
    solver.run(iterations=500)
    won, conceded = won_and_conceded(solver, 0, model)
    assert 0.05 < conceded - LEDUC < p / (1 - p) * (won + LEDUC)


def test_restrictions_that_cannot_be_are_refused() -> None:
    game = VectorGame(game_tree(leduc()))
    solver = VectorSolver(game)
    reach = modelled(game, 1, some_model(game.tree))
    solver.run(iterations=1)
    with pytest.raises(PokernetsError, match="before the first iteration"):
        solver.restrict(1, reach)
