"""Range text: counts, errors with their position, and round trips."""

import json
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from poker.cards import HAND_CARDS, HOLDEM, PREFLOP_CLASS, hand_text, parse_cards
from poker.formats.ranges import RangeError, parse_range, range_text

SPOTS = json.loads((Path(__file__).parents[1] / "golden" / "spots.json").read_text())["spots"]


@pytest.mark.parametrize(
    ("text", "combos"),
    [
        ("random", 1326),
        ("AA", 6),
        ("AKs", 4),
        ("AKo", 12),
        ("AK", 16),
        ("KA", 16),
        ("AhKd", 1),
        ("66+", 54),
        ("QQ-22", 66),
        ("A8s+", 24),
        ("98s+", 4),
        ("A5s-A2s", 16),
        ("T9s-65s", 20),
        ("AJo+, KQs;22", 36 + 4 + 6),
    ],
)
def test_numbers_of_hands(text: str, combos: int) -> None:
    weights = parse_range(text)
    assert (weights == 1).sum() == (weights > 0).sum() == combos


def test_hands_are_the_right_ones() -> None:
    suited = parse_range("K9s+")
    texts = {hand_text(int(h)) for h in np.flatnonzero(suited)}
    assert texts == {f"K{suit}{low}{suit}" for suit in "cdhs" for low in "9TJQ"}
    assert parse_range("AhKd")[np.flatnonzero(parse_range("KdAh"))] == 1


@pytest.mark.parametrize("name", SPOTS)
def test_reference_spots_have_their_numbers_of_hands(name: str) -> None:
    config = SPOTS[name]["config"]
    live = HOLDEM.live(parse_cards(config["board"]))
    counts = [int((live & (parse_range(config[f"{seat}_range"]) > 0)).sum()) for seat in ("oop", "ip")]
    assert counts == SPOTS[name]["hands"]


def test_weights_and_the_last_item_counts() -> None:
    weights = parse_range("AA:0.5,AhAd:0.25 KK")
    assert sorted(weights[PREFLOP_CLASS == 12 * 14].tolist()) == [0.25, 0.5, 0.5, 0.5, 0.5, 0.5]
    assert weights[PREFLOP_CLASS == 11 * 14].tolist() == [1.0] * 6


def test_exports_of_other_programs() -> None:
    weights = parse_range("[25]AA,KK[/25],QQ")
    assert weights.sum() == 0.25 * 12 + 6
    numbers = np.round(np.random.default_rng(3).random(1326), 3).astype(np.float32)
    np.testing.assert_array_equal(parse_range(" ".join(map(str, numbers.tolist()))), numbers)


@pytest.mark.parametrize(
    ("text", "position", "what"),
    [
        ("", 0, "empty"),
        ("AA,KX", 4, "write hands"),
        ("AA, AhAh", 5, "different cards"),
        ("AA:2", 4, "a number from 0 to 1"),
        ("22,AA:half", 7, "a number from 0 to 1"),
        ("AAs", 1, "neither suited"),
        ("AKs-QJo", 1, "both ends"),
        ("66+,T9s-87o", 5, "both ends"),
        ("[150]AA[/150]", 2, "from 0 to 100"),
    ],
)
def test_errors_say_where(text: str, position: int, what: str) -> None:
    with pytest.raises(RangeError, match=what) as caught:
        parse_range(text)
    if position:
        assert f"position {position}," in str(caught.value)


def test_no_text_takes_long_to_be_refused() -> None:
    start = time.process_time()
    with pytest.raises(RangeError):
        parse_range("[" * 100_000)
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
