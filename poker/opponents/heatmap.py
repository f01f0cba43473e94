"""A weight table as a picture: 13 x 13 hand classes, pairs on the diagonal, suited above it, offsuit below."""

from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from poker.cards import NUM_RANKS, RANKS, class_text
from poker.opponents.weights import class_grid


def heat_map(weights: NDArray[np.floating], title: str = "") -> Figure:
    """Mean weight [1326] of the possible hands of each class, aces top left; 1 is the most likely hand."""
    top = float(weights.max(initial=0))
    grid = class_grid(weights / top if top > 0 else weights)[::-1, ::-1]
    figure = Figure(figsize=(6.4, 6), layout="constrained")
    axes = FigureCanvasAgg(figure).figure.add_subplot()
    image = axes.imshow(grid, vmin=0, vmax=1, cmap="viridis")
    labels = list(RANKS[::-1])
    axes.set_xticks(range(NUM_RANKS), labels)
    axes.set_yticks(range(NUM_RANKS), labels)
    for row in range(NUM_RANKS):
        for column in range(NUM_RANKS):
            name = class_text((NUM_RANKS - 1 - row) * NUM_RANKS + NUM_RANKS - 1 - column)
            dark = grid[row, column] < 0.6
            axes.text(column, row, name, ha="center", va="center", fontsize=6, color="white" if dark else "black")
    axes.set_title(title)
    figure.colorbar(image, ax=axes, shrink=0.8, label="weight")
    return figure


def save_heat_map(weights: NDArray[np.floating], path: str | Path, title: str = "") -> None:
    """Write the picture as PNG."""
    heat_map(weights, title).savefig(Path(path), dpi=120, format="png")
