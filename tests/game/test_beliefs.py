"""Ranges follow Bayes' rule and never rule out what the model of a player could have got wrong."""

import numpy as np
import pytest

from poker.game.beliefs import observe_action, observe_board, start_ranges
from poker.game.cards import hand_index, parse_cards
from poker.game.rules import Rules


def test_action_moves_one_range_by_bayes(rules: Rules) -> None:
    ranges = start_ranges(rules)
    probs = np.linspace(0.0, 1.0, rules.num_hands, dtype=np.float32)
    updated = observe_action(ranges, 1, probs, noise=0.0, num_actions=3)
    np.testing.assert_allclose(updated[1], probs / probs.sum(dtype=np.float64), rtol=1e-5)
    np.testing.assert_array_equal(updated[0], ranges[0])


def test_noise_keeps_every_hand_possible(rules: Rules) -> None:
    probs = np.zeros(rules.num_hands, dtype=np.float32)
    probs[5] = 1.0
    updated = observe_action(start_ranges(rules), 0, probs, noise=0.1, num_actions=4)
    assert updated[0].min() > 0.0
    assert updated[0][5] / updated[0][6] == pytest.approx((0.9 + 0.1 / 4) / (0.1 / 4), rel=1e-5)


def test_impossible_action_leaves_the_range(rules: Rules) -> None:
    ranges = start_ranges(rules)
    updated = observe_action(ranges, 0, np.zeros(rules.num_hands, dtype=np.float32), noise=0.0, num_actions=3)
    np.testing.assert_array_equal(updated, ranges)


def test_board_removes_hands_and_renormalises(rules: Rules) -> None:
    board = parse_cards("AhKd2c")
    updated = observe_board(start_ranges(rules), board)
    assert updated[:, hand_index(board[0], 3)].sum() == 0.0
    np.testing.assert_allclose(updated.sum(axis=1), 1.0, rtol=1e-5)
    assert np.count_nonzero(updated[0]) == 1176


def test_range_without_hands_on_the_board_becomes_uniform(rules: Rules) -> None:
    board = parse_cards("AhKd2c")
    ranges = np.zeros((2, rules.num_hands), dtype=np.float32)
    ranges[0, hand_index(board[0], board[1])] = 1.0
    ranges[1, hand_index(0 + 1, 2)] = 1.0
    updated = observe_board(ranges, board)
    assert np.count_nonzero(updated[0]) == 1176
    assert np.count_nonzero(updated[1]) == 1
