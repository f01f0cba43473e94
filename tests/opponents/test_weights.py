import numpy as np
import pytest

from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.kernels.opponents.weights import reweight
from poker.opponents.limit.strength import board_strength
from poker.opponents.limit.tracker import Calibration
from poker.opponents.responses import likelihood

FLOP = parse_cards("Kh9h4c")
PROBS = np.array([0.3, 0.5, 0.2])


def test_actions_of_all_hands_happen_as_predicted() -> None:
    """Before the flop, over all hands, classes are as likely as was predicted; better hands raise more."""
    quantile = board_strength(FLOP).quantile(2)
    given = np.stack([likelihood(0, 1, quantile, PROBS, action) for action in range(3)])
    live = HOLDEM.live(FLOP)
    np.testing.assert_allclose(given[:, live].sum(axis=0), 1, atol=1e-6)
    np.testing.assert_allclose(given[:, live].mean(axis=1), PROBS, atol=5e-3)
    assert (given[:, ~live] == 0).all()
    order = np.argsort(quantile[live])
    assert (np.diff(given[2, live][order]) >= 0).all()
    assert (np.diff(given[0, live][order]) <= 0).all()


def test_a_raise_means_strength_and_equal_hands_stay_equal() -> None:
    table = np.ones(NUM_HANDS, dtype=np.float32)
    table *= HOLDEM.live(FLOP)
    informed = likelihood(1, 1, board_strength(FLOP).quantile(2), PROBS, 2)
    reweight(table, informed, 0.1, 0.1 * PROBS[2])
    top, weak = hand_index(*parse_cards("KcKd")), hand_index(*parse_cards("7c2d"))
    assert informed[top] > 0.95
    assert informed[weak] < 0.001
    assert table[top] == 1
    assert table[weak] == pytest.approx(0.1 * 0.2 / (0.9 + 0.1 * 0.2), rel=0.05)
    assert table[hand_index(*parse_cards("KhKd"))] == 0
    assert table[hand_index(*parse_cards("AsKs"))] == table[hand_index(*parse_cards("AdKd"))]


def test_certain_predictions_never_empty_a_table() -> None:
    table = np.ones(NUM_HANDS, dtype=np.float32)
    quantile = board_strength(FLOP).quantile(1)
    for _ in range(30):
        reweight(table, likelihood(1, 1, quantile, np.array([0.001, 0.001, 0.998]), 1), 0.05, 0.05 * 0.001)
        reweight(table, likelihood(1, 1, quantile, np.array([0.001, 0.998, 0.001]), 2), 0.05, 0.05 * 0.001)
    assert table.max() == 1
    assert np.isfinite(table).all()


def test_showdowns_calibrate_the_noise_of_a_player() -> None:
    calibration = Calibration()
    unseen = calibration.noise("ann")
    for _ in range(200):
        calibration.shown("ann", informed=0.0, uninformed=0.3)
        calibration.shown("bob", informed=1.0, uninformed=0.3)
    assert calibration.noise("ann") > 0.8
    assert calibration.noise("bob") < 0.1
    assert calibration.noise("eve") == unseen
    calibration.forget()
    assert calibration.noise("ann") == unseen
