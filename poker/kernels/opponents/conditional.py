"""How often each hand folds, calls and raises, and how high, from how often a whole range does."""

import math

import numpy as np

from poker.kernels.registry import entry, kernel
from poker.kernels.types import F32, F64, I8

_FOLD, _CALL, _RAISE = range(3)
_FAR = 60.0
"""Log odds beyond which nobody looks."""
_STEPS = 60
_CLOSE = 1e-12
"""How near the frequencies that come out must be."""


@kernel
def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def _shift(mass: F64, z: F64, slope: float, target: float) -> float:
    """The log odds at z = 0 with which `mass` [B] takes an action `target` in all, by Newton's method in a bracket."""
    if target <= 0:
        return -np.inf
    low, high, middle = -_FAR, _FAR, 0.0
    for _ in range(_STEPS):
        total, steepness = 0.0, 0.0
        for b in range(len(z)):
            if mass[b] > 0:
                chance = _logistic(middle + slope * z[b])
                total += mass[b] * chance
                steepness += mass[b] * chance * (1 - chance)
        if abs(total - target) < _CLOSE:
            break
        if total < target:
            low = middle
        else:
            high = middle
        middle += (target - total) / max(steepness, _CLOSE)
        if not low < middle < high:
            middle = (low + high) / 2
    return middle


@kernel
def _spread(bins: I8, weights: F64, mass: F64) -> None:
    """`mass` [bins] of one board; without weights all hands are alike."""
    mass[:] = 0.0
    for hand in range(len(bins)):
        if bins[hand] >= 0:
            mass[bins[hand]] += weights[hand]
    if not mass.sum() > 0:
        for hand in range(len(bins)):
            if bins[hand] >= 0:
                mass[bins[hand]] += 1
    mass /= mass.sum()


@entry("i1_2, f8_2, f8_1, f8_2, f8, f8, f8, f8")
def conditional(
    bins: I8,
    weights: F64,
    z: F64,
    habits: F64,
    fold_slope: float,
    raise_slope: float,
    bluffs: float,
    blind: float,
) -> F32:
    """[B, H, 3] fold, call and raise of each hand in a bin of strength [B, H] (-1: dead, all 0), so that on each board
    the mean over `weights` [B, H] is that of `habits` [B, 3].

    The odds to raise, and those to fold if not to raise, are exponential in z [bins] with these slopes; a share
    `bluffs` of the raises is made with the weakest of the other hands, as steeply; a share `blind` acts without a look
    at the hand. Without weights all hands of a board are alike.
    """
    out = np.zeros((*bins.shape, 3), np.float32)
    mass, by_bin = np.empty(len(z)), np.empty((len(z), 3), np.float32)
    for board in range(len(bins)):
        _spread(bins[board], weights[board], mass)
        fold, bet = habits[board, _FOLD], habits[board, _RAISE]
        raises = _shift(mass, z, raise_slope, (1 - bluffs) * bet)
        for b in range(len(z)):
            raised = _logistic(raises + raise_slope * z[b])
            mass[b] *= 1 - raised
            by_bin[b, _RAISE] = raised
        if bluffs > 0:
            bluffed = _shift(mass, z, -raise_slope, bluffs * bet)
            for b in range(len(z)):
                raised = _logistic(bluffed - raise_slope * z[b])
                mass[b] *= 1 - raised
                by_bin[b, _RAISE] += (1 - by_bin[b, _RAISE]) * raised
        folds = _shift(mass, z, -fold_slope, fold)
        for b in range(len(z)):
            raised = by_bin[b, _RAISE]
            folded = (1 - raised) * _logistic(folds - fold_slope * z[b])
            by_bin[b, _FOLD] = (1 - blind) * folded + blind * fold
            by_bin[b, _RAISE] = (1 - blind) * raised + blind * bet
            by_bin[b, _CALL] = 1 - by_bin[b, _FOLD] - by_bin[b, _RAISE]
        for hand in range(bins.shape[1]):
            if bins[board, hand] >= 0:
                out[board, hand] = by_bin[bins[board, hand]]
    return out


@entry("i1_2, f8_2, f8_1, f8_2, f8")
def graded(bins: I8, weights: F64, z: F64, shares: F64, slope: float) -> F32:
    """[B, H, S] with what chance each hand takes each of S actions in their order, so that on each board the mean over
    `weights` [B, H] is that of `shares` [B, S]: the odds of those from any action on are exponential in z [bins], with
    `slope` (proportional odds). Dead hands and weights as of `conditional`.
    """
    out = np.zeros((*bins.shape, shares.shape[1]), np.float32)
    mass, by_bin = np.empty(len(z)), np.empty((len(z), shares.shape[1]), np.float32)
    for board in range(len(bins)):
        _spread(bins[board], weights[board], mass)
        by_bin[:, 0] = 1.0
        left = 1.0
        for action in range(1, shares.shape[1]):
            left -= shares[board, action - 1]
            shift = _shift(mass, z, slope, left)
            for b in range(len(z)):
                higher = np.float32(_logistic(shift + slope * z[b]))
                by_bin[b, action] = min(higher, by_bin[b, action - 1])
                by_bin[b, action - 1] -= by_bin[b, action]
        for hand in range(bins.shape[1]):
            if bins[board, hand] >= 0:
                out[board, hand] = by_bin[bins[board, hand]]
    return out
