"""The experiment's record as tables and the figure of the paper."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from poker.report import Figure, Section, Table
from poker.report.charts import Curve, curves
from poker.report.estimates import exact

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart

CLOCK = "values at each leaf"


def sections(title: str, record: Mapping[str, Any], values: Sequence[int]) -> list[Section]:
    """Figure, answers, and what the steps took."""
    columns = ("answer", "values", "exploitability", "of it by the bet", "hands that bet")
    rows = [
        (one["answer"], one["values"], one["exploitability"], one["gain_of_bet"], one["hands_that_bet"])
        for one in record["answers"]
    ]
    note = (
        f"mbb per hand, exact: P1's best response less the game's value of {record['game_value_mbb']:.3f};"
        f" {record['without_the_bet_mbb']:.3f} where P1 does not have the bet"
    )
    steps = [(step["step"], step["seconds"], step["cpu_seconds"]) for step in record["steps"]]
    told = f"{record['seconds']:.0f} s in all, {record['peak_memory_mib'] / 1024:.1f} GiB at most"
    return [
        Table(columns, rows, title, note),
        Figure("results", partial(_figure, title, record["answers"], list(values))),
        Table(("step", "seconds", "CPU seconds"), steps, "What it took", told),
    ]


def _figure(title: str, answers: Sequence[Mapping[str, Any]], values: list[int]) -> "Chart":
    """Exploitability over the number of values, with a line for each answer that has no such number."""
    clock = {CLOCK: np.array(values, np.float64)}
    lines: list[Curve] = []
    for name in dict.fromkeys(one["answer"] for one in answers):
        found = [one for one in answers if one["answer"] == name]
        if len(found) > 1:
            lines.append(_curve(name, found))
        else:
            label = name if found[0]["values"] is None else f"{name}, {found[0]['values']} values"
            lines.append(Curve(label, clock, [exact(found[0]["exploitability"])] * len(values)))
    figure = curves(title, "mbb per hand", lines, logarithmic=True)
    legend = figure.axes[0].get_legend()
    assert legend is not None
    legend.remove()
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    figure.axes[0].set_xscale("log", base=2)
    figure.axes[0].set_xticks(values, [str(value) for value in values])
    return figure


def _curve(name: str, found: Sequence[Mapping[str, Any]]) -> Curve:
    at = {CLOCK: np.array([one["values"] for one in found], np.float64)}
    return Curve(name, at, [exact(one["exploitability"]) for one in found])
