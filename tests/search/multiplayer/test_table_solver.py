"""Rounds at tables of more than two, and the rest of a hand between two of them, by the heads-up engine."""

from types import SimpleNamespace

import numpy as np

from poker.game.beliefs import observe_board, start_ranges
from poker.game.cards import HOLDEM, parse_cards
from poker.game.rules import CALL, FOLD
from poker.game.state import Betting, HandState, Policy
from poker.search.multiplayer.heads_up_rest import HeadsUpRest
from poker.search.multiplayer.table_solver import TableSolver
from poker.search.settings import SearchSettings
from poker.solve.clock import Clock
from poker.solve.types import Request, SolverSettings
from poker.tree import bet_menu
from poker.tree.translation import on_actions
from tests.cases import cases
from tests.games import SIX
from tests.given import given

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
    rest = given(HeadsUpRest.of(root, solver.to_the_end))
    wanted = solver.heads_up(Request(rest.root, BOARD, ranges[:2], 1, (1111 + rest.offset,)))
    assert len(solution.policies) == len(wanted.policies)
    first = given(solution.at(root))
    assert first.player == 0
    assert 1111 in first.actions
    after = given(solution.at(root.apply(1111)))
    assert after.player == 1
    assert np.array_equal(after.probs, wanted.policies[1111 + rest.offset,].probs)


def test_a_policy_among_other_actions() -> None:
    probs = np.tile(np.array([[0.1, 0.2, 0.3, 0.4]], np.float32), (HOLDEM.masks.size, 1))
    merged = on_actions(((-1, 0, 500, 10_000), probs), (-1, 0, 600, 900))
    np.testing.assert_allclose(merged[0], [0.1, 0.2, 0.3, 0.4])
    merged = on_actions(((-1, 0, 500, 600), probs), (0, 700))
    np.testing.assert_allclose(merged[0], [0.3, 0.7])


TURN = 2


@cases
def test_a_round_that_begins_with_two(text: str, begins: str | None) -> None:
    rest = HeadsUpRest.of(Betting.parse(SIX, text), TURN)
    assert (None if rest is None else rest.real_root) == (None if begins is None else Betting.parse(SIX, begins))


def test_chips_of_the_two_alone() -> None:
    """A third player left 225 in the pot of 1,275 chips: half of the pot is taken to be each player's."""
    real = Betting.parse(SIX, "fr225ffcc/cr525fc/cr1275r4000")
    rest = given(HeadsUpRest.of(real, TURN))
    assert rest.players == (0, 1)
    alone = rest.betting(real)
    assert rest.root.committed == (637, 637)
    assert rest.root.rules.stacks == (637 + 10000 - 525,) * 2
    assert rest.players[alone.to_act] == real.to_act
    assert alone.to_call == real.to_call
    assert [rest.real(action) for action in alone.line] == [CALL, 1275, 4000]


def test_every_action_is_legal_in_both() -> None:
    rng, hands = np.random.default_rng(2), 0
    while hands < 200:
        real = Betting.start(SIX)
        while not real.is_over:
            rest = HeadsUpRest.of(real, 1)
            legal = real.legal()
            if rest is not None:
                hands += 1
                alone = rest.betting(real).legal()
                assert (alone.fold, alone.call) == (legal.fold, legal.call)
                totals = [alone.min_raise, alone.max_raise]
                assert [rest.real(total) for total in totals if total] == [
                    total for total in (legal.min_raise, legal.max_raise) if total
                ]
            room = legal.max_raise - legal.min_raise
            draw = rng.random()
            raised = legal.min_raise + int(room * rng.random() ** 6)
            real = real.apply(raised if legal.max_raise and draw < 0.3 else FOLD if legal.fold and draw > 0.6 else CALL)
