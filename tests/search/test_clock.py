"""Seconds for solves: what a decision may take, and the account over hands, told by a clock that tests turn."""

import numpy as np
import pytest

from poker.game.beliefs import observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError
from poker.search.clock import Clock
from poker.search.round_solver import DepthLimitedSolver, Request, SolverSettings
from poker.search.safety import Safety
from poker.tree import bet_menu
from tests.games import HEADS_UP as RULES

RIVER = parse_cards("2cKdAh7s9h")
MENU = bet_menu(preflop=[[]], flop=[[]], turn=[[]], river=[[1.0], []])


class Time:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def test_without_settings_there_is_no_limit() -> None:
    clock = Clock()
    clock.start_hand()
    with clock.decision():
        assert clock.for_solve() is None
    assert not clock.limited


def test_a_decision_ends_in_time_however_many_solves_it_needs() -> None:
    time = Time()
    clock = Clock(per_decision=10.0, now=time)
    assert clock.for_solve() == pytest.approx(7.0)
    for _ in range(3):
        with clock.decision():
            end = time.now + 10.0
            for _ in range(8):
                seconds = clock.for_solve()
                assert seconds is not None
                time.now += seconds
            assert end - 0.02 < time.now < end + 0.08


def test_hands_take_no_more_than_their_seconds_on_average() -> None:
    time, rng = Time(), np.random.default_rng(5)
    clock, longest, begun = Clock(per_hand=7.0, now=time), 0.0, time.now
    for hand in range(400):
        clock.start_hand()
        for _ in range(rng.integers(0, 9)):
            before = time.now
            with clock.decision():
                for _ in range(rng.integers(1, 3)):
                    seconds = clock.for_solve()
                    assert seconds is not None
                    time.now += seconds
            longest = max(longest, time.now - before)
        assert time.now - begun <= 7.0 * (hand + 1)
    assert time.now - begun > 0.8 * 7.0 * 400
    assert 5.0 < longest <= 21.0


def test_what_took_too_long_is_saved_by_the_decisions_after_it() -> None:
    time = Time()
    clock = Clock(per_hand=5.0, now=time)
    clock.start_hand()
    with clock.decision():
        time.now += 17.0
    for _ in range(2):
        clock.start_hand()
        with clock.decision():
            seconds = clock.for_solve()
            assert seconds is not None
            assert seconds < 0.1
    for _ in range(2):
        clock.start_hand()
    with clock.decision():
        assert clock.for_solve() == pytest.approx(0.7 * 8 / 3)


def test_both_limits_hold() -> None:
    clock = Clock(per_decision=2.0, per_hand=60.0, now=Time())
    clock.start_hand()
    with clock.decision():
        assert clock.for_solve() == pytest.approx(1.4)


def test_limits_must_be_positive() -> None:
    for decision, hand in ((0.0, None), (None, -1.0)):
        with pytest.raises(PokernetsError, match="must be positive or null"):
            Clock(decision, hand)


@pytest.mark.parametrize(("device", "limit", "rounding"), [("cpu", 1e-6, 0.0), ("torch", 1e-3, 1e-6)])
def test_a_solve_ends_when_it_is_precise_enough_or_its_time_is_up(device: str, limit: float, rounding: float) -> None:
    root = Betting.parse(RULES, "cc/cc/cc/")
    ranges = observe_board(start_ranges(RULES), RIVER)
    settings = SolverSettings("apdcfr", (1,), 1, exploitability=limit, device=device)

    def solved(seconds: float) -> tuple[int, float]:
        solve = DepthLimitedSolver(MENU, MENU, {}, settings, Safety(), Clock(per_decision=seconds))
        solver = solve.solved(Request(root, RIVER, ranges, 0))
        return solver.iterations, solver.exploitability() / root.pot

    iterations, precise = solved(3600.0)
    assert precise <= limit + rounding
    few, rough = solved(1e-9)
    assert few < iterations < 10_000
    assert rough > limit
