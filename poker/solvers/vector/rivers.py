"""Few rivers that stand for all after a turn, for flops that are solved to the end of the hand.

The rivers are chosen so that sums over them fit the sums over all rivers, for every hand of either range: the chance
that the river leaves the hand and the other range possible, the hand's margin at showdown against that range (weight
that it beats less weight that beats it) and the margin's square. With D [R, F] the deviations of R rivers from their
mean in all F sums, each scaled to the hand's weight, a choice S of equal weights is off by |sum of D over S|^2 / |S|^2.
The Gram matrix D D^T gives that error for any choice, so many choices are tried and the best is improved by exchanges.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards.runouts import fit_boards
from poker.kernels.types import Floats, Singles

TRIALS = 256
"""Random choices, the best of which is improved."""


def fitted_rivers(
    ranks: NDArray[np.int16], cards: NDArray[np.uint8], multiplicity: Floats, ranges: Singles, count: int
) -> NDArray[np.int64]:
    """Choose `count` rivers whose showdowns fit those of all.

    Args:
        ranks: [R, H] strength of every hand on each class of rivers, -1 where a card blocks it.
        cards: [H, 2] cards of every hand.
        multiplicity: [R] concrete rivers that each class stands for.
        ranges: float32 [2, H] weights of both players' hands.
        count: number of classes to choose, less than R.

    Returns:
        [count] ascending indices of the chosen rivers; the same for the same arguments.
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
