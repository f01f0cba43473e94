"""Shortcuts for ranges of few hands and of all hands alike agree with the matrix of all pairs."""

import numpy as np
import pytest

from poker.abstraction.equities import margins, showdown_totals
from poker.game.cards import HOLDEM, hand_index, parse_cards
from tests.games import HEADS_UP as RULES

BOARDS = ["", "AhKd2c", "7s7d7h", "AhKd2c2s", "AhKd2c2s9h"]


@pytest.mark.parametrize("text", BOARDS)
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
    for held in few:
        [back] = showdown_totals(RULES, board, many[None], held)
        assert back == pytest.approx(-(held @ matrix @ many), abs=1e-4)
    [duel] = showdown_totals(RULES, board, few[:1], few[1])
    assert duel == pytest.approx(few[0] @ matrix @ few[1], abs=1e-6)


def test_few_hands_share_cards() -> None:
    """Hands that share a card never meet."""
    board = parse_cards("KhKd2c")
    aces, other = np.zeros((2, 1326))
    aces[hand_index(*parse_cards("AsAd"))] = other[hand_index(*parse_cards("AsQd"))] = 1.0
    assert showdown_totals(RULES, board, aces[None], other) == [0.0]


@pytest.mark.parametrize("text", BOARDS)
def test_all_hands_alike_against_many(text: str) -> None:
    board = parse_cards(text)
    rng = np.random.default_rng(2)
    live = HOLDEM.live(board).astype(np.float64)
    many, alike = rng.random((3, 1326)) * live, 0.3 * live
    expected = many @ margins(RULES, board).astype(np.float64) @ alike
    assert np.ptp(expected) > 0.1
    np.testing.assert_allclose(showdown_totals(RULES, board, many, alike), expected, rtol=1e-4, atol=1e-3)
    [back] = showdown_totals(RULES, board, alike[None], many[0])
    assert back == pytest.approx(-expected[0], rel=1e-4, abs=1e-3)
