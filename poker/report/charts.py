"""Charts of intervals, running means and curves.

Each function returns a matplotlib figure. matplotlib is imported when the first figure is drawn.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poker.kernels.types import Floats
from poker.report.estimates import ERROR, Estimate, estimate, settling

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from PIL.Image import Image

Labelled = tuple[str, Estimate]
"""Name and result."""

_RUNNING_POINTS = 100
_MAX_RUNNING = 10
_MAX_INSIDE = 6
"""Largest number of curves whose legend is inside the axes."""
_NAMED_ROWS = 60


@dataclass(frozen=True, eq=False)
class Series:
    """Results of independent units by one or two measures.

    Attributes:
        units: [n] results by the better measure.
        behind: [n] results by the other measure, drawn behind in grey.
        error: probability that an interval misses the true mean.
    """

    name: str
    units: Floats
    behind: Floats | None = None
    error: float = ERROR


@dataclass(frozen=True, eq=False)
class Curve:
    """Results along several clocks, such as time and iterations.

    Attributes:
        clocks: [n] readings of each clock, by name.
        results: n results.
    """

    name: str
    clocks: Mapping[str, Floats]
    results: Sequence[Estimate]

    @property
    def mean(self) -> Floats:
        """Means [n] of the results."""
        return np.array([one.mean for one in self.results])

    @property
    def interval(self) -> Floats:
        """Lower and upper ends [2, n] of the intervals; the mean if the interval is unknown."""
        ends = [(one.low, one.high) if one.has_interval else (one.mean,) * 2 for one in self.results]
        return np.array(ends).reshape(-1, 2).T


def png(drawing: "Figure | Image") -> bytes:
    """Encode a picture as a PNG file; equal pictures give equal bytes.

    Args:
        drawing: a figure or an image.
    """
    buffer = io.BytesIO()
    if hasattr(drawing, "savefig"):
        drawing.savefig(buffer, format="png", dpi=110, metadata={"Software": ""})
    else:
        drawing.save(buffer, format="png")
    return buffer.getvalue()


def intervals(title: str, unit: str, panels: Mapping[str, Sequence[Labelled]]) -> "Figure":
    """Draw panels of intervals side by side.

    Args:
        title: title of the figure.
        unit: unit of the results.
        panels: labelled results of each panel by its name, from the top.
    """
    tallest = max(len(rows) for rows in panels.values())
    figure = _figure(max(7.0, 4.6 * len(panels)), max(2.5, 0.4 * tallest + 1.5), title)
    for (name, rows), axes in zip(panels.items(), _panels(figure, len(panels)), strict=True):
        _draw_intervals(axes, [(row, estimate, None) for row, estimate in rows], f"{unit}, 95% intervals")
        axes.set_title(name, fontsize="medium")
    return figure


def intervals_and_means(title: str, unit: str, count: str, series: Sequence[Series], measures: str = "") -> "Figure":
    """Draw the interval of each series, and beside them the running means.

    Args:
        title: title of the figure.
        unit: unit of the results.
        count: name of the units that are counted.
        measures: which measure is in front and which behind.
    """
    figure = _figure(12, max(3.5, 0.45 * len(series) + 1.5), title)
    bars, curves = _panels(figure, 2)
    rows = [
        (one.name, estimate(one.units, one.error), None if one.behind is None else estimate(one.behind, one.error))
        for one in series
    ]
    _draw_intervals(bars, rows, f"{unit}, 95% intervals" + (f": {measures}" if measures else ""))
    lines = [(one.name, list(zip(*settling(one.units, _RUNNING_POINTS), strict=True))) for one in series[:_MAX_RUNNING]]
    _draw_curves(curves, [Curve(name, {count: np.array(line[0])}, line[1]) for name, line in lines if line], count)
    curves.axhline(0, color="grey", linewidth=0.8)
    _label(curves, count, "mean so far")
    curves.legend(fontsize="small")
    return figure


def _draw_intervals(axes: "Axes", rows: Sequence[tuple[str, Estimate, Estimate | None]], unit: str) -> None:
    for height, (_, result, behind) in enumerate(reversed(rows)):
        if behind is not None:
            _draw_interval(axes, height - 0.18, behind, "0.65")
        _draw_interval(axes, height, result, "C0")
        at = (result.mean, height)
        axes.annotate(str(result), at, xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.margins(x=0.25)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_xlabel(unit)


def _draw_interval(axes: "Axes", height: float, result: Estimate, color: str) -> None:
    sides = [[result.mean - result.low], [result.high - result.mean]] if result.has_interval else None
    axes.errorbar(result.mean, height, xerr=sides, fmt="o", markersize=5, capsize=3, color=color)


def crosstable(title: str, unit: str, names: Sequence[str], results: Mapping[str, Mapping[str, Estimate]]) -> "Figure":
    """Draw a table of the chips that each agent won from each other agent (row from column).

    A cell is blue if the interval is above 0 and red if it is below. Larger amounts are darker, on a logarithmic scale.

    Args:
        title: title of the figure.
        unit: unit of the results.
        names: names of the agents.
        results: results by the name of the winner and the name of the opponent.
    """
    figure = _figure(1.15 * len(names) + 2.5, 0.42 * len(names) + 2.0, title)
    [axes] = _panels(figure, 1)
    clear = np.zeros((len(names), len(names)))
    for i, name in enumerate(names):
        for j, other in enumerate(names):
            won = results[name].get(other)
            if won is None:
                continue
            if won.has_interval and won.low * won.high > 0:
                clear[i, j] = np.sign(won.mean) * np.log10(1 + abs(won.mean))
            axes.text(j, i, f"{won:+}".replace(" ", "\n", 1), ha="center", va="center", fontsize=7)
    most = max(1.0, float(np.abs(clear).max()))
    axes.imshow(clear, cmap="RdBu", vmin=-2 * most, vmax=2 * most, aspect="auto")
    axes.set_xticks(range(len(names)), names, rotation=30, ha="right", fontsize="small")
    axes.set_yticks(range(len(names)), names, fontsize="small")
    axes.set_xlabel(f"{unit}, row from column, 95% intervals")
    return figure


def curves(title: str, value: str, lines: Sequence[Curve], *, logarithmic: bool) -> "Figure":
    """Draw curves with their intervals against each clock, side by side.

    Args:
        title: title of the figure.
        value: label of the vertical axis.
        lines: curves with the same clocks.
        logarithmic: use a logarithmic vertical axis. Otherwise it is linear up to 1 and logarithmic beyond, so that a
            lead of 1 is visible beside winnings of 1,000.
    """
    clocks, below = list(lines[0].clocks), len(lines) > _MAX_INSIDE
    figure = _figure(max(6.0 * len(clocks), 8.0), 6.5 if below else 4.8, title)
    for axes, clock in zip(_panels(figure, len(clocks)), clocks, strict=True):
        _draw_curves(axes, lines, clock, cut=logarithmic)
        axes.set_xscale("log")
        axes.set_yscale("log" if logarithmic else "symlog", **({} if logarithmic else {"linthresh": 1}))
        _label(axes, clock, value)
        axes.grid(visible=True, which="both", alpha=0.3)
    place = {"loc": "outside lower center", "ncols": 2} if below else {"loc": "best"}
    (figure if below else figure.axes[0]).legend(*figure.axes[0].get_legend_handles_labels(), fontsize="small", **place)
    return figure


def _draw_curves(axes: "Axes", lines: Sequence[Curve], clock: str, *, cut: bool = False) -> None:
    """Draw curves with their intervals; if `cut`, intervals end at a tenth of the mean."""
    for i, line in enumerate(lines):
        low, high = line.interval
        low = np.maximum(low, line.mean / 10) if cut else low
        axes.plot(line.clocks[clock], line.mean, label=line.name, color=f"C{i}", marker=".", markersize=3)
        axes.fill_between(line.clocks[clock], low, high, alpha=0.2, color=f"C{i}", linewidth=0)


def curve_panels(title: str, value: str, clock: str, panels: Mapping[str, Sequence[Curve]]) -> "Figure":
    """Draw panels of curves with their intervals against one clock, in rows of three.

    Args:
        title: title of the figure.
        value: label of the vertical axes.
        clock: name of the clock.
        panels: curves of each panel by its name.
    """
    rows, columns = -(-len(panels) // 3), min(3, len(panels))
    figure = _figure(4.6 * columns, 3.6 * rows + 1.2, title)
    grid = list(figure.subplots(rows, columns, squeeze=False).ravel())
    for unused in grid[len(panels) :]:
        unused.set_visible(False)
    for (name, lines), axes in zip(panels.items(), grid, strict=False):
        axes.set_title(name, fontsize="medium")
        axes.grid(visible=True, alpha=0.3)
        for i, line in enumerate(lines):
            sides = np.abs(line.interval - line.mean)
            axes.errorbar(line.clocks[clock], line.mean, sides, label=line.name, color=f"C{i}", marker=".", capsize=3)
        axes.axhline(0, color="grey", linewidth=0.8)
        axes.set_xscale("log")
        _label(axes, clock, value)
        axes.legend(fontsize="small")
    return figure


def stacked(title: str, rows: Sequence[str], panels: Mapping[str, Mapping[str, Floats]]) -> "Figure":
    """Draw panels of stacked bars side by side.

    Args:
        title: title of the figure.
        rows: names of n rows, from the top.
        panels: shares [n] of each panel, by the panel's name and the share's name.
    """
    figure = _figure(6.0 * len(panels), max(3.0, min(0.2 * len(rows), 14.0) + 1.5), title)
    places = np.arange(len(rows))
    for (name, shares), axes in zip(panels.items(), _panels(figure, len(panels)), strict=True):
        left = np.zeros(len(rows))
        for action, share in shares.items():
            axes.barh(places, share, 0.9 if len(rows) <= _NAMED_ROWS else 1.0, left=left, label=action)
            left = left + share
        axes.set_yticks(places if len(rows) <= _NAMED_ROWS else [], rows if len(rows) <= _NAMED_ROWS else [])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.set_xlim(0, 1)
        axes.set_title(name, fontsize="medium")
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.04), ncols=4, fontsize="small", frameon=False)
    return figure


def _figure(width: float, height: float, title: str) -> "Figure":
    """Return an empty figure of a size in inches that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (half a second)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title, wrap=True)
    return figure


def _label(axes: "Axes", across: str, up: str) -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)


def _panels(figure: "Figure", count: int) -> "list[Axes]":
    return list(np.atleast_1d(figure.subplots(1, count)))
