"""Which hands a solve is made for."""

import numpy as np

from poker.betting import Betting
from poker.cards import parse_cards
from poker.rules import CALL
from poker.search.beliefs import observe_board, start_ranges
from poker.search.round_solver import DepthLimitedSolver, SolverSettings, leaf_states, without_unlikely
from poker.search.safety import Safety
from poker.tree import DepthLimit, bet_menu, build_tree
from tests.games import load_rules

RULES = load_rules("holdem_nolimit_2p")
RIVER = parse_cards("2cKdAh7s9h")
MENU = bet_menu(preflop=[[]], flop=[[]], turn=[[]], river=[[1.0], []])


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
    root = Betting.start(RULES)
    for _ in range(6):
        root = root.apply(CALL)
    ranges = observe_board(start_ranges(RULES), RIVER)
    rare = np.flatnonzero(ranges[1] > 0)[::50]
    ranges[:, rare] *= 1e-6
    ranges /= ranges.sum(axis=1, keepdims=True)
    for kind, left_out in (("unsafe", True), ("resolve", False)):
        solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (20,), 1), Safety(kind))
        solution = solve(root, RIVER, ranges, 0, ())
        policies = solution.policies.values()
        for player in range(2):
            rows = np.concatenate([policy.probs[rare] for policy in policies if policy.player == player], axis=1)
            assert np.all(rows == 0.5) == (player == 0 or left_out)
            np.testing.assert_array_less(0.999, rows.sum(axis=1))


def test_ranges_whose_likely_hands_block_each_other_are_solved_whole() -> None:
    root = Betting.start(RULES)
    for _ in range(6):
        root = root.apply(CALL)
    ranges = np.zeros((2, RULES.num_hands), np.float32)
    same, other = np.flatnonzero(observe_board(start_ranges(RULES), RIVER)[0] > 0)[[0, -1]]
    ranges[:, same], ranges[:, other] = 1.0, 1e-7
    solution = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (20,), 1))(root, RIVER, ranges, 0, ())
    first = solution.at(root)
    assert first is not None
    assert not np.all(first.probs[[same, other]] == 0.5)


def test_values_of_a_decision_are_the_mean_of_those_of_its_actions() -> None:
    root = Betting.start(RULES)
    for _ in range(4):
        root = root.apply(CALL)
    root = root.apply(CALL).apply(CALL)
    ranges = observe_board(start_ranges(RULES), RIVER)
    solve = DepthLimitedSolver(MENU, MENU, {}, SolverSettings("apdcfr", (20,), 1))
    assert solve(root, RIVER, ranges, 1, ()).values is None
    solve.keeps_values = True
    solution = solve(root, RIVER, ranges, 1, ())
    assert solution.values is not None
    policy, values = solution.at(root), solution.values.values
    assert policy is not None
    assert solution.values.player == policy.player == 0
    mean = sum(policy.probability(action) * values[action,] for action in policy.actions)
    live = ranges[0] > 0
    np.testing.assert_allclose(values[()][live], np.asarray(mean)[live], atol=0.01)
    assert np.isnan(values[()][~live]).all()
