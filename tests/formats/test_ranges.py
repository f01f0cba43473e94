"""Range text: counts, errors with their position, and round trips."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poker.formats.ranges import RangeError, parse_range, range_text
from poker.game.cards import HAND_CARDS, PREFLOP_CLASS, hand_text

GOLDEN = Path(__file__).parents[1] / "golden"
COUNTS: dict[str, int] = json.loads((GOLDEN / "ranges.json").read_text())
"""Hands of a range by its text."""


@pytest.mark.parametrize(("text", "combos"), COUNTS.items())
def test_numbers_of_hands(text: str, combos: int) -> None:
    weights = parse_range(text)
    assert (weights == 1).sum() == (weights > 0).sum() == combos


def test_hands_are_the_right_ones() -> None:
    suited = parse_range("K9s+")
    texts = {hand_text(int(h)) for h in np.flatnonzero(suited)}
    assert texts == {f"K{suit}{low}{suit}" for suit in "cdhs" for low in "9TJQ"}
    assert parse_range("AhKd")[np.flatnonzero(parse_range("KdAh"))] == 1


def test_spaces_and_weights_before_hands() -> None:
    def same(text: str, other: str) -> None:
        np.testing.assert_array_equal(parse_range(text), parse_range(other), err_msg=text)

    same("K9s: .67, 98s - 65s: 0.25", "K9s:0.67,98s:0.25,87s:0.25,76s:0.25,65s:0.25")
    same("50%(AA,KK)", "AA:0.5,KK:0.5")
    same("QQ .5(AA) 25% ( KK; AKs+ ), 22 : 10%", "QQ,AA:0.5,KK:0.25,AKs:0.25,22:0.1")
    same("AA:0, 75 66, 50%(KK)", "75,66,KK:.5")
    same("98s+", "98s,T9s,JTs,QJs,KQs,AKs")
    same("8h8s+", "8h8s,9h9s,ThTs,JhJs,QhQs,KhKs,AhAs")


def test_weights_and_the_last_item_counts() -> None:
    weights = parse_range("AA:0.5,AhAd:0.25 KK")
    assert sorted(weights[PREFLOP_CLASS == 12 * 14].tolist()) == [0.25, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert weights[PREFLOP_CLASS == 11 * 14].tolist() == [1.0] * 6


def test_exports_of_other_programs() -> None:
    weights = parse_range("[25]AA,KK[/25],QQ")
    assert weights.sum() == 0.25 * 12 + 6
    numbers = np.round(np.random.default_rng(3).random(1326), 3).astype(np.float32)
    np.testing.assert_array_equal(parse_range(" ".join(map(str, numbers.tolist()))), numbers)


def test_no_text_takes_long_to_be_refused() -> None:
    start = time.process_time()
    for text in ("[", "(", " ", "- ", "AA :", ":" + " " * 100):
        with pytest.raises(RangeError):
            parse_range((text * 100_000)[:130_000])
    assert time.process_time() - start < 10  # the square of the length would take minutes


def test_printing_is_compact() -> None:
    text = "66+,A8s+,A5s-A4s,KQo,AhKd:0.5"
    assert range_text(parse_range(text)) == "66+,A8s+,A5s-A4s,KQo,AdKh:0,AhKd:0.5".replace("AdKh:0,", "")
    assert range_text(parse_range("random")).startswith("22+,A2s+")


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(st.integers(0, 1325), st.floats(0, 1, width=32), max_size=40),
    st.sampled_from(["", "66+", "random"]),
)
def test_round_trip(changes: dict[int, float], start: str) -> None:
    weights = parse_range(start) if start else np.zeros(1326, np.float32)
    for hand, weight in changes.items():
        weights[hand] = weight
    if weights.any():
        np.testing.assert_array_equal(parse_range(range_text(weights)), weights)
    assert HAND_CARDS.shape == (1326, 2)
