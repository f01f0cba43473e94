"""Charts and grids of hand classes: what they draw, and where."""

import numpy as np
import pytest

from poker.game.cards import NUM_HANDS, PREFLOP_CLASS, hand_index, parse_cards
from poker.report.charts import Curve, Series, curves, intervals, intervals_and_means, png
from poker.report.estimates import Estimate, estimate, exact
from poker.report.grids import class_shares, strategy_grids


def test_panels_grow_with_their_content() -> None:
    rows = [(f"agent {i}", Estimate(float(i), 0.5, 1.0, 9)) for i in range(12)]
    small = intervals("a title", "mbb per hand", {"agents": [*rows[:1], ("exact", exact(3.0))]})
    large = intervals("a title", "mbb per hand", {"agents": rows, "others": rows[:2]})
    assert all(b > a for a, b in zip(small.get_size_inches(), large.get_size_inches(), strict=True))
    texts = [text.get_text() for text in large.axes[1].texts]
    assert texts == ["1.00 ± 0.50", "0.00 ± 0.50"]  # drawn from below
    assert png(small).startswith(b"\x89PNG")


def test_running_means_end_in_the_estimates() -> None:
    units = np.random.default_rng(1).normal(5, 2, 200)
    figure = intervals_and_means("a match", "mbb per hand", "deals", [Series("a vs b", units, units * 10)])
    bars, means = figure.axes
    assert [text.get_text() for text in bars.texts] == [str(estimate(units))]
    assert len(bars.containers) == 2  # one behind
    assert np.asarray(means.lines[0].get_ydata())[-1] == pytest.approx(units.mean())
    assert means.get_xlabel() == "deals"


def test_curves_are_drawn_against_each_clock() -> None:
    clocks = {"iterations": np.array([10.0, 100.0]), "CPU seconds": np.array([0.1, 1.0])}
    curve = Curve("cfr", clocks, [Estimate(2.0, 0.5, 1.0, 3), exact(1.0)])
    figure = curves("leduc", "nash_conv", [curve], logarithmic=True)
    assert [axes.get_xlabel() for axes in figure.axes] == ["iterations", "CPU seconds"]
    assert np.asarray(figure.axes[1].lines[0].get_xdata()).tolist() == [0.1, 1.0]
    assert curve.interval.tolist() == [[1.5, 1.0], [2.5, 1.0]]


def test_many_names_and_a_long_title_stay_inside_the_picture() -> None:
    points = {"values at each leaf": np.array([1.0, 2.0])}
    lines = [Curve(f"averaged and biased, translation, {i} values", points, [exact(1.0)] * 2) for i in range(16)]
    figure = curves("Exploitability of answers to a bet " * 4, "mbb per hand", lines, logarithmic=True)
    figure.canvas.draw()
    for box in (figure.texts[0].get_window_extent(), figure.legends[0].get_window_extent()):
        assert 0 <= box.x0 < box.x1 <= figure.bbox.width
        assert 0 <= box.y0 < box.y1 <= figure.bbox.height


def test_a_lead_of_one_shows_beside_a_loss_of_a_hundred() -> None:
    lead = Curve("a vs b", {"iterations": np.array([10.0, 100.0])}, [exact(-160.0), exact(1.3)])
    [axes] = curves("", "mbb per hand", [lead], logarithmic=False).axes
    assert axes.get_yscale() == "symlog"


SUITED = int(PREFLOP_CLASS[hand_index(*parse_cards("AsKs"))])


def test_shares_of_a_class_are_weighted() -> None:
    weights, strategy = np.zeros(NUM_HANDS), np.zeros((NUM_HANDS, 2), dtype=np.float32)
    for cards, weight, share in (("AsKs", 3.0, 1.0), ("AdKd", 1.0, 0.0)):
        weights[hand_index(*parse_cards(cards))] = weight
        strategy[hand_index(*parse_cards(cards))] = (share, 1 - share)
    shares = class_shares(weights, strategy)
    assert shares[SUITED].tolist() == [0.75, 0.25]
    assert np.isnan(np.delete(shares, SUITED, axis=0)).all()


def test_classes_stand_where_they_belong() -> None:
    """Only AKs is possible: first row, second column (suited above the diagonal)."""
    weights = np.where(PREFLOP_CLASS == SUITED, 0.5, 0.0)
    strategy = np.full((NUM_HANDS, 2), 0.5, dtype=np.float32)
    image = strategy_grids("", "ab", weights, strategy)
    cells = np.asarray(image)[52:-26, 26:-26]
    for grid in range(2):
        corners = cells[2::34, 2 + grid * 468 :: 34][:13, :13]
        assert [tuple(cell) for cell in np.argwhere((corners != 230).any(axis=2))] == [(0, 1)]
    assert png(image).startswith(b"\x89PNG")
