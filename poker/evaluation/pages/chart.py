"""The picture of a match: intervals by table, and how the means settled."""

import io
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from poker.evaluation.statistics import Estimate, estimate, running

_CURVE_POINTS = 300
_MAX_CURVES = 10


@dataclass(frozen=True, eq=False)
class Entries:
    """A table of a match: names of its entries, chips [units, P] in mbb per hand, and the same by AIVAT, if known."""

    labels: tuple[str, ...]
    chips: NDArray[np.float64]
    aivat: NDArray[np.float64] | None = None


def chart(title: str, tables: Sequence[Entries]) -> bytes:
    """A PNG of the intervals, chips in grey behind AIVAT where that is known, and of how the better of them settled.

    Heads-up tables show their first agent, since the second has the same result with the other sign.
    """
    series: list[tuple[str, NDArray[np.float64], NDArray[np.float64] | None]] = []
    for table in tables:
        shown = 1 if len(table.labels) == 2 else len(table.labels)
        told = len(table.labels) != 2 or table.labels[0].endswith(f"@{table.labels[1]}")
        opponents = "" if told else f" vs {table.labels[1]}"
        for entry in range(shown):
            aivat = None if table.aivat is None else table.aivat[:, entry]
            series.append((table.labels[entry] + opponents, table.chips[:, entry], aivat))
    figure = Figure(figsize=(12, max(3.5, 0.45 * len(series) + 1.5)), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    bars, curves = figure.subplots(1, 2)
    for row, (_, chips, aivat) in enumerate(reversed(series)):
        if aivat is not None:
            _interval(bars, row - 0.18, estimate(chips), "0.65")
        found = estimate(chips if aivat is None else aivat)
        _interval(bars, row, found, "C0")
        bars.annotate(f"{found:,}", (found.mean, row), xytext=(0, 5), textcoords="offset points", ha="center")
    bars.set_yticks(range(len(series)), [name for name, _, _ in reversed(series)])
    bars.set_ylim(-0.6, len(series) - 0.2)
    bars.margins(x=0.2)
    bars.axvline(0, color="grey", linewidth=0.8)
    reduced = any(aivat is not None for _, _, aivat in series)
    bars.set_xlabel("mbb per hand, 95% intervals" + (": AIVAT blue, chips grey" if reduced else ""))
    for i, (name, chips, aivat) in enumerate(series[:_MAX_CURVES]):
        counts, means, lows, highs = running(chips if aivat is None else aivat, _CURVE_POINTS)
        keep = counts >= 10
        curves.plot(counts[keep], means[keep], label=name, color=f"C{i}")
        curves.fill_between(counts[keep], lows[keep], highs[keep], alpha=0.15, color=f"C{i}", linewidth=0)
    curves.axhline(0, color="grey", linewidth=0.8)
    curves.set_xlabel("deals or sessions")
    curves.set_ylabel("mean so far" + (", AIVAT where known" if reduced else ""))
    curves.legend(fontsize="small")
    return png(figure)


def _interval(axes: Axes, row: float, found: Estimate, color: str) -> None:
    sides = [[found.mean - found.low], [found.high - found.mean]] if np.isfinite(found.half_width) else None
    axes.errorbar(found.mean, row, xerr=sides, fmt="o", markersize=5, capsize=3, color=color)


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
    return png(figure)


@dataclass(frozen=True, eq=False)
class Line:
    """A curve: what was found [n] at iterations and CPU seconds [n]."""

    name: str
    iterations: NDArray[np.float64]
    cpu_seconds: NDArray[np.float64]
    found: tuple[Estimate, ...]

    @property
    def mean(self) -> NDArray[np.float64]:
        return np.array([each.mean for each in self.found])

    @property
    def interval(self) -> NDArray[np.float64]:
        """[2, n] lower and upper ends; the mean where no interval is known."""
        ends = [(each.low, each.high) if np.isfinite(each.half_width) else (each.mean,) * 2 for each in self.found]
        return np.array(ends).reshape(-1, 2).T


def curves_chart(title: str, value: str, lines: Sequence[Line], *, logarithmic: bool) -> bytes:
    """A PNG of learning curves with their intervals, against iterations and against CPU seconds."""
    figure = Figure(figsize=(12, 4.8), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    for axes, clock in zip(figure.subplots(1, 2), ("iterations", "cpu_seconds"), strict=True):
        for i, line in enumerate(lines):
            x = getattr(line, clock)
            low, high = line.interval
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
    return png(figure)


def png(figure: Figure) -> bytes:
    """The picture as the bytes of a file, the same every time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": ""})
    return buffer.getvalue()
