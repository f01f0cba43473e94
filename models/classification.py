"""How good predicted probabilities of three classes are: accuracy, log-loss, Brier score, calibration, intervals."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

BINS = 15
RESAMPLES = 1000


@dataclass(frozen=True)
class Score:
    """Means over `rows` decisions."""

    rows: int
    accuracy: float
    log_loss: float
    brier: float
    calibration: float


def score(probs: NDArray[np.float64], action: NDArray[np.int64]) -> Score:
    """Of probabilities [n, 3] for classes [n]."""
    hot = np.eye(probs.shape[1])[action]
    return Score(
        rows=len(action),
        accuracy=float((probs.argmax(axis=1) == action).mean()),
        log_loss=float(log_losses(probs, action).mean()),
        brier=float(np.square(probs - hot).sum(axis=1).mean()),
        calibration=calibration_error(probs, action),
    )


def log_losses(probs: NDArray[np.float64], action: NDArray[np.int64]) -> NDArray[np.float64]:
    """[n] -ln of the probability of what happened."""
    chosen = probs[np.arange(len(action)), action]
    return -np.log(np.maximum(chosen, 1e-12))


def calibration_error(probs: NDArray[np.float64], action: NDArray[np.int64]) -> float:
    """Expected calibration error: over equal bins of the most probable class's probability, |frequency - mean|."""
    top = probs.max(axis=1)
    right = probs.argmax(axis=1) == action
    bins = np.minimum((top * BINS).astype(np.int64), BINS - 1)
    gaps = np.bincount(bins, weights=right, minlength=BINS) - np.bincount(bins, weights=top, minlength=BINS)
    return float(np.abs(gaps).sum() / len(action))


def bootstrap(values: NDArray[np.float64], groups: NDArray[np.int64], seed: int = 0) -> tuple[float, float]:
    """95% interval of the mean of `values` [n] when whole groups are drawn with replacement."""
    _, index = np.unique(groups, return_inverse=True)
    sums, sizes = np.bincount(index, weights=values), np.bincount(index).astype(np.float64)
    generator = np.random.default_rng(seed)
    means = np.empty(RESAMPLES)
    for draw in range(RESAMPLES):
        counts = np.bincount(generator.integers(0, len(sums), len(sums)), minlength=len(sums))
        means[draw] = counts @ sums / (counts @ sizes)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def confusion(probs: NDArray[np.float64], action: NDArray[np.int64]) -> NDArray[np.int64]:
    """[3, 3] decisions by what happened (rows) and what was most probable (columns)."""
    out = np.zeros((probs.shape[1], probs.shape[1]), dtype=np.int64)
    np.add.at(out, (action, probs.argmax(axis=1)), 1)
    return out
