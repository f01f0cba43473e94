"""Pictures of a training for TensorBoard. matplotlib is imported where a picture is drawn."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import lightning
import numpy as np
import torch
from lightning.pytorch.loggers import TensorBoardLogger
from numpy.typing import NDArray
from torch import Tensor

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def add_figures(module: lightning.LightningModule, draw: Callable[[], Mapping[str, "Figure"]]) -> None:
    """Figures by name, drawn if the module has loggers that take figures."""
    boards = [logger.experiment for logger in module.loggers if isinstance(logger, TensorBoardLogger)]
    for name, figure in draw().items() if boards else ():
        for board in boards:
            board.add_figure(name, figure, module.trainer.global_step)


def add_scatter(module: lightning.LightningModule, points: list[tuple[Tensor, Tensor]], names: Sequence[str]) -> None:
    """A scatter of the `points` of an epoch, predictions and labels [n, K]; the list is emptied."""
    predicted, labels = (torch.cat(part).numpy() for part in zip(*points, strict=True))
    points.clear()
    add_figures(module, lambda: {"validation/scatter": scatter(predicted, labels, names)})


def _figure(width: float, height: float) -> "Figure":
    from matplotlib.figure import Figure  # noqa: PLC0415 (matplotlib only where a picture is drawn)

    return Figure(figsize=(width, height), dpi=100, layout="constrained")


def scatter(predicted: NDArray[np.float32], labels: NDArray[np.float32], names: Sequence[str]) -> "Figure":
    """Predicted against labelled value in pots, a panel for each of the K columns.

    Rows outside the middle 99.8% of the labels are not drawn, so that a few extremes do not shrink the rest.
    """
    figure = _figure(3.2 * len(names), 3.4)
    for index, (name, axes) in enumerate(zip(names, np.atleast_1d(figure.subplots(1, len(names))), strict=True)):
        low, high = np.quantile(labels[:, index], [0.001, 0.999])
        margin = 0.05 * (high - low) + 1e-3
        limits = (float(low - margin), float(high + margin))
        axes.hexbin(
            np.clip(labels[:, index], *limits),
            np.clip(predicted[:, index], *limits),
            gridsize=60,
            bins="log",
            extent=(*limits, *limits),
            cmap="viridis",
            linewidths=0.1,
        )
        axes.plot(limits, limits, color="red", linewidth=0.8)
        axes.set(title=name, xlabel="label (pots)", xlim=limits, ylim=limits, aspect="equal")
        if index == 0:
            axes.set_ylabel("predicted (pots)")
    return figure


def reliability(probs: NDArray[np.float32], action: NDArray[np.int64], names: Sequence[str]) -> "Figure":
    """Frequency of each class against the probability it was given, in fifteen bins."""
    figure = _figure(4, 3.6)
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="grey", linewidth=0.8)
    for index, name in enumerate(names):
        bins = np.minimum((probs[:, index] * 15).astype(np.int64), 14)
        count = np.bincount(bins, minlength=15)
        filled = count >= 20
        given = np.bincount(bins, weights=probs[:, index], minlength=15)[filled] / count[filled]
        happened = np.bincount(bins, weights=action == index, minlength=15)[filled] / count[filled]
        axes.plot(given, happened, marker="o", markersize=3, linewidth=1, label=name)
    axes.set(xlabel="probability given", ylabel="frequency", xlim=(0, 1), ylim=(0, 1))
    axes.legend()
    return figure


def connections(
    first: NDArray[np.float32], second: NDArray[np.float32], inputs: Sequence[str], outputs: Sequence[str]
) -> "Figure":
    """A net with one hidden layer as lines whose width is a weight's size, dark where it is negative, as in [POKI]."""
    figure = _figure(6, 6)
    axes = figure.subplots()
    layers = [np.linspace(0, 1, size) for size in (len(inputs), len(first), len(outputs))]
    for x, weights in enumerate((first, second)):
        largest = float(np.abs(weights).max()) or 1.0
        for (to, source), weight in np.ndenumerate(weights):
            ends = (layers[x][source], layers[x + 1][to])
            width = 4 * abs(float(weight)) / largest
            axes.plot((x, x + 1), ends, color="black" if weight < 0 else "tab:orange", linewidth=width, alpha=0.7)
    for y, name in zip(layers[0], inputs, strict=True):
        axes.text(-0.04, y, name, ha="right", va="center", fontsize=8)
    for y, name in zip(layers[2], outputs, strict=True):
        axes.text(2.04, y, name, ha="left", va="center", fontsize=8)
    axes.set(xlim=(-0.7, 2.5))
    axes.axis("off")
    return figure
