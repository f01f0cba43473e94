"""Inputs of nets over ranges: what they are, by all pairs of hands; the names of suits do not matter."""

import numpy as np
import pytest

from poker.abstraction.equities import showdown_equity
from poker.depth_limit.range_inputs import CLASSES, ROW_NAMES, Encoded, encode, hand_classes, joint_weights, strengths
from poker.game.cards import HOLDEM, NUM_HANDS
from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.types import Board, Floats
from poker.tree.spots import spot_rules

BOARDS: tuple[Board, ...] = ((0, 14, 23, 37, 49), (0, 14, 23, 37), (0, 14, 23), (), (48, 44, 40, 36, 32))
NUTS = BOARDS[-1]  # a royal flush for all


def ranges_on(board: Board) -> Floats:
    weights = np.random.default_rng(sum(board)).random((2, NUM_HANDS)) ** 4
    weights[1, ::3] = 0
    return np.where(HOLDEM.live(board), weights, 0)


def encoded(board: Board, ranges: Floats, stack: float) -> Encoded:
    """One state, without the axis of states."""
    inputs = encode(board, ranges[None], np.array([stack]))
    return inputs._replace(rows=inputs.rows[0], public=inputs.public[0], deviation=inputs.deviation[0])


def column(inputs: Encoded, name: str) -> Floats:
    return inputs.rows[..., ROW_NAMES.index(name)].astype(np.float64)


@pytest.mark.parametrize("board", BOARDS)
def test_equities_and_masses_are_those_of_all_pairs_of_hands(board: Board) -> None:
    ranges, live = ranges_on(board), HOLDEM.live(board)
    inputs, possible = encoded(board, ranges, 3.0), HOLDEM.possible(board)
    equity = showdown_equity(spot_rules(1), board).astype(np.float64) * possible
    for player in range(2):
        opponent = ranges[1 - player]
        meets = possible @ opponent
        wanted = (equity @ opponent)[live] / meets[live]
        own = column(inputs, "equity")[player][inputs.classes[live]] + inputs.deviation[player, live]
        np.testing.assert_allclose(own, wanted, atol=1e-5)
        joint = ranges[player] * meets
        mass = np.bincount(inputs.classes[live], joint[live] / joint.sum(), CLASSES)
        np.testing.assert_allclose(column(inputs, "own_mass")[player] / CLASSES, mass, atol=1e-6)
        np.testing.assert_allclose(column(inputs, "opp_mass")[1 - player] / CLASSES, mass, atol=1e-6)
        np.testing.assert_allclose(joint_weights(board, ranges[None])[0, player], joint / joint.sum(), atol=1e-12)
        within = np.bincount(inputs.classes[live], (joint * inputs.deviation[player])[live], CLASSES)
        np.testing.assert_allclose(within / joint.sum(), 0, atol=1e-7)


@pytest.mark.parametrize("board", BOARDS)
def test_classes_rise_with_strength_and_equal_hands_share_one(board: Board) -> None:
    live, classes, strength = HOLDEM.live(board), hand_classes(board), strengths(board)
    assert (classes[~live] == CLASSES).all()
    order = np.argsort(strength[live], kind="stable")
    assert (np.diff(classes[live][order].astype(int)) >= 0).all()
    equal = np.diff(strength[live][order]) == 0
    assert (np.diff(classes[live][order].astype(int))[equal] == 0).all()
    if board == NUTS:
        assert set(classes[live].tolist()) == {CLASSES // 2}
    else:
        assert len(np.unique(classes[live])) > CLASSES / 2


@pytest.mark.parametrize("board", BOARDS)
def test_names_of_suits_do_not_matter(board: Board) -> None:
    permutation = 9
    renamed = tuple(sorted(CARD_PERMUTATION[permutation, list(board)].tolist()))
    hands, ranges = HAND_PERMUTATION[permutation], ranges_on(board)
    moved = np.empty_like(ranges)
    moved[:, hands] = ranges
    one, other = encoded(board, ranges, 0.7), encoded(renamed, moved, 0.7)
    np.testing.assert_allclose(other.rows, one.rows, atol=1e-5)
    np.testing.assert_array_equal(other.public, one.public)
    np.testing.assert_array_equal(other.classes[hands], one.classes)
    np.testing.assert_allclose(other.deviation[:, hands], one.deviation, atol=1e-5)


def test_the_scale_of_ranges_does_not_matter() -> None:
    board, ranges = BOARDS[0], ranges_on(BOARDS[0])
    one, other = encoded(board, ranges, 5.0), encoded(board, 1e-3 * ranges, 5.0)
    np.testing.assert_allclose(one.rows, other.rows, atol=1e-6)
    np.testing.assert_allclose(one.deviation, other.deviation, atol=1e-6)
