"""Charts: intervals, running means, curves, and grids of hand classes.

Each function returns a figure of matplotlib, which is imported when the first one is drawn.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poker.cards import NUM_RANKS, PREFLOP_CLASS, class_text
from poker.report.estimates import Estimate, estimate, running

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.path import Path

Floats = NDArray[np.float64]
Row = tuple[str, Estimate]
"""Name and result."""

_RUNNING_POINTS = 300
_MAX_RUNNING = 10


@dataclass(frozen=True, eq=False)
class Series:
    """Results of independent units [n] by the better of two measures, and [n] by the other one, drawn behind."""

    name: str
    units: Floats
    behind: Floats | None = None


@dataclass(frozen=True, eq=False)
class Curve:
    """What was found [n] along several clocks [n], by their names."""

    name: str
    clocks: Mapping[str, Floats]
    found: Sequence[Estimate]

    @property
    def mean(self) -> Floats:
        return np.array([each.mean for each in self.found])

    @property
    def interval(self) -> Floats:
        """[2, n] lower and upper ends; the mean where no interval is known."""
        ends = [(each.low, each.high) if each.has_interval else (each.mean,) * 2 for each in self.found]
        return np.array(ends).reshape(-1, 2).T


def png(figure: "Figure") -> bytes:
    """The figure as the bytes of a file, the same every time."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=110, metadata={"Software": ""})
    return buffer.getvalue()


def intervals(title: str, unit: str, panels: Mapping[str, Sequence[Row]]) -> "Figure":
    """Panels side by side, by name; each has its own rows, from the top in their order."""
    tallest = max(len(rows) for rows in panels.values())
    figure = _figure(max(7.0, 4.6 * len(panels)), max(2.5, 0.4 * tallest + 1.5), title)
    for (name, rows), axes in zip(panels.items(), _panels(figure, len(panels)), strict=True):
        _draw_intervals(axes, [(row, found, None) for row, found in rows], f"{unit}, 95% intervals")
        axes.set_title(name, fontsize="medium")
    return figure


def intervals_and_means(title: str, unit: str, count: str, series: Sequence[Series], measures: str = "") -> "Figure":
    """The interval of each series, and beside them how the means settled over the `count`, a name of the units.

    `measures` says which measure is in front and which behind.
    """
    figure = _figure(12, max(3.5, 0.45 * len(series) + 1.5), title)
    bars, curves = _panels(figure, 2)
    rows = [(one.name, estimate(one.units), None if one.behind is None else estimate(one.behind)) for one in series]
    _draw_intervals(bars, rows, f"{unit}, 95% intervals" + (f": {measures}" if measures else ""))
    for i, one in enumerate(series[:_MAX_RUNNING]):
        counts, means, lows, highs = running(one.units, _RUNNING_POINTS)
        keep = counts >= 10
        curves.plot(counts[keep], means[keep], label=one.name, color=f"C{i}")
        curves.fill_between(counts[keep], lows[keep], highs[keep], alpha=0.15, color=f"C{i}", linewidth=0)
    curves.axhline(0, color="grey", linewidth=0.8)
    curves.set_xlabel(count)
    curves.set_ylabel("mean so far")
    curves.legend(fontsize="small")
    return figure


def _draw_intervals(axes: "Axes", rows: Sequence[tuple[str, Estimate, Estimate | None]], unit: str) -> None:
    for height, (_, found, behind) in enumerate(reversed(rows)):
        if behind is not None:
            _draw_interval(axes, height - 0.18, behind, "0.65")
        _draw_interval(axes, height, found, "C0")
        at = (found.mean, height)
        axes.annotate(str(found), at, xytext=(0, 5), textcoords="offset points", ha="center", fontsize=8)
    axes.set_yticks(range(len(rows)), [name for name, _, _ in reversed(rows)])
    axes.set_ylim(-0.6, len(rows) - 0.2)
    axes.margins(x=0.25)
    axes.axvline(0, color="grey", linewidth=0.8)
    axes.set_xlabel(unit)


def _draw_interval(axes: "Axes", height: float, found: Estimate, color: str) -> None:
    sides = [[found.mean - found.low], [found.high - found.mean]] if found.has_interval else None
    axes.errorbar(found.mean, height, xerr=sides, fmt="o", markersize=5, capsize=3, color=color)


