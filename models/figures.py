"""Pictures for TensorBoard, drawn by matplotlib without a display."""

from collections.abc import Sequence

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray


def scatter(
    predicted: NDArray[np.float32], labels: NDArray[np.float32], names: Sequence[str], unit: str
) -> NDArray[np.uint8]:
    """Image [height, width, 3]: predicted against labelled value, a panel for each of the K columns.

    Rows outside the middle 99.8% of the labels are not drawn, so that a few extremes do not shrink the rest.
    """
    figure = Figure(figsize=(3.2 * len(names), 3.4), dpi=100, layout="constrained")
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
        axes.set(title=name, xlabel=f"label ({unit})", xlim=limits, ylim=limits, aspect="equal")
        if index == 0:
            axes.set_ylabel(f"predicted ({unit})")
    return render(figure)


def render(figure: Figure) -> NDArray[np.uint8]:
    """The figure as an image [height, width, 3]."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()  # type: ignore[no-untyped-call]
    image = np.asarray(canvas.buffer_rgba())  # type: ignore[no-untyped-call]
    return image[:, :, :3].copy()
