import numpy as np
import pytest

from poker.abstraction.features import hand_features
from poker.game.cards import HOLDEM, NUM_HANDS, CardError, hand_index, parse_cards
from poker.opponents.limit.strength import board_strength
from tests.abstraction.test_hand_features import brute_force

BOARDS = ["Kh9h4c", "Kh9h4c2d", "Kh9h4c2d9s"]


@pytest.mark.parametrize("text", BOARDS)
def test_weighted_measures_equal_brute_force(text: str) -> None:
    board = parse_cards(text)
    strength = board_strength(board)
    rng = np.random.default_rng(4)
    weights = (rng.random(NUM_HANDS) * (rng.random(NUM_HANDS) < 0.05)).astype(np.float32)
    for hand in map(parse_cards, ("QhJh", "Td8d")):
        one = strength.against(hand_index(*hand), weights[None])
        expected = brute_force(board, hand, weights)
        np.testing.assert_allclose([one.hs, one.ppot, one.npot], list(expected.values()), atol=2e-5)


@pytest.mark.parametrize("text", BOARDS)
def test_equal_weights_give_the_unweighted_features(text: str) -> None:
    board = parse_cards(text)
    features = hand_features(board)
    every = board_strength(board).uniform(1)
    for name in ("hs", "ppot", "npot"):
        np.testing.assert_allclose(getattr(every, name), getattr(features, name), atol=5e-5, err_msg=name)


def test_several_opponents_combine_as_defined() -> None:
    """Three opponents with the same table, then two with different ones."""
    board = parse_cards("Kh9h4c")
    strength = board_strength(board)
    hand = hand_index(*parse_cards("QhJh"))
    ones = np.ones((1, NUM_HANDS), dtype=np.float32)
    one, three = strength.against(hand, ones), strength.against(hand, np.repeat(ones, 3, axis=0))
    h, p, m = float(one.hs), float(one.ppot), float(one.npot)
    np.testing.assert_allclose([three.hs, three.ppot, three.npot], [h**3, p, 1 - (1 - m) ** 3])
    assert three.ehs == pytest.approx(h**3 + (1 - h**3) * p)
    assert three.win == pytest.approx(h**3 * (1 - m) ** 3 + (1 - h**3) * p)
    assert strength.uniform(3).ehs[hand] == pytest.approx(float(three.ehs), abs=2e-5)
    strong = (strength.uniform(1).hs[None] > 0.9).astype(np.float32)
    other = strength.against(hand, strong)
    both = strength.against(hand, np.concatenate([ones, strong]))
    weights = np.array([1 - h, 1 - float(other.hs)])
    assert both.hs == pytest.approx(h * float(other.hs))
    assert both.ppot == pytest.approx(weights @ [p, float(other.ppot)] / weights.sum())


def test_quantiles_follow_ehs_and_leave_out_dead_hands() -> None:
    board = parse_cards("Kh9h4c2d")
    quantile, ehs, live = board_strength(board).quantile(4), board_strength(board).uniform(4).ehs, HOLDEM.live(board)
    assert (quantile[~live] == -1).all()
    assert quantile[live].mean() == pytest.approx(0.5, abs=1e-6)
    assert (np.diff(ehs[live][np.argsort(quantile[live], kind="stable")]) >= -1e-6).all()


def test_hand_on_the_board_is_refused() -> None:
    with pytest.raises(CardError, match="shares a card"):
        board_strength(parse_cards("Kh9h4c")).against(
            hand_index(*parse_cards("KhKd")), np.ones((1, NUM_HANDS), np.float32)
        )
