"""Action frequencies of each hand, derived from the frequencies of a whole range."""

import math

import numpy as np

from poker.kernels.registry import entry, kernel
from poker.kernels.types import F32, F64, I16

_FOLD, _CALL, _RAISE = range(3)
_MAX_LOG_ODDS = 60.0
"""Bound of the log odds."""
_STEPS = 60
_TOLERANCE = 1e-12
"""Tolerance of the resulting frequencies."""


@kernel
def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-x))


@kernel
def _shift(mass: F64, odds: F64, sign: float, target: float) -> float:
    """Return the log odds to add to `sign` * `odds` [n], so that `mass` [n] takes an action with frequency `target`.

    The solution uses Newton's method within a bracket.
    """
    if target <= 0:
        return -np.inf
    low, high, middle = -_MAX_LOG_ODDS, _MAX_LOG_ODDS, 0.0
    for _ in range(_STEPS):
        total, steepness = 0.0, 0.0
        for b in range(len(odds)):
            if mass[b] > 0:
                chance = _logistic(middle + sign * odds[b])
                total += mass[b] * chance
                steepness += mass[b] * chance * (1 - chance)
        if abs(total - target) < _TOLERANCE:
            break
        if total < target:
            low = middle
        else:
            high = middle
        middle += (target - total) / max(steepness, _TOLERANCE)
        if not low < middle < high:
            middle = (low + high) / 2
    return middle


@kernel
def _spread(bins: I16, weights: F64, mass: F64) -> None:
    """Compute the `mass` [n] of each bin on one board; without weights all hands count equally."""
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
    """Compute fold, call and raise probabilities of each hand, whose mean over a range equals given frequencies.

    Args:
        bins: int16 [B, H] bin of each hand, out of n; -1 for impossible hands, whose result is 0.
        weights: float64 [B, H] range on each board; without weight all hands of a board count equally.
        odds: float64 [B, 2, n] log odds of each bin to fold if not to raise, and to raise, up to a constant each.
        habits: float64 [B, 3] frequencies of fold, call and raise over the range.
        bluffs: share of the raises made with the other hands, by the opposite odds.
        blind: share of decisions made without looking at the hand.

    Returns:
        float32 [B, H, 3] probabilities.
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
    """Compute the probability of each of several ordered actions for each hand, by proportional odds.

    Args:
        bins: int16 [B, H] bin of each hand, out of n; -1 for impossible hands, whose result is 0.
        weights: float64 [B, H] range on each board; without weight all hands of a board count equally.
        odds: float64 [B, n] log odds by bin of taking a given action or a later one, up to a constant.
        shares: float64 [B, S] frequency of each action over the range.

    Returns:
        float32 [B, H, S] probabilities whose mean over the range is `shares`.
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
