"""Walking through a solution: what is shown on every street is what the vector engine says."""

from dataclasses import replace

import numpy as np
import pytest

from poker.game.betting import Betting
from poker.game.cards import cards_text, parse_cards
from poker.game.rules import CALL
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.spots.spots import spot_of
from poker.spots.walk import View, Walk, arriving, totals
from poker.tree import build_tree
from poker.tree.spots import spot_tree
from tests.cases import cases, table
from tests.games import load_rules

NARROW = table(__file__, "NARROW")
TURN = spot_of({"board": "Ks9d4c2s", **NARROW})
FLOP = spot_of({"board": "Ks9d4d", **NARROW, "bet": "a", "raise": ""})


@pytest.fixture(scope="module")
def turn() -> tuple[Walk, VectorSolver]:
    solver = VectorSolver(TURN.game())
    solver.run(60)
    return Walk(TURN, solver), solver


def _mean(view: View, player: int) -> float:
    return view.mean(view.ev[player], player)


def test_first_street_is_the_vector_engines(turn: tuple[Walk, VectorSolver]) -> None:
    walk, solver = turn
    view = walk.view(["check", "bet30"])
    node = solver.game.tree.find((0, 30))
    assert view.player == 0
    assert view.actions == ("fold", "call", "allin150")
    np.testing.assert_allclose(view.shares, [np.nan, np.nan, 120 / 120])  # a pot of 90 and 30 to call
    assert (view.pot, view.behind) == (90, 120)
    live = view.weights[0] > 0
    np.testing.assert_allclose(view.action_ev[live], solver.action_values(node)[live], rtol=1e-5)
    np.testing.assert_array_equal(view.strategy, solver.strategy(node))
    np.testing.assert_allclose((view.strategy * view.action_ev).sum(axis=1)[live], view.ev[0, live], atol=1e-3)
    means = view.weights[0, live] @ solver.action_values(node)[live] / view.weights[0, live].sum()
    assert [numbers["ev_all"] for numbers in view.totals.values()] == pytest.approx(means.tolist(), rel=1e-5)
    np.testing.assert_array_equal(walk.view(["Check", "allin", "call"]).ev, walk.view(["check", "allin150", "call"]).ev)
    root = walk.view([])
    for player in range(2):
        assert _mean(root, player) == pytest.approx(solver.game_value(player), abs=1e-4)
    checked = VectorSolver(VectorGame(spot_tree(4, 2, 1, {}), TURN.board, solver.game.ranges), "cfr_plus")
    assert root.mean(root.equity[0], 0) == pytest.approx(checked.game_value(0) / 2, abs=1e-6)


RARELY = spot_of(table(__file__, "RARELY"))
"""After a bet some hands of the player in position call once in 50,000 times, and would set the scale of EVs."""


def test_hands_that_hardly_come_are_in_no_view() -> None:
    solver = VectorSolver(RARELY.game())
    solver.run(500)
    words = ["bet75", "call"]
    arrived = arriving(solver, solver.game.tree.find((75, CALL)))[1]
    view = Walk(RARELY, solver).view(words)
    rare = (arrived > 0) & (arrived < 1e-4 * arrived.max())
    assert rare.any()
    assert view.listed(1)[rare].max() == 0.0
    np.testing.assert_array_equal(view.listed(1)[~rare], view.weights[1, ~rare])
    assert len(view.hands(1)["hand"]) == ((arrived > 0) & ~rare).sum()
    cells = pytest.importorskip("poker.studio.explorer.solution", exc_type=ImportError)._cells(view, 1, "ev")
    assert np.nanmax(view.ev[1]) > 1.0
    assert not [cell for cell in cells if cell.label.startswith("EV ") and float(cell.label[3:]) > 0.1]


def test_an_action_that_is_hardly_taken_has_no_value_to_those_that_take_it() -> None:
    weights, strategy = np.ones(2), np.array([[1.0, 0.0], [1 - 1e-5, 1e-5]])
    rows = totals(weights, strategy, np.array([[1.0, 5.0], [2.0, 9.0]]))
    assert [(row["ev"], row["ev_all"]) for row in rows] == [(pytest.approx(1.5, abs=1e-5), 1.5), (None, 7.0)]


