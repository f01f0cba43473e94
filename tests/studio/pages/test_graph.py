"""The graph of results: its axes, and that the line ends where the sum does."""

import re

import pytest

from poker.studio.pages.graph import ticks, won_graph


@pytest.mark.parametrize(
    ("least", "most", "expected"),
    [
        (-402.0, 198.0, [-600, -400, -200, 0, 200]),
        (0.0, 0.0, [0]),
        (0.0, 2.0, [0, 0.5, 1, 1.5, 2]),
        (-0.3, 41.0, [-10, 0, 10, 20, 30, 40, 50]),
        (0.0, 1237.0, [0, 500, 1000, 1500]),
    ],
)
def test_ticks_are_round_and_reach_the_ends(least: float, most: float, expected: list[float]) -> None:
    assert ticks(least, most) == expected


@pytest.mark.parametrize("nets", [[3.0], [-1.5, 2.0, 100.0, -0.5], [0.01] * 2345])
def test_axes_tell_big_blinds_and_hands(nets: list[float]) -> None:
    svg = won_graph(nets)
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert {"bb won", "hands", "0"} <= set(texts)
    heights = {text: float(y) for y, text in re.findall(r'y="([\d.]+)" text-anchor="end">([-\d,.]+)</text>', svg)}
    [points] = re.findall(r'points="([^"]+)"', svg)
    first, last = (float(point.split(",")[1]) for point in (points.split()[0], points.split()[-1]))
    assert first == pytest.approx(heights["0"] - 4, abs=0.11)
    (low, at_low), (high, at_high) = (
        (float(text.replace(",", "")), y - 4) for text, y in list(heights.items())[:: len(heights) - 1]
    )
    assert last == pytest.approx(at_low + (sum(nets) - low) / (high - low) * (at_high - at_low), abs=0.2)
    assert len(points.split()) <= 600
