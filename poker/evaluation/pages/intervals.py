"""A picture of results that are single figures with intervals."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

Interval = tuple[str, float, float | None]
"""Name, mean, and half-width of the 95% interval (None or inf: exact, or not known)."""


def intervals_chart(title: str, unit: str, panels: Mapping[str, Sequence[Interval]]) -> bytes:
    """A PNG of panels side by side, by name; each has its own rows, from the top in their order."""
    tallest = max(len(rows) for rows in panels.values())
    figure = Figure(figsize=(max(7.0, 4.6 * len(panels)), max(2.5, 0.4 * tallest + 1.5)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    for (name, rows), axes in zip(panels.items(), np.atleast_1d(figure.subplots(1, len(panels))), strict=True):
        for height, (_, mean, half_width) in enumerate(reversed(rows)):
            known = half_width is not None and np.isfinite(half_width)
            axes.errorbar(
                mean, height, xerr=half_width if known else None, fmt="o", markersize=5, capsize=3, color="C0"
            )
            told = f"{mean:,.4g}" + (f" ± {half_width:,.2g}" if known else "")
            axes.annotate(told, (mean, height), xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)
        axes.set_yticks(range(len(rows)), [row for row, _, _ in reversed(rows)])
        axes.set_ylim(-0.6, len(rows) - 0.2)
        axes.margins(x=0.25)
        axes.axvline(0, color="grey", linewidth=0.8)
        axes.set_title(name, fontsize="medium")
        axes.set_xlabel(f"{unit}, 95% intervals")
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": ""})
    return buffer.getvalue()
