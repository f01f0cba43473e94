"""Draws docs/overview.png from files of docs/results: `python -m tests.bench.overview`."""

import json
from pathlib import Path
from typing import Any

from poker.report.charts import intervals, png
from poker.report.estimates import Estimate

DOCS = Path(__file__).parents[2] / "docs"
AGENTS = ("blueprint", "depth_limited")
FILES = "blueprint", "agent", "agent_56_sizes"
"""Results of the artifacts in the clone. The last has hands of the one before, estimated better."""
ADVERSARIES = {
    "lbr_fold_call": "fold or call",
    "lbr_flop_sizes": "11 bet sizes on the flop",
    "lbr_56_sizes": "56 bet sizes on every street",
}


def main() -> None:
    """One panel an adversary, one row an agent, in big blinds per hand."""
    results = [json.loads((DOCS / "results" / "unknown_bets" / f"{name}.json").read_text()) for name in FILES]
    adversaries = [lineup["players"][0] for result in results for lineup in result["lineups"]]
    won = {player["agent"]: _big_blinds(player["aivat"]) for player in adversaries}
    panels = {
        words: [(agent, won[f"{adversary}@{agent}"]) for agent in AGENTS] for adversary, words in ADVERSARIES.items()
    }
    figure = intervals("What a local best response wins from each agent", "big blinds per hand", panels)
    (DOCS / "overview.png").write_bytes(png(figure))


def _big_blinds(recorded: dict[str, Any]) -> Estimate:
    low, high = (end / 1000 for end in recorded["interval_95"])
    mean = recorded["mean"] / 1000
    return Estimate(mean, (high - low) / 2, recorded["sd_of_unit"] / 1000, recorded["units"], (low + high) / 2 - mean)


if __name__ == "__main__":
    main()