def curves(title: str, value: str, lines: Sequence[Curve], *, logarithmic: bool) -> "Figure":
    """Curves with their intervals against each of their clocks, side by side."""
    clocks = list(lines[0].clocks)
    figure = _figure(6 * len(clocks), 4.8, title)
    for axes, clock in zip(_panels(figure, len(clocks)), clocks, strict=True):
        for i, line in enumerate(lines):
            low, high = line.interval
            if logarithmic:
                low = np.maximum(low, line.mean / 10)
            axes.plot(line.clocks[clock], line.mean, label=line.name, color=f"C{i}", marker=".", markersize=3)
            axes.fill_between(line.clocks[clock], low, high, alpha=0.2, color=f"C{i}", linewidth=0)
        axes.set_xscale("log")
        axes.set_yscale("log" if logarithmic else "linear")
        axes.set_xlabel(clock)
        axes.set_ylabel(value)
        axes.grid(visible=True, which="both", alpha=0.3)
    figure.axes[0].legend(fontsize="small")
    return figure


def strategy_grids(title: str, actions: Sequence[str], weights: Floats, strategy: NDArray[np.float32]) -> "Figure":
    """How often each action is taken: a grid an action; `weights` [H] is the range, `strategy` [H, A]."""
    shares = class_shares(weights, strategy)
    totals = (weights @ strategy) / weights.sum()
    figure = _figure(4.4 * len(actions) + 0.4, 4.9, title)
    for action, axes in enumerate(_panels(figure, len(actions))):
        _draw_grid(axes, shares[:, action].reshape(NUM_RANKS, NUM_RANKS), "YlOrRd")
        axes.set_title(f"{actions[action]}: {100 * totals[action]:.1f}%")
    return figure


def class_shares(weights: Floats, strategy: NDArray[np.float32]) -> Floats:
    """float64[169, A]: the strategy of each class, its hands weighted; NaN for classes outside the range."""
    mass = np.bincount(PREFLOP_CLASS, weights, minlength=169)
    shares = np.full((169, strategy.shape[1]), np.nan)
    inside = mass > 0
    for action in range(strategy.shape[1]):
        total = np.bincount(PREFLOP_CLASS, weights * strategy[:, action], minlength=169)
        shares[inside, action] = total[inside] / mass[inside]
    return shares


def weight_grid(title: str, weights: NDArray[np.floating]) -> "Figure":
    """Mean weight [1326] of the possible (> 0) hands of each class; 1 is the most likely hand."""
    figure = _figure(6.4, 6, "")
    [axes] = _panels(figure, 1)
    relative = (weights / max(float(weights.max()), 1e-30)).astype(np.float32)
    means = class_shares((weights > 0).astype(np.float64), relative[:, None])
    image = _draw_grid(axes, means.reshape(NUM_RANKS, NUM_RANKS), "viridis", light_below=0.6)
    axes.set_title(title)
    figure.colorbar(image, ax=axes, shrink=0.8, label="weight")
    return figure


def _draw_grid(axes: "Axes", by_class: Floats, colours: str, *, light_below: float = 0.0) -> "AxesImage":
    """Shares [13, 13] of the classes of two cards, aces at the top left, suited above the diagonal; NaN stays empty."""
    from matplotlib.patches import PathPatch  # noqa: PLC0415
    from matplotlib.path import Path  # noqa: PLC0415

    image = axes.imshow(np.ma.masked_invalid(by_class[::-1, ::-1]), vmin=0, vmax=1, cmap=colours)
    axes.set_facecolor("0.9")
    axes.set(xticks=[], yticks=[])
    for color, classes in (("white", by_class.ravel() < light_below), ("black", by_class.ravel() >= light_below)):
        names = [_class_name(preflop_class) for preflop_class in np.flatnonzero(classes)]
        axes.add_artist(PathPatch(Path.make_compound_path(*names), color=color, linewidth=0))
    return image


@cache
def _class_name(preflop_class: int) -> "Path":
    """The outline of the name of a class in its cell; drawing hundreds of texts takes a second."""
    from matplotlib.textpath import TextPath  # noqa: PLC0415
    from matplotlib.transforms import Affine2D  # noqa: PLC0415

    row, column = (NUM_RANKS - 1 - place for place in divmod(preflop_class, NUM_RANKS))
    name = TextPath((0, 0), class_text(preflop_class), size=0.36)
    width = np.asarray(name.vertices)[:, 0].max()
    return name.transformed(Affine2D().translate(-width / 2, -0.13).scale(1, -1).translate(column, row))


def _figure(width: float, height: float, title: str) -> "Figure":
    """An empty figure of so many inches that needs no display."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415 (half a second)
    from matplotlib.figure import Figure  # noqa: PLC0415

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    if title:
        figure.suptitle(title)
    return figure


def _panels(figure: "Figure", count: int) -> "list[Axes]":
    return list(np.atleast_1d(figure.subplots(1, count)))
