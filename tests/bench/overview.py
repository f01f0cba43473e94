"""Draws docs/overview.png from files of docs/results: `python -m tests.bench.overview`."""

import json
from pathlib import Path
from typing import Any

from poker.report.charts import Labelled, intervals, png
from poker.report.estimates import Estimate

DOCS = Path(__file__).parents[2] / "docs"
AGENTS = ("blueprint", "depth_limited")
FILES = "plans_blueprint", "plans_turns", "plans_turns_unknown"
"""Results of the bundle in the clone."""
ADVERSARIES = {"look_ahead": "the bet sizes that each knows", "look_ahead_unknown_sizes": "other sizes too"}


def main() -> None:
    """One panel a menu of the adversary, one row an agent, in big blinds per hand."""
    won: dict[tuple[str, str], Estimate] = {}
    for name in FILES:
        result = json.loads((DOCS / "results" / "unknown_bets" / f"{name}.json").read_text())
        for row in result["rows"]:
            if row["from"] == "turn":
                won[row["adversary"], row["agent"]] = _big_blinds(row["wins"], result["deals"])
    panels: dict[str, list[Labelled]] = {
        words: [(agent, won[adversary, agent]) for agent in AGENTS] for adversary, words in ADVERSARIES.items()
    }
    title = "What an adversary that looks ahead wins on turns and rivers"
    (DOCS / "overview.png").write_bytes(png(intervals(title, "big blinds per hand", panels)))


def _big_blinds(recorded: dict[str, Any], deals: int) -> Estimate:
    mean, (low, high) = recorded["mean"] / 1000, (end / 1000 for end in recorded["interval_95"])
    return Estimate(mean, (high - low) / 2, float("nan"), deals, (low + high) / 2 - mean)


if __name__ == "__main__":
    main()