@pytest.mark.parametrize("words", [["check", "check"], ["check", "bet30", "call"]])
def test_next_cards_add_up_and_are_the_streets_that_follow(turn: tuple[Walk, VectorSolver], words: list[str]) -> None:
    """Before the card a hand is worth the mean over cards, each as likely as the opponent's hands that leave it."""
    walk, solver = turn
    before = walk.view(words)
    assert before.player is None
    assert len(before.deals) == 48
    mass = np.zeros_like(before.ev)
    evs, equities = np.zeros_like(before.ev), np.zeros_like(before.ev)
    for deal in before.deals:
        after = walk.view([*words, cards_text([deal.card])])
        assert after.player == 0
        for player in range(2):
            assert deal.ev[player] == pytest.approx(_mean(after, player), abs=1e-3)
            assert deal.equity[player] == pytest.approx(after.mean(after.equity[player], player), abs=1e-5)
            space = solver.game.rules.space
            likely = np.where(space.live(after.board), space.compatible_mass(after.ranges[1 - player]), 0)
            mass[player] += likely
            evs[player] += likely * np.nan_to_num(after.ev[player])
            equities[player] += likely * np.nan_to_num(after.equity[player])
        assert sum(deal.ev) == pytest.approx(60, abs=1e-3)
    comes = before.weights > 0
    np.testing.assert_allclose((evs / np.maximum(mass, 1e-9))[comes], before.ev[comes], atol=2e-3)
    np.testing.assert_allclose((equities / np.maximum(mass, 1e-9))[comes], before.equity[comes], atol=1e-4)


def test_later_streets_have_the_solved_strategies(turn: tuple[Walk, VectorSolver]) -> None:
    walk, solver = turn
    view = walk.view(["check", "check", "5h", "bet30"])
    node = solver.game.tree.find((0, 0, 30))
    strategy = solver.strategy(node, (*TURN.board, *parse_cards("5h")))
    np.testing.assert_allclose(view.strategy[view.weights[1] > 0], strategy[view.weights[1] > 0], atol=1e-6)
    assert view.player == 1
    live = view.weights[1] > 0
    fold = view.actions.index("fold")
    np.testing.assert_allclose(view.action_ev[live, fold], 0.0, atol=1e-3)


def test_flop_to_river() -> None:
    solver = VectorSolver(FLOP.game())
    solver.run(10)
    walk = Walk(FLOP, solver)
    flop = walk.view(["check", "check"])
    assert len(flop.deals) == 49
    turn = walk.view(["check", "check", "7h", "check", "check"])
    deal = next(deal for deal in turn.deals if deal.card == parse_cards("2c")[0])
    river = walk.view(["check", "check", "7h", "check", "check", "2c"])
    assert len(river.board) == 5
    assert _mean(river, 0) == pytest.approx(deal.ev[0], abs=1e-3)
    strategy = solver.strategy(solver.game.tree.find((0, 0, 0, 0)), river.board)
    live = river.weights[0] > 0
    np.testing.assert_allclose(river.strategy[live], strategy[live], atol=1e-6)


def test_all_in_and_folds_end_the_walk(turn: tuple[Walk, VectorSolver]) -> None:
    walk, _ = turn
    called = walk.view(["allin150", "call"])
    assert (called.player, called.actions, called.deals) == (None, (), ())
    folded = walk.view(["check", "allin150", "fold"])
    assert np.nanmax(folded.ev[0]) == pytest.approx(0, abs=1e-3)


@cases
def test_words_that_lead_nowhere(turn: tuple[Walk, VectorSolver], words: str, named: str) -> None:
    with pytest.raises(PokernetsError, match=named):
        turn[0].view(words.split())


def test_boards_are_looked_up_in_rounds_without_a_deal() -> None:
    rules = replace(
        load_rules("leduc"), board_cards=(0, 1, 0), raise_sizes=(2, 4, 4), max_raises=(1, 1, 1), first_player=(1, 1, 1)
    )
    game = VectorGame(build_tree(Betting.start(rules), None))
    for card in range(rules.deck_size):
        index, permutation = game.find_board(1, (card,))
        assert game.find_board(2, (card,))[1] == permutation
        assert game.boards.cards[game.find_board(2, (card,))[0]] == game.boards.cards[index]
