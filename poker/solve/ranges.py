"""Ranges of a solve: which hands it leaves out, and which it makes equal.

Symbols: H hands, P players.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards.hands import CARD_PERMUTATION, HAND_PERMUTATION
from poker.kernels.types import Board, Ranges, Singles

UNLIKELY_OWN, UNLIKELY_OPP = 1e-5, 1e-3
"""Shares of the searcher's and the opponent's ranges whose least likely hands are left out of a solve.

On the turn these are half of the searcher's hands, which earlier solutions rule out except for rounding, and a sixth of
the opponent's."""

_ALIKE = np.float32(0.999)
"""Weights whose ratio is nearer to 1 are equal up to rounding in the solves that made them."""

_FLOP = 3
_EVEN = 0.01
"""Share of a range by which hands that are equal up to suits may differ, because of noise in earlier solves."""


def likely_ranges(ranges: Ranges, searcher: int, of_others: float = UNLIKELY_OPP) -> Ranges:
    """Leave unlikely hands out of ranges.

    Args:
        ranges: [P, H] ranges of P players.
        searcher: the player who searches.
        of_others: share of the other players' weight that may be left out.

    Returns:
        [P, H] ranges with 0 for hands that are left out.
    """
    shares = [of_others] * len(ranges)
    shares[searcher] = UNLIKELY_OWN
    return np.stack([without_unlikely(weights, share) for weights, share in zip(ranges, shares, strict=True)])


def without_unlikely(weights: Singles, share: float) -> Singles:
    """Leave out the least likely hands that together have at most a share of the weight.

    Args:
        weights: [H] weights; equal ones stay or go together.
        share: share of the total weight.

    Returns:
        [H] weights with 0 for hands that are left out.
    """
    ascending = np.sort(weights)
    below = np.cumsum(ascending, dtype=np.float64)
    least = min(int(np.searchsorted(below, share * below[-1], side="right")), len(weights) - 1)
    return np.where(weights < _ALIKE * ascending[least], np.float32(0.0), weights)


def with_hand(ranges: Ranges, player: int, hand: int) -> Ranges:
    """Give a player's hand the least weight that is not left out of a solve.

    Args:
        ranges: [2, H] ranges.
        player: the searcher.

    Returns:
        [2, H] ranges.
    """
    out = ranges.copy()
    out[player, hand] = max(out[player, hand], 2 * UNLIKELY_OWN * out[player].sum())
    return out


def evened(board: Board, ranges: Ranges, alternatives: Singles | None) -> tuple[Ranges, Singles | None]:
    """Average ranges and alternatives over hands that are equal up to suits.

    Args:
        ranges: [2, H] ranges.
        alternatives: [H] values of the opponent, or None.

    Returns:
        ranges and alternatives; unchanged if the ranges differ by more than the noise of the solves that made them.
    """
    alike = _alike(board)
    if alike is None:
        return ranges, alternatives
    even = np.stack([_class_means(alike, weights) for weights in ranges])
    if (np.abs(even - ranges).sum(axis=1) > 2 * _EVEN * ranges.sum(axis=1)).any():
        return ranges, alternatives
    return even, None if alternatives is None else _class_means(alike, alternatives)


@lru_cache(maxsize=256)
def _alike(board: Board) -> NDArray[np.int64] | None:
    """Return classes [H] of hands that are equal up to the permutations of suits that fix flop, turn and river.

    None if only the identity does.
    """
    images = CARD_PERMUTATION[:, list(board)]
    images[:, :_FLOP].sort(axis=1)
    group = (images == board).all(axis=1)
    return HAND_PERMUTATION[group].min(axis=0).astype(np.int64) if group.sum() > 1 else None


def _class_means(classes: NDArray[np.int64], values: Singles) -> Singles:
    counts = np.maximum(np.bincount(classes), 1)
    return (np.bincount(classes, values) / counts)[classes].astype(np.float32)
