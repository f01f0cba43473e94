"""An evaluation: the mean of what players sit down with."""

from pathlib import Path
from typing import Any

from poker.game.rules import Rules
from poker.report import Figure, Report, Table
from poker.report.charts import intervals
from poker.report.estimates import estimate


def run(*, game: Rules, out: str) -> dict[str, Any]:
    stack = estimate(game.stacks)
    return Report(
        "Stacks",
        [
            Table(("game", "chips"), [(game.name, stack)], "Mean stack"),
            Figure("results", lambda: intervals("Stacks", "chips", {"games": [(game.name, stack)]})),
        ],
        {"stack": stack.record(), "out": out},
        {"stack": stack},
    ).write(Path(out) / game.name)
