"""Ranges of few hands are compared with others hand by hand, which must say the same as all with all."""

import numpy as np
import pytest

from poker.abstraction.equities import margins, showdown_totals
from poker.cards import HOLDEM, hand_index, parse_cards
from tests.games import load_rules

RULES = load_rules("holdem_nolimit_2p")


@pytest.mark.parametrize("text", ["", "AhKd2c", "7s7d7h", "AhKd2c2s", "AhKd2c2s9h"])
def test_few_hands_against_many(text: str) -> None:
    board = parse_cards(text)
    rng = np.random.default_rng(1)
    many = rng.random(1326) * HOLDEM.live(board)
    few = np.zeros((3, 1326))
    for row, hands in enumerate((["AsAd"], ["AsAd", "3c4d", "2d2h"], ["AhQh"])):  # the last one holds the ace of hearts
        for hand in hands:
            few[row, hand_index(*parse_cards(hand))] = rng.random()
    matrix = margins(RULES, board).astype(np.float64)
    expected = few @ matrix @ many
    assert np.count_nonzero(expected) > 1
    np.testing.assert_allclose(showdown_totals(RULES, board, few, many), expected, atol=1e-4)
    for row in few:
        [back] = showdown_totals(RULES, board, many[None], row)
        assert back == pytest.approx(-(row @ matrix @ many), abs=1e-4)
    [duel] = showdown_totals(RULES, board, few[:1], few[1])
    assert duel == pytest.approx(few[0] @ matrix @ few[1], abs=1e-6)


def test_few_hands_share_cards() -> None:
    """They never meet."""
    board = parse_cards("KhKd2c")
    aces, other = np.zeros((2, 1326))
    aces[hand_index(*parse_cards("AsAd"))] = other[hand_index(*parse_cards("AsQd"))] = 1.0
    assert showdown_totals(RULES, board, aces[None], other) == [0.0]
