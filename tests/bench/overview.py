"""Draws docs/overview.png from docs/results/lbr_laptop.json: `python -m tests.bench.overview`."""

import json
from pathlib import Path
from typing import Any

from poker.report.charts import intervals, png
from poker.report.estimates import Estimate

DOCS = Path(__file__).parents[2] / "docs"
AGENTS = ("blueprint", "naive", "depth_limited_rollout", "depth_limited")
ADVERSARIES = {
    "lbr_fold_call": "fold or call",
    "lbr_flop_sizes": "11 bet sizes on the flop",
    "lbr_56_sizes": "56 bet sizes on every street",
}


def main() -> None:
    """One panel an adversary, one row an agent, in big blinds per hand."""
    tables = json.loads((DOCS / "results" / "lbr_laptop.json").read_text())["tables"]
    found = {table["players"][0]["agent"]: _big_blinds(table["players"][0]["aivat"]) for table in tables}
    panels = {
        words: [(agent, found[f"{adversary}@{agent}"]) for agent in AGENTS] for adversary, words in ADVERSARIES.items()
    }
    figure = intervals("What a local best response wins from each agent", "big blinds per hand", panels)
    (DOCS / "overview.png").write_bytes(png(figure))


def _big_blinds(recorded: dict[str, Any]) -> Estimate:
    low, high = (end / 1000 for end in recorded["interval_95"])
    mean = recorded["mean"] / 1000
    return Estimate(mean, (high - low) / 2, recorded["sd_of_unit"] / 1000, recorded["units"], (low + high) / 2 - mean)


if __name__ == "__main__":
    main()
