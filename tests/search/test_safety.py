"""Safe nested solving: what one solution concedes, the next does not exceed."""

from dataclasses import replace

import numpy as np
import pytest

from poker.game.beliefs import observe_action, observe_board
from poker.game.betting import Betting
from poker.game.cards import parse_cards
from poker.game.rules import CALL
from poker.kernels.types import Ranges
from poker.run.errors import PokernetsError
from poker.search.round_solver import DepthLimitedSolver, Request, RoundSolution, SolverSettings
from poker.search.safety import Safety
from poker.tree import bet_menu
from tests.games import HEADS_UP as RULES

MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[[1.0], ["a"]], turn=[[1.0], ["a"]], river=[[1.0], ["a"]])
TURN, RIVER = parse_cards("2cKdAh7s"), parse_cards("2cKdAh7s9h")
TURN_ROOT = Betting.parse(RULES, "r300c/cc/")
SEARCHER = 0
"""Acts first after the flop."""


def turn_ranges() -> Ranges:
    """A few hundred hands each, weighted at random, the same in all four suits' permutations that leave the board."""
    rng = np.random.default_rng(3)
    ranges = np.where(rng.random((2, RULES.num_hands)) < 0.3, rng.random((2, RULES.num_hands)), 0)
    return observe_board(ranges.astype(np.float32), TURN)


def solver(kind: str, iterations: int) -> DepthLimitedSolver:
    return DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (iterations,), 1), Safety(kind))


@pytest.fixture(scope="module")
def turn() -> RoundSolution:
    return solver("resolve", 40)(Request(TURN_ROOT, TURN, turn_ranges(), SEARCHER))


def test_unsafe_solutions_carry_nothing() -> None:
    solution = solver("unsafe", 2)(Request(TURN_ROOT, TURN, turn_ranges(), SEARCHER))
    assert solution.concessions is None
    assert solution.alternatives(TURN_ROOT, TURN) is None
    with pytest.raises(PokernetsError, match="choose one of unsafe"):
        Safety("safe")


def test_values_at_a_decision_of_the_opponent_are_those_of_the_best_action(turn: RoundSolution) -> None:
    concessions = turn.concessions
    assert concessions is not None
    children = [values for path, values in concessions.values.items() if len(path) == 2 and path[0] == CALL]
    assert len(children) >= 2
    folded = np.stack([concessions.values[(CALL,)], *children])
    np.testing.assert_allclose(folded[0], folded[1:].max(axis=0), rtol=1e-4, atol=0.1)


def follow(solution: RoundSolution, line: tuple[int, ...]) -> tuple[Betting, Ranges]:
    """State and ranges after a line of the turn."""
    betting, ranges = TURN_ROOT, turn_ranges()
    for action in line:
        policy = solution.at(betting)
        assert policy is not None
        ranges = observe_action(ranges, policy.player, policy.probability(action), 0.02 * (policy.player != SEARCHER))
        betting = betting.apply(action)
    return betting, ranges


@pytest.mark.parametrize("line", [(CALL, CALL), (900, CALL)])
def test_a_river_solved_safely_concedes_no_hand_more(turn: RoundSolution, line: tuple[int, ...]) -> None:
    betting, ranges = follow(turn, line)
    ranges = observe_board(ranges, RIVER)
    alternatives = turn.alternatives(betting, RIVER)
    assert alternatives is not None
    river = solver("resolve", 800)(Request(betting, RIVER, ranges, SEARCHER, (), alternatives))
    assert river.concessions is not None
    margin = (alternatives - river.concessions.values[()])[ranges[1 - SEARCHER] > 0]
    assert np.nanmin(margin) > -0.01 * betting.pot
    free = solver("resolve", 800)(Request(betting, RIVER, ranges, SEARCHER)).concessions
    assert free is not None
    worse = (alternatives - free.values[()])[ranges[1 - SEARCHER] > 0]
    assert np.nanmin(worse) < np.nanmin(margin)


def test_an_off_tree_bet_gains_the_opponent_nothing(turn: RoundSolution) -> None:
    betting, ranges = follow(turn, (CALL,))
    alternatives = turn.alternatives(betting, TURN)
    assert alternatives is not None
    bet = 555
    policy = turn.at(betting)
    assert policy is not None
    assert bet not in policy.actions
    inserted = solver("resolve", 300)(Request(betting, TURN, ranges, SEARCHER, (bet,), alternatives)).concessions
    assert inserted is not None
    gained = (inserted.values[(bet,)] - alternatives)[ranges[1 - SEARCHER] > 0]
    assert np.nanmax(gained) < 0.02 * betting.pot


def test_what_is_conceded_does_not_depend_on_the_size_of_a_chip() -> None:
    """A factor of two to a power changes no rounding."""
    by_unit = []
    for chips in (1, 64):
        blinds, stacks = (tuple(chips * total for total in totals) for totals in (RULES.blinds, RULES.stacks))
        betting = Betting.start(replace(RULES, blinds=blinds, stacks=stacks))
        for action in (300, CALL, CALL, CALL):
            betting = betting.apply(chips * action)
        solution = solver("resolve", 10)(Request(betting, TURN, turn_ranges(), SEARCHER))
        betting = betting.apply(900 * chips).apply(CALL)
        alternatives = solution.alternatives(betting, RIVER)
        assert alternatives is not None
        by_unit.append(alternatives / np.float32(chips))
    assert np.nanmax(64 * by_unit[0]) > np.finfo(np.float16).max
    np.testing.assert_array_equal(by_unit[1], by_unit[0])
