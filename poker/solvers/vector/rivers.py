"""A few rivers after a turn that represent all, for flops that are solved to the end of the hand.

The rivers are chosen so that sums over them fit the sums over all rivers, for every hand of either range. We fit three
sums: the weight of the other range that the river leaves possible, the hand's margin at showdown against that range
(weight that it beats minus weight that beats it), and the square of the margin. Let D [R, F] be the deviations of R
rivers from their mean in all F sums, each scaled to the hand's weight. A choice S of equal weights has the error `|sum
of D over S|^2 / |S|^2`. The Gram matrix D D^T gives this error for any choice. Many random choices are tried, and the
best is improved by exchanges.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards.runouts import fit_boards
from poker.kernels.types import Floats, Singles

TRIALS = 256
"""Number of random choices; the best one is improved."""


def fitted_rivers(
    ranks: NDArray[np.int16], cards: NDArray[np.uint8], multiplicity: Floats, ranges: Singles, count: int
) -> NDArray[np.int64]:
    """Choose rivers whose showdowns fit the showdowns on all rivers.

    Args:
        ranks: int16 [R, H] strength of every hand on each class of rivers, -1 where a card blocks it.
        cards: uint8 [H, 2] cards of every hand.
        multiplicity: float64 [R] number of concrete rivers in each class.
        ranges: float32 [2, H] ranges of both players.
        count: number of classes to choose, less than R.

    Returns:
        int64 [count] ascending indices of the chosen rivers; the same for the same arguments.
    """
    hands = np.flatnonzero((ranges > 0).any(axis=0) & (ranks >= 0).any(axis=0))
    strengths = np.ascontiguousarray(ranks[:, hands])
    order = np.argsort(strengths, axis=1, kind="stable").astype(np.int16)
    weights = np.ascontiguousarray(ranges[:, hands], dtype=np.float64)
    return fit_boards(order, strengths, cards[hands], weights, multiplicity, _trials(len(ranks), count))


@lru_cache(maxsize=64)
def _trials(rivers: int, count: int) -> NDArray[np.int64]:
    every = np.tile(np.arange(rivers), (TRIALS, 1))
    return np.ascontiguousarray(np.random.default_rng(count).permuted(every, axis=1)[:, :count])
