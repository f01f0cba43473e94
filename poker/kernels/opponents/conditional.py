"""How often each hand folds, calls and raises, and how high, from how often a whole range does."""

import math

import numpy as np

from poker.kernels.registry import entry, kernel
from poker.kernels.types import F32, F64, I16

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
def _shift(mass: F64, odds: F64, sign: float, target: float) -> float:
    """The log odds to add to `sign` times `odds` [n], so that `mass` [n] takes an action `target` in all, by Newton's
    method in a bracket."""
    if target <= 0:
        return -np.inf
    low, high, middle = -_FAR, _FAR, 0.0
    for _ in range(_STEPS):
        total, steepness = 0.0, 0.0
        for b in range(len(odds)):
            if mass[b] > 0:
                chance = _logistic(middle + sign * odds[b])
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
def _spread(bins: I16, weights: F64, mass: F64) -> None:
    """`mass` [n] of one board; without weights all hands are alike."""
    mass[:] = 0.0
    for hand in range(len(bins)):
        if bins[hand] >= 0:
            mass[bins[hand]] += weights[hand]
    if not mass.sum() > 0:
        for hand in range(len(bins)):
            if bins[hand] >= 0:
                mass[bins[hand]] += 1
    mass /= mass.sum()


@entry("i2_2, f8_2, f8_3, f8_2, f8, f8")
def conditional(bins: I16, weights: F64, odds: F64, habits: F64, bluffs: float, blind: float) -> F32:
    """[B, H, 3] fold, call and raise of each hand in one of n bins [B, H] (-1: dead, all 0), so that on each board the
    mean over `weights` [B, H] is that of `habits` [B, 3].

    `odds` [B, 2, n] are the log odds of each bin to fold if not to raise, and to raise, up to a constant each; a share
    `bluffs` of the raises is made with the other hands by the opposite odds; a share `blind` acts without a look at the
    hand. Without weights all hands of a board are alike.
    """
    number = odds.shape[2]
    out = np.zeros((*bins.shape, 3), np.float32)
    mass, by_bin = np.empty(number), np.empty((number, 3), np.float32)
    for board in range(len(bins)):
        _spread(bins[board], weights[board], mass)
        fold, bet = habits[board, _FOLD], habits[board, _RAISE]
        to_fold, to_raise = odds[board, 0], odds[board, 1]
        raises = _shift(mass, to_raise, 1.0, (1 - bluffs) * bet)
        for b in range(number):
            raised = _logistic(raises + to_raise[b])
            mass[b] *= 1 - raised
            by_bin[b, _RAISE] = raised
        if bluffs > 0:
            bluffed = _shift(mass, to_raise, -1.0, bluffs * bet)
            for b in range(number):
                raised = _logistic(bluffed - to_raise[b])
                mass[b] *= 1 - raised
                by_bin[b, _RAISE] += (1 - by_bin[b, _RAISE]) * raised
        folds = _shift(mass, to_fold, 1.0, fold)
        for b in range(number):
            raised = by_bin[b, _RAISE]
            folded = (1 - raised) * _logistic(folds + to_fold[b])
            by_bin[b, _FOLD] = (1 - blind) * folded + blind * fold
            by_bin[b, _RAISE] = (1 - blind) * raised + blind * bet
            by_bin[b, _CALL] = 1 - by_bin[b, _FOLD] - by_bin[b, _RAISE]
        for hand in range(bins.shape[1]):
            if bins[board, hand] >= 0:
                out[board, hand] = by_bin[bins[board, hand]]
    return out


@entry("i2_2, f8_2, f8_2, f8_2")
def graded(bins: I16, weights: F64, odds: F64, shares: F64) -> F32:
    """[B, H, S] with what chance each hand takes each of S actions in their order, so that on each board the mean over
    `weights` [B, H] is that of `shares` [B, S]: the log odds of those from any action on are `odds` [B, n] by bin, up
    to a constant (proportional odds). Dead hands and weights as of `conditional`.
    """
    number = odds.shape[1]
    out = np.zeros((*bins.shape, shares.shape[1]), np.float32)
    mass, by_bin = np.empty(number), np.empty((number, shares.shape[1]), np.float32)
    for board in range(len(bins)):
        _spread(bins[board], weights[board], mass)
        by_bin[:, 0] = 1.0
        left = 1.0
        for action in range(1, shares.shape[1]):
            left -= shares[board, action - 1]
            shift = _shift(mass, odds[board], 1.0, left)
            for b in range(number):
                higher = np.float32(_logistic(shift + odds[board, b]))
                by_bin[b, action] = min(higher, by_bin[b, action - 1])
                by_bin[b, action - 1] -= by_bin[b, action]
        for hand in range(bins.shape[1]):
            if bins[board, hand] >= 0:
                out[board, hand] = by_bin[bins[board, hand]]
    return out
