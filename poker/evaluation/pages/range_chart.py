"""The picture of a strategy: one 13 x 13 grid of hand classes per action, suited above the diagonal."""

from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from poker.cards import PREFLOP_CLASS, RANKS, class_text
from poker.evaluation.pages.chart import png


def class_shares(weights: NDArray[np.float64], strategy: NDArray[np.float32]) -> NDArray[np.float64]:
    """float64[169, A]: the strategy of each class, its hands weighted; NaN for classes outside the range."""
    mass = np.bincount(PREFLOP_CLASS, weights, minlength=169)
    shares = np.full((169, strategy.shape[1]), np.nan)
    inside = mass > 0
    for action in range(strategy.shape[1]):
        total = np.bincount(PREFLOP_CLASS, weights * strategy[:, action], minlength=169)
        shares[inside, action] = total[inside] / mass[inside]
    return shares


def range_chart(
    title: str, actions: Sequence[str], weights: NDArray[np.float64], strategy: NDArray[np.float32]
) -> bytes:
    """A PNG with a grid per action, aces at the top left; `weights` [H] is the range, `strategy` [H, A]."""
    shares = class_shares(weights, strategy)
    totals = (weights @ strategy) / weights.sum()
    figure = Figure(figsize=(4.4 * len(actions) + 0.4, 4.9), layout="constrained")
    FigureCanvasAgg(figure)
    figure.suptitle(title)
    for action, axes in enumerate(np.atleast_1d(figure.subplots(1, len(actions)))):
        grid = shares[:, action].reshape(13, 13)[::-1, ::-1]
        axes.imshow(np.ma.masked_invalid(grid), cmap="YlOrRd", vmin=0, vmax=1)
        axes.set_facecolor("0.9")
        axes.set_title(f"{actions[action]}: {100 * totals[action]:.1f}%")
        axes.set_xticks(range(13), RANKS[::-1])
        axes.set_yticks(range(13), RANKS[::-1])
        axes.tick_params(length=0)
        for row, column in np.argwhere(~np.isnan(grid)):
            name = class_text(int((12 - row) * 13 + 12 - column))
            axes.text(column, row, name, ha="center", va="center", fontsize=6)
    return png(figure)
