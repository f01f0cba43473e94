"""Which hands a solve is made for; safe nested solving: what one solution concedes, the next does not exceed."""

from dataclasses import replace

import numpy as np
import pytest

from poker.depth_limit.evaluator import leaf_states
from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.betting import Betting
from poker.game.cards import HOLDEM, hand_index, parse_cards
from poker.game.rules import CALL
from poker.kernels.types import Ranges, Singles
from poker.run.errors import PokernetsError
from poker.solve.ranges import evened, without_unlikely
from poker.solve.safety import is_safe
from poker.solve.solution import RoundSolution
from poker.solve.solver import DepthLimitedSolver
from poker.solve.types import Request, SolverSettings
from poker.solvers.vector.boards import symmetries
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.tree import DepthLimit, bet_menu, build_tree
from tests.games import HEADS_UP as RULES
from tests.given import given

RIVER = parse_cards("2cKdAh7s9h")
MENU = bet_menu(preflop=[[]], flop=[[]], turn=[[]], river=[[1.0], []])
TWO_SUITS = parse_cards("2d7hKdAh")


def test_least_likely_hands_are_left_out_together() -> None:
    weights = np.array([0.0, 0.004, 0.5, 0.003, 0.003, 0.49], np.float32)
    np.testing.assert_array_equal(without_unlikely(weights, 0.003), weights)
    np.testing.assert_array_equal(without_unlikely(weights, 0.007), np.array([0, 0.004, 0.5, 0, 0, 0.49], np.float32))
    np.testing.assert_array_equal(without_unlikely(weights, 0.0), weights)
    np.testing.assert_array_equal(without_unlikely(np.ones(4, np.float32), 0.5), 1.0)
    rounded = np.array([0.003 * (1 - 1e-6), 0.003, 0.994], np.float32)
    np.testing.assert_array_equal(without_unlikely(rounded, 0.004), rounded)


def test_leaf_states_are_those_at_the_leaves_in_their_order() -> None:
    root = Betting.start(RULES).apply(250)
    menu = bet_menu(preflop=[[1.0], ["a"]])
    tree = build_tree(root, menu, DepthLimit(0, 3, (1,), cut_runouts=True))
    states = leaf_states(root, tree)
    assert [state.text().rstrip("/") for state in states] == [
        root.text() + tree.path_text(int(node)).rstrip("/") for node in tree.leaves
    ]
    assert sum(state.is_over for state in states) == 1


def test_unlikely_hands_of_the_opponent_are_left_out_unless_solves_are_safe() -> None:
    root = Betting.parse(RULES, "cc/cc/cc/")
    ranges = observe_board(start_ranges(RULES), RIVER)
    rare = np.flatnonzero(ranges[1] > 0)[::50]
    ranges[:, rare] *= 1e-6
    ranges /= ranges.sum(axis=1, keepdims=True)
    for kind, left_out in (("unsafe", True), ("resolve", False)):
        solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (20,), 1), kind)
        solution = solve(Request(root, RIVER, ranges, 0))
        policies = solution.policies.values()
        for player in range(2):
            rows = np.concatenate([policy.probs[rare] for policy in policies if policy.player == player], axis=1)
            assert np.all(rows == 0.5) == (player == 0 or left_out)
            np.testing.assert_array_less(0.999, rows.sum(axis=1))


def test_ranges_whose_likely_hands_block_each_other_are_solved_whole() -> None:
    root = Betting.parse(RULES, "cc/cc/cc/")
    ranges = np.zeros((2, RULES.num_hands), np.float32)
    same, other = np.flatnonzero(observe_board(start_ranges(RULES), RIVER)[0] > 0)[[0, -1]]
    ranges[:, same], ranges[:, other] = 1.0, 1e-7
    solution = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (20,), 1))(Request(root, RIVER, ranges, 0))
    first = given(solution.at(root))
    assert not np.all(first.probs[[same, other]] == 0.5)


def test_value_of_a_decision_is_the_mean_over_its_actions() -> None:
    root = Betting.parse(RULES, "cc/cc/cc/")
    ranges = observe_board(start_ranges(RULES), RIVER)
    solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (20,), 1))
    assert not solve(Request(root, RIVER, ranges, 1)).values
    solve.keeps_values = True
    solution = solve(Request(root, RIVER, ranges, 1))
    assert solution.values.keys() == {0}
    policy, values = solution.at(root), solution.values[0].values
    assert policy is not None
    assert solution.values[0].player == policy.player == 0
    mean = sum(policy.probability(action) * values[action,] for action in policy.actions)
    live = ranges[0] > 0
    np.testing.assert_allclose(values[()][live], np.asarray(mean)[live], atol=0.01)
    assert np.isnan(values[()][~live]).all()


