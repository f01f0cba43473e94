"""Results that are single figures with intervals, in any unit: as text, in a record and as a picture."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from poker.evaluation.pages.chart import png
from poker.evaluation.statistics import Estimate

Row = tuple[str, Estimate]
"""Name and result."""


def stated(figure: float) -> Estimate:
    """A figure without an interval, as exact ones are."""
    return Estimate(figure, math.inf, math.inf, 1)


def interval_record(found: Estimate, digits: int | None = None) -> dict[str, Any]:
    """`half_width_95` and `interval_95`, [lower end, upper end], for a record, rounded to `digits` behind the point if
    given; None where nothing is known of them."""
    if not math.isfinite(found.half_width):
        return {"half_width_95": None, "interval_95": None}
    values = (found.half_width, found.low, found.high)
    half_width, low, high = values if digits is None else (round(value, digits) for value in values)
    return {"half_width_95": half_width, "interval_95": [low, high]}


def interval_text(found: Estimate) -> str:
    """Mean and interval to two figures of the interval's half-width, the latter by its ends where the mean is not about
    in its middle; without an interval four figures of the mean."""
    if not found.n:
        return "-"
    if not 0 < found.half_width < math.inf:
        return f"{found.mean:,.4g}" + (" ± 0" if found.half_width == 0 else "")
    digits = max(0, 1 - math.floor(math.log10(found.half_width)))
    mean, width = (f"{value:,.{digits}f}" for value in (found.mean, found.half_width))
    if abs(found.shift) <= 0.05 * found.half_width:
        return f"{mean} ± {width}"
    return f"{mean} [{found.low:,.{digits}f}, {found.high:,.{digits}f}]"


def intervals_chart(title: str, unit: str, panels: Mapping[str, Sequence[Row]]) -> bytes:
    """A PNG of panels side by side, by name; each has its own rows, from the top in their order."""
    tallest = max(len(rows) for rows in panels.values())
    figure = Figure(figsize=(max(7.0, 4.6 * len(panels)), max(2.5, 0.4 * tallest + 1.5)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    for (name, rows), axes in zip(panels.items(), np.atleast_1d(figure.subplots(1, len(panels))), strict=True):
        for height, (_, found) in enumerate(reversed(rows)):
            sides = [[found.mean - found.low], [found.high - found.mean]] if math.isfinite(found.half_width) else None
            axes.errorbar(found.mean, height, xerr=sides, fmt="o", markersize=5, capsize=3, color="C0")
            axes.annotate(
                interval_text(found), (found.mean, height), xytext=(0, 5), textcoords="offset points", ha="center",
                fontsize=8,
            )  # fmt: skip
        axes.set_yticks(range(len(rows)), [row for row, _ in reversed(rows)])
        axes.set_ylim(-0.6, len(rows) - 0.2)
        axes.margins(x=0.25)
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel(f"{unit}, 95% intervals")
    return png(figure)
