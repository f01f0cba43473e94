"""Flops that are solved with few rivers after each turn."""

from typing import Any

import numpy as np
import pytest

from poker.formats.ranges import parse_range
from poker.game.cards import HOLDEM, parse_cards
from poker.run.errors import PokernetsError
from poker.solvers.vector import boards
from poker.solvers.vector.game import VectorGame, estimated_hand_actions
from poker.solvers.vector.solver import VectorSolver
from poker.tree.spots import spot_tree

TURN, RIVER = 2, 3
FLOP = parse_cards("Qs7s2h")
RANGES = np.stack([parse_range("99,AQs,T9s"), parse_range("JJ,KQs,98s")])
TREE = spot_tree(3, 100, 150, {"bet": "100%"})


def flop(rivers: int | None, isomorphism: bool = True) -> VectorGame:
    return VectorGame(TREE, FLOP, RANGES, rivers=rivers, isomorphism=isomorphism)


@pytest.mark.parametrize("isomorphism", [True, False])
def test_few_rivers_weigh_as_much_as_all(isomorphism: bool) -> None:
    every, few = (flop(rivers, isomorphism=isomorphism).boards for rivers in (None, 5))
    turns = few.boards.street_start[TURN : TURN + 2]
    assert (few.boards.weight[: turns[1]] == every.boards.weight[: turns[1]]).all()
    for turn in range(*turns.tolist()):
        below, full = (slice(*each.boards.child_start[turn : turn + 2].tolist()) for each in (few, every))
        assert few.boards.weight[below].sum() == pytest.approx(every.boards.weight[full].sum())
        assert below.stop - below.start == 5
        assert set(few.cards[below]) < set(every.cards[full])


def test_as_many_rivers_as_there_are_make_the_same_game() -> None:
    solvers = [VectorSolver(flop(rivers)) for rivers in (None, 48)]
    for solver in solvers:
        solver.run(iterations=3)
    np.testing.assert_array_equal(solvers[0].arrays["sums"], solvers[1].arrays["sums"])


def test_merged_boards_do_not_change_the_values_of_few_rivers(monkeypatch: pytest.MonkeyPatch) -> None:
    def alike(dealt: list[Any], *_: Any) -> list[Any]:
        """All fours and jacks: all or none of a class."""
        return [deal for deal in dealt if deal[0][0] // 4 in (2, 9)]

    monkeypatch.setattr(boards, "choose_rivers", alike)
    solvers = [VectorSolver(flop(4, isomorphism)) for isomorphism in (True, False)]
    assert len(solvers[0].game.boards.cards) < len(solvers[1].game.boards.cards)
    for solver in solvers:
        solver.run(iterations=3)
    values = [solver.values(0) for solver in solvers]
    np.testing.assert_allclose(values[0], values[1], atol=1e-4)


def test_few_rivers_are_nearly_as_good_as_all() -> None:
    every, few = (VectorSolver(flop(rivers)) for rivers in (None, 6))
    every.run(iterations=400, exploitability=0.001)
    few.run(iterations=400, exploitability=0.001)
    assert few.game.hand_actions < 0.2 * every.game.hand_actions
    values = [solver.game_value(0) for solver in (every, few)]
    assert values[1] == pytest.approx(values[0], abs=1.0)  # of a pot of 100


def test_the_control_makes_check_downs_of_one_river_exact() -> None:
    tree = spot_tree(3, 100, 150, {"bet": "100%", "river_bet": ""})
    solvers = [VectorSolver(VectorGame(tree, FLOP, RANGES, rivers=rivers)) for rivers in (None, 1)]
    for solver in solvers:
        solver.run(iterations=3)
    np.testing.assert_allclose(solvers[1].values(0), solvers[0].values(0), atol=1e-3)


def test_a_river_that_is_not_sampled_is_refused() -> None:
    game = flop(1)
    sampled = {game.boards.cards[board] for board in game.on(RIVER)}
    turn = game.boards.cards[game.on(TURN)[0]]
    other = next(card for card in range(52) if card not in turn and (*turn, card) not in sampled)
    with pytest.raises(PokernetsError):
        game.find_board(RIVER, (*turn, other))


@pytest.mark.parametrize("rivers", [None, 4])
def test_the_size_of_a_game_is_estimated_before_it_is_built(rivers: int | None) -> None:
    live = (RANGES > 0) & HOLDEM.live(FLOP)
    estimated = estimated_hand_actions(TREE, live.sum(axis=1), rivers)
    assert estimated == pytest.approx(flop(rivers, isomorphism=False).hand_actions, rel=0.03)