def nearly_even(noise: float) -> Ranges:
    """[2, H] weights that depend on ranks alone but for some noise."""
    rng = np.random.default_rng(1)
    by_rank = rng.random((2, 13, 13))
    low, high = (HOLDEM.hand_cards[:, side] // 4 for side in range(2))
    weights = by_rank[:, np.minimum(low, high), np.maximum(low, high)] * rng.uniform(1 - noise, 1 + noise, (2, 1326))
    return observe_board(weights.astype(np.float32), TWO_SUITS)


def test_ranges_that_suits_change_by_noise_alone_are_made_even() -> None:
    """Clubs and spades are alike where neither is on the board."""
    club, spade = (hand_index(*parse_cards(text)) for text in ("AcQc", "AsQs"))
    noisy, values = nearly_even(0.01), np.linspace(0, 1, 1326, dtype=np.float32)
    values[~HOLDEM.live(TWO_SUITS)] = np.nan
    even, alternatives = evened(TWO_SUITS, noisy, values)
    assert (noisy[:, club] != noisy[:, spade]).all()
    assert len(symmetries(RULES, TWO_SUITS, noisy)) == 1
    assert len(symmetries(RULES, TWO_SUITS, even)) == 2
    np.testing.assert_allclose(even[:, club], noisy[:, [club, spade]].mean(axis=1), rtol=1e-5)
    np.testing.assert_allclose(even.sum(axis=1), noisy.sum(axis=1), rtol=1e-5)
    assert alternatives is not None
    np.testing.assert_allclose(alternatives[club], values[[club, spade]].mean(), rtol=1e-5)
    np.testing.assert_array_equal(np.isnan(alternatives), np.isnan(values))
    uneven = nearly_even(0.1)
    assert evened(TWO_SUITS, uneven, None)[0] is uneven
    three_suits = (*TWO_SUITS[:3], *parse_cards("As"))
    assert evened(three_suits, noisy, None)[0] is noisy
    fell_later = parse_cards("2s7hKc7d")  # hearts and diamonds are alike on the whole board, but not on the flop
    assert evened(fell_later, noisy, None)[0] is noisy


def test_a_solve_for_even_ranges_is_that_for_the_noisy_ones_on_fewer_boards() -> None:
    root = Betting.parse(RULES, "cc/cc/")
    ranges, menu = nearly_even(1e-3), bet_menu(preflop=[[]], flop=[[]], turn=[[1.0], []], river=[[1.0], []])
    values: Singles = np.where(HOLDEM.live(TWO_SUITS), 0.0, np.nan).astype(np.float32)
    for kind, alternatives in (("unsafe", None), ("resolve", values)):
        solver = DepthLimitedSolver(menu, menu, {}, SolverSettings("apdcfr", (300,), 1), kind)
        even = solver.solved(Request(root, TWO_SUITS, ranges, 0, (), alternatives))
        plain = VectorSolver(
            VectorGame(even.game.tree, TWO_SUITS, ranges, alternatives=alternatives, isomorphism=False), "apdcfr"
        )
        plain.run(300)
        assert len(even.game.boards.cards) == 36
        assert len(plain.game.boards.cards) == 49
        assert even.game_value() == pytest.approx(plain.game_value(), abs=0.002 * root.pot)
        assert max(even.exploitability(), plain.exploitability()) < 0.005 * root.pot


ALL_IN_MENU = bet_menu(preflop=[[1.0], ["a"]], flop=[[1.0], ["a"]], turn=[[1.0], ["a"]], river=[[1.0], ["a"]])
TURN = parse_cards("2cKdAh7s")
TURN_ROOT = Betting.parse(RULES, "r300c/cc/")
SEARCHER = 0
"""Acts first after the flop."""


def turn_ranges() -> Ranges:
    """A few hundred hands each, weighted at random, the same in all four suits' permutations that leave the board."""
    rng = np.random.default_rng(3)
    ranges = np.where(rng.random((2, RULES.num_hands)) < 0.3, rng.random((2, RULES.num_hands)), 0)
    return observe_board(ranges.astype(np.float32), TURN)


def solver(kind: str, iterations: int) -> DepthLimitedSolver:
    return DepthLimitedSolver(ALL_IN_MENU, ALL_IN_MENU, {}, SolverSettings("apdcfr", (iterations,), 1), kind)


@pytest.fixture(scope="module")
def turn() -> RoundSolution:
    return solver("resolve", 40)(Request(TURN_ROOT, TURN, turn_ranges(), SEARCHER))


def test_unsafe_solutions_carry_nothing() -> None:
    solution = solver("unsafe", 2)(Request(TURN_ROOT, TURN, turn_ranges(), SEARCHER))
    assert solution.concessions is None
    assert solution.alternatives(TURN_ROOT, TURN) is None
    with pytest.raises(PokernetsError, match="choose one of unsafe"):
        is_safe("safe")


def test_values_at_an_opponents_decision_are_of_the_best_action(turn: RoundSolution) -> None:
    concessions = given(turn.concessions)
    children = [values for path, values in concessions.values.items() if len(path) == 2 and path[0] == CALL]
    assert len(children) >= 2
    folded = np.stack([concessions.values[(CALL,)], *children])
    np.testing.assert_allclose(folded[0], folded[1:].max(axis=0), rtol=1e-4, atol=0.1)


def follow(solution: RoundSolution, line: tuple[int, ...]) -> tuple[Betting, Ranges]:
    """State and ranges after a line of the turn."""
    betting, ranges = TURN_ROOT, turn_ranges()
    for action in line:
        policy = given(solution.at(betting))
        noise, actions = 0.02 * (policy.player != SEARCHER), len(policy.actions)
        ranges = observe_action(ranges, policy.player, policy.probability(action), noise, actions)
        betting = betting.apply(action)
    return betting, ranges


@pytest.mark.parametrize("line", [(CALL, CALL), (900, CALL)])
def test_a_river_solved_safely_concedes_no_hand_more(turn: RoundSolution, line: tuple[int, ...]) -> None:
    betting, ranges = follow(turn, line)
    ranges = observe_board(ranges, RIVER)
    alternatives = given(turn.alternatives(betting, RIVER))
    river = solver("resolve", 800)(Request(betting, RIVER, ranges, SEARCHER, (), alternatives))
    assert river.concessions is not None
    margin = (alternatives - river.concessions.values[()])[ranges[1 - SEARCHER] > 0]
    assert np.nanmin(margin) > -0.01 * betting.pot
    free = given(solver("resolve", 800)(Request(betting, RIVER, ranges, SEARCHER)).concessions)
    worse = (alternatives - free.values[()])[ranges[1 - SEARCHER] > 0]
    assert np.nanmin(worse) < np.nanmin(margin)


def test_an_off_tree_bet_gains_the_opponent_nothing(turn: RoundSolution) -> None:
    betting, ranges = follow(turn, (CALL,))
    alternatives = given(turn.alternatives(betting, TURN))
    bet = 555
    policy = given(turn.at(betting))
    assert bet not in policy.actions
    inserted = given(solver("resolve", 300)(Request(betting, TURN, ranges, SEARCHER, (bet,), alternatives)).concessions)
    gained = (inserted.values[(bet,)] - alternatives)[ranges[1 - SEARCHER] > 0]
    assert np.nanmax(gained) < 0.02 * betting.pot


def test_conceded_values_do_not_depend_on_the_size_of_a_chip() -> None:
    """A factor of two to a power changes no rounding."""
    by_unit = []
    for chips in (1, 64):
        blinds, stacks = (tuple(chips * total for total in totals) for totals in (RULES.blinds, RULES.stacks))
        betting = Betting.start(replace(RULES, blinds=blinds, stacks=stacks))
        for action in (300, CALL, CALL, CALL):
            betting = betting.apply(chips * action)
        solution = solver("resolve", 10)(Request(betting, TURN, turn_ranges(), SEARCHER))
        betting = betting.apply(900 * chips).apply(CALL)
        alternatives = given(solution.alternatives(betting, RIVER))
        by_unit.append(alternatives / np.float32(chips))
    assert np.nanmax(64 * by_unit[0]) > np.finfo(np.float16).max
    np.testing.assert_array_equal(by_unit[1], by_unit[0])
