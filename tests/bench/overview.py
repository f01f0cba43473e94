"""Draws docs/overview.png and pictures of experiments from files of docs/results: `python -m tests.bench.overview`."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from poker.experiments.off_tree_bet import experiment as off_tree_bet
from poker.report import Figure
from poker.report.charts import Curve, Labelled, curves, intervals, png
from poker.report.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart
    from PIL.Image import Image

DOCS = Path(__file__).parents[2] / "docs"
AGENTS = ("blueprint", "depth_limited")
FILES = "plans_blueprint", "plans_turns", "plans_turns_unknown"
"""Results of the bundle in the clone."""
ADVERSARIES = {"look_ahead": "the bet sizes that each knows", "look_ahead_unknown_sizes": "other sizes too"}

CLOCKS = {"iterations": "iterations", "cpu_seconds": "CPU seconds"}


def main() -> None:
    """One panel a menu of the adversary, one row an agent, in big blinds per hand."""
    won: dict[tuple[str, str], Estimate] = {}
    for name in FILES:
        result = _read(f"unknown_bets/{name}")
        for row in result["rows"]:
            if row["from"] == "turn":
                won[row["adversary"], row["agent"]] = _estimate(row["wins"], 1000)
    panels: dict[str, list[Labelled]] = {
        words: [(agent, won[adversary, agent]) for agent in AGENTS] for adversary, words in ADVERSARIES.items()
    }
    title = "What an adversary that looks ahead wins on turns and rivers"
    (DOCS / "overview.png").write_bytes(png(intervals(title, "big blinds per hand", panels)))
    for path, figure in experiments():
        (DOCS / "results" / path).write_bytes(png(figure))


def experiments() -> Iterator[tuple[str, "Chart | Image"]]:
    """Pictures as the reports of their experiments draw them, by path below docs/results."""
    answers = _read("figure_2/pot_fraction")
    values = sorted({one["values"] for one in answers["answers"] if one["values"]})
    bet = off_tree_bet.sections("Exploitability of answers to an off-tree bet of 0.75 pots", answers, values)
    [figure] = [section for section in bet if isinstance(section, Figure)]
    yield "figure_2/picture.png", figure.draw()
    lines = [
        Curve(
            name,
            {words: np.array([point[clock] for point in points], float) for clock, words in CLOCKS.items()},
            [_estimate(point, 1) for point in points],
        )
        for name, points in _read("smooth_uct/limit_2p")["curves"].items()
    ]
    yield "smooth_uct/limit_2p.png", curves("Two-player limit hold'em", "mbb per hand", lines, logarithmic=False)


def _read(name: str) -> dict[str, Any]:
    return dict(json.loads((DOCS / "results" / f"{name}.json").read_text()))


def _estimate(recorded: dict[str, Any], unit: float) -> Estimate:
    mean, (low, high) = recorded["mean"] / unit, (end / unit for end in recorded["interval_95"])
    return Estimate(mean, (high - low) / 2, float("nan"), 2, (low + high) / 2 - mean)


if __name__ == "__main__":
    main()
