"""Rounds at tables of more than two: the hand-over to the heads-up engine, and policies read in other actions."""

from types import SimpleNamespace

import numpy as np

from poker.game.beliefs import observe_board, start_ranges
from poker.game.cards import HOLDEM, parse_cards
from poker.game.state import Betting, HandState, Policy
from poker.search.clock import Clock
from poker.search.multiplayer.heads_up_rest import HeadsUpRest
from poker.search.multiplayer.table_solver import TableSolver
from poker.search.round_solver import Request, SolverSettings
from poker.search.settings import SearchSettings
from poker.tree import bet_menu
from poker.tree.translation import on_actions
from tests.games import SIX

BOARD = parse_cards("AhKd7c7s")


def unused(state: HandState) -> Policy:
    raise AssertionError(state)


def test_two_left_are_solved_by_the_heads_up_engine() -> None:
    """Also where somebody has folded chips into the pot, and after a bet that the menu lacks."""
    menu, settings = bet_menu(turn=[[1.0], ["a"]], river=[[]]), SolverSettings("apdcfr", (10,), 1)
    search = SearchSettings(menu=menu, ahead=menu, solver=settings, opponent_noise=0.0, remembered_states=1)
    solver = TableSolver(search, unused, SimpleNamespace(rules=SIX), Clock())  # type: ignore[arg-type]
    root = Betting.parse(SIX, "fr225ffcc/cr525fc/")
    ranges = observe_board(start_ranges(SIX), BOARD)
    solution = solver(Request(root, BOARD, ranges, 1, (1111,)))
    rest = HeadsUpRest.of(root, solver.to_the_end)
    assert rest is not None
    wanted = solver.heads_up(Request(rest.root, BOARD, ranges[:2], 1, (1111 + rest.offset,)))
    assert len(solution.policies) == len(wanted.policies)
    first = solution.at(root)
    assert first is not None
    assert first.player == 0
    assert 1111 in first.actions
    after = solution.at(root.apply(1111))
    assert after is not None
    assert after.player == 1
    assert np.array_equal(after.probs, wanted.policies[1111 + rest.offset,].probs)


def test_a_policy_among_other_actions() -> None:
    probs = np.tile(np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), (HOLDEM.masks.size, 1))
    merged = on_actions(((-1, 0, 500, 10_000), probs), (-1, 0, 600, 900))
    np.testing.assert_allclose(merged[0], [0.1, 0.2, 0.3, 0.4])
    merged = on_actions(((-1, 0, 500, 600), probs), (0, 700))
    np.testing.assert_allclose(merged[0], [0.3, 0.7])
