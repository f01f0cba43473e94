from statistics import NormalDist

import numpy as np
import pytest

from poker.game.cards import HOLDEM, NUM_HANDS, hand_index, parse_cards
from poker.kernels.opponents.weights import reweight
from poker.opponents.limit.strength import board_strength
from poker.opponents.limit.tracker import Calibration
from poker.opponents.responses import BINS, all_responses, likelihood, responses
from tests.poki import same_habits

HABITS = np.array([0.3, 0.5, 0.2])


@pytest.mark.parametrize("street", [1, 2, 3])
@pytest.mark.parametrize("bets_to_call", [1, 2])
def test_hands_of_the_usual_strength_fold_and_raise_as_often_as_the_habits(street: int, bets_to_call: int) -> None:
    z = np.random.default_rng(1).normal((0, 0.1, 0.35, 0.4)[street], 0.9, 200_000)
    bins = np.array([int(NormalDist().cdf(strength) * BINS) for strength in z]).clip(0, BINS - 1)
    np.testing.assert_allclose(responses(HABITS, street, bets_to_call)[bins].mean(axis=0), HABITS, atol=3e-3)


def test_better_hands_raise_more_and_fold_less() -> None:
    by_strength = responses(HABITS, 2, 1)
    np.testing.assert_allclose(by_strength.sum(axis=1), 1, atol=1e-6)
    assert (np.diff(by_strength[:, 2]) >= 0).all()
    assert (np.diff(by_strength[:, 0]) <= 0).all()
    assert by_strength[-1, 0] < 0.01
    assert by_strength[0, 2] < 0.01


@pytest.mark.parametrize("street", [1, 2, 3])
def test_nobody_folds_to_no_bet_and_hands_raise_as_often_as_the_habits(street: int) -> None:
    table = all_responses(same_habits(2, 0.3, 0.5, 0.2))
    assert (table[:, 3::3, :, 0] == 0).all()
    assert (table[:, 4::3, 0, 0] > 0.5).all()
    z = np.random.default_rng(1).normal((0, 0.1, 0.35, 0.4)[street], 0.9, 200_000)
    bins = np.array([int(NormalDist().cdf(strength) * BINS) for strength in z]).clip(0, BINS - 1)
    np.testing.assert_allclose(table[0, 3 * street][bins].mean(axis=0), [0, 0.8, 0.2], atol=3e-3)


def test_responses_of_all_players_equal_single_ones() -> None:
    habits = np.random.default_rng(0).dirichlet((1, 1, 1), (3, 12))
    table = all_responses(habits)
    assert (table[:, :3] == 0).all()
    for player, context in ((0, 3), (1, 7), (2, 11)):
        np.testing.assert_array_equal(table[player, context], responses(habits[player, context], *divmod(context, 3)))


def test_an_action_is_as_likely_as_the_response_of_the_hand() -> None:
    board = parse_cards("Kh9h4c")
    quantile = board_strength(board).quantile(1)
    given = np.stack([likelihood(1, 1, quantile, HABITS, action) for action in range(3)])
    live = HOLDEM.live(board)
    np.testing.assert_allclose(given[:, live].sum(axis=0), 1, atol=1e-6)
    assert (given[:, ~live] == 0).all()
    best = quantile.argmax()
    np.testing.assert_array_equal(given[:, best], responses(HABITS, 1, 1)[-1])


def test_habits_of_a_line_follow_the_range_that_took_it() -> None:
    """A strong range that bets as often as a usual one has a higher limit; its mean is what is predicted."""
    quantile = ((np.arange(1326) + 0.5) / 1326).astype(np.float32)
    quantile[::7] = -1
    table = np.where(quantile > 0.6, 1.0, 0.05).astype(np.float32)
    usual, own = (np.stack([likelihood(2, 1, quantile, HABITS, a, of) for a in range(3)]) for of in (None, table))
    live = quantile >= 0
    np.testing.assert_allclose(own[:, live] @ table[live] / table[live].sum(), HABITS, atol=1e-3)
    np.testing.assert_allclose(own[:, live].sum(axis=0), 1, atol=1e-5)
    assert own[2, live].sum() < usual[2, live].sum()
    assert not own[:, ~live].any()


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
