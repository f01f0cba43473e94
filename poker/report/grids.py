"""Images of grids of the 169 classes of two cards, aces at the top left and suited hands above the diagonal.

They are drawn with Pillow, because matplotlib takes a second for a grid with many texts.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import NUM_RANKS, PREFLOP_CLASS, class_text
from poker.kernels.types import Floats

if TYPE_CHECKING:
    from PIL.Image import Image


_CELL = 34
_MARGIN = 26
_COLOURS = np.array([[255, 250, 205], [253, 141, 60], [177, 0, 38]])
"""RGB at shares of 0, a half and 1."""
_EMPTY = 230


def class_shares(weights: Floats, strategy: NDArray[np.float32]) -> Floats:
    """Compute the strategy of each class as the weighted mean over its hands.

    Args:
        weights: [1326] range.
        strategy: [1326, A] strategy of each hand.

    Returns:
        float64 [169, A] strategy of each class; NaN for classes outside the range.
    """
    mass = np.bincount(PREFLOP_CLASS, weights, minlength=169)
    totals = np.stack([np.bincount(PREFLOP_CLASS, weights * column, minlength=169) for column in strategy.T], axis=1)
    shares: Floats = np.divide(totals, mass[:, None], out=np.full(totals.shape, np.nan), where=mass[:, None] > 0)
    return shares


def strategy_grids(title: str, actions: Sequence[str], weights: Floats, strategy: NDArray[np.float32]) -> "Image":
    """Draw one grid per action, with the probability of the action for each class.

    Args:
        title: title of the image.
        actions: names of A actions.
        weights: [1326] range.
        strategy: [1326, A] strategy of each hand.
    """
    shares = class_shares(weights, strategy)
    totals = (weights @ strategy) / weights.sum()
    names = [f"{action}: {total:.1%}" for action, total in zip(actions, totals, strict=True)]
    return _grids(title, names, shares.T)


def _grids(title: str, names: Sequence[str], by_class: Floats) -> "Image":
    """Draw grids side by side from shares [grids, 169] between 0 (pale) and 1 (dark), NaN for empty cells."""
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    size = NUM_RANKS * _CELL
    image = Image.new("RGB", (len(names) * (size + _MARGIN) + _MARGIN, size + 3 * _MARGIN), "white")
    draw = ImageDraw.Draw(image)
    font, small = ImageFont.load_default(15), ImageFont.load_default(12)
    draw.text((image.width / 2, _MARGIN / 2 + 4), title, "black", font, anchor="mm")
    for number, (name, shares) in enumerate(zip(names, by_class, strict=True)):
        left, top = _MARGIN + number * (size + _MARGIN), 2 * _MARGIN
        draw.text((left + size / 2, top - _MARGIN / 2), name, "black", font, anchor="mm")
        for preflop_class, share in enumerate(shares):
            row, column = (NUM_RANKS - 1 - place for place in divmod(preflop_class, NUM_RANKS))
            x, y = left + column * _CELL, top + row * _CELL
            colour = [_EMPTY] * 3 if np.isnan(share) else [np.interp(share, (0, 0.5, 1), c) for c in _COLOURS.T]
            draw.rectangle((x, y, x + _CELL - 1, y + _CELL - 1), tuple(map(int, colour)))
            if not np.isnan(share):
                ink = "white" if share > 0.75 else "black"
                draw.text((x + _CELL / 2, y + _CELL / 2), class_text(preflop_class), ink, small, anchor="mm")
    return image
