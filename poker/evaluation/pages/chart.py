"""The picture of a match: intervals by table, and how the means settled."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from poker.evaluation.statistics import estimate, running

_CURVE_POINTS = 300
_MAX_CURVES = 10


def chart(title: str, tables: Sequence[tuple[tuple[str, ...], NDArray[np.float64]]]) -> bytes:
    """A PNG; each table is the names of its entries and their values [units, P] in mbb per hand.

    Heads-up tables show their first agent, since the second has the same result with the other sign.
    """
    series: list[tuple[str, NDArray[np.float64]]] = []
    for labels, values in tables:
        shown = 1 if len(labels) == 2 else len(labels)
        opponents = f" vs {labels[1]}" if len(labels) == 2 else ""
        series += [(labels[entry] + opponents, values[:, entry]) for entry in range(shown)]
    figure = Figure(figsize=(12, max(3.5, 0.4 * len(series) + 1.5)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    bars, curves = figure.subplots(1, 2)
    for row, (_, values) in enumerate(reversed(series)):
        found = estimate(values)
        finite = np.isfinite(found.half_width)
        bars.errorbar(found.mean, row, xerr=found.half_width if finite else None, fmt="o", capsize=4, color="C0")
        bars.annotate(f"{found:,}", (found.mean, row), xytext=(0, 7), textcoords="offset points", ha="center")
    bars.set_yticks(range(len(series)), [name for name, _ in reversed(series)])
    bars.set_ylim(-0.6, len(series) - 0.2)
    bars.margins(x=0.2)
    bars.axvline(0, color="grey", linewidth=0.8)
    bars.set_xlabel("mbb per hand, 95% intervals")
    for i, (name, values) in enumerate(series[:_MAX_CURVES]):
        counts, means, widths = running(values, _CURVE_POINTS)
        keep = counts >= 10
        curves.plot(counts[keep], means[keep], label=name, color=f"C{i}")
        low, high = (means - widths)[keep], (means + widths)[keep]
        curves.fill_between(counts[keep], low, high, alpha=0.15, color=f"C{i}", linewidth=0)
    curves.axhline(0, color="grey", linewidth=0.8)
    curves.set_xlabel("deals or sessions")
    curves.set_ylabel("mean so far")
    curves.legend(fontsize="small")
    return _png(figure)


def convergence_chart(title: str, course: Sequence[tuple[int, float]]) -> bytes:
    """A PNG of nash_conv against iterations, both logarithmic."""
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.subplots()
    axes.loglog([iterations for iterations, _ in course], [value for _, value in course], marker=".")
    axes.set_title(title)
    axes.set_xlabel("iterations")
    axes.set_ylabel("nash_conv, chips per hand")
    axes.grid(visible=True, which="both", alpha=0.3)
    return _png(figure)


@dataclass(frozen=True, eq=False)
class Line:
    """A curve: means and half-widths of 95% intervals [n] (inf where unknown) at iterations and CPU seconds [n]."""

    name: str
    iterations: NDArray[np.float64]
    cpu_seconds: NDArray[np.float64]
    mean: NDArray[np.float64]
    half_width: NDArray[np.float64]


def curves_chart(title: str, value: str, lines: Sequence[Line], *, logarithmic: bool) -> bytes:
    """A PNG of learning curves with their intervals, against iterations and against CPU seconds."""
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    for axes, clock in zip(figure.subplots(1, 2), ("iterations", "cpu_seconds"), strict=True):
        for i, line in enumerate(lines):
            x = getattr(line, clock)
            width = np.where(np.isfinite(line.half_width), line.half_width, 0.0)
            low, high = line.mean - width, line.mean + width
            if logarithmic:
                low = np.maximum(low, line.mean / 10)
            axes.plot(x, line.mean, label=line.name, color=f"C{i}", marker=".", markersize=3)
            axes.fill_between(x, low, high, alpha=0.2, color=f"C{i}", linewidth=0)
        axes.set_xscale("log")
        axes.set_yscale("log" if logarithmic else "linear")
        axes.set_xlabel(clock.replace("_", " ").replace("cpu", "CPU"))
        axes.set_ylabel(value)
        axes.grid(visible=True, which="both", alpha=0.3)
    figure.axes[0].legend(fontsize="small")
    return _png(figure)


def _png(figure: Figure) -> bytes:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": ""})
    return buffer.getvalue()
