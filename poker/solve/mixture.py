"""Mixture of the continuations beyond the depth limit that is nearest to a model of the opponent.

Continuations and model are compared by their frequencies of folding, calling and raising on each later street, without
a bet to call and with one. The nearest mixture has the least sum of squared differences.

Symbols: K continuations, S streets.
"""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from poker.kernels.types import Reals

_USUAL = (
    ((0.315, 0.437, 0.070), (0.313, 0.459, 0.067), (0.376, 0.525, 0.106)),
    ((0.315, 0.498, 0.062), (0.313, 0.541, 0.057), (0.376, 0.672, 0.084)),
    ((0.135, 0.381, 0.026), (0.144, 0.385, 0.032), (0.228, 0.374, 0.078)),
    ((0.552, 0.420, 0.169), (0.527, 0.437, 0.160), (0.552, 0.464, 0.225)),
)
"""[K, 3, 3] frequencies of bets, of folds to a bet and of raises of it, on flop, turn and river.

They were measured in 20,000 hands of a laptop blueprint and its forms that fold, call and raise ten times as often
(`tests.bench.continuation_frequencies` at commit d59c912a). They are constants because a bundle has no strategy after
the first round."""

_GIVES_UP = ((0.0, 1.0, 0.0),) * 3
"""Frequencies of `poker.depth_limit.evaluator.GiveUpContinuation`, as in `_USUAL`."""


def usual(gives_up: bool = False) -> Reals:
    """Return the frequencies of the four continuations of [DLS] in hold'em.

    Args:
        gives_up: whether to add the continuation that gives up.

    Returns:
        [K, 4, 2, 3] frequencies of fold, call and raise by street, without and with a bet to call.
    """
    bets, folds, raises = np.moveaxis(np.array((*_USUAL, _GIVES_UP) if gives_up else _USUAL), -1, 0)
    no_bet, facing_bet = ([0 * bets, 1 - bets, bets], [folds, 1 - folds - raises, raises])
    return np.pad(np.stack([np.stack(no_bet, -1), np.stack(facing_bet, -1)], axis=2), ((0, 0), (1, 0), (0, 0), (0, 0)))


@dataclass(frozen=True, eq=False)
class ContinuationMixture:
    """Continuations described by their frequencies of actions.

    Attributes:
        frequencies: [K, S, 2, 3] of fold, call and raise by street, without and with a bet to call.
    """

    frequencies: Reals = field(default_factory=usual)

    def shares(self, later: Reals, street: int) -> Reals:
        """Return the mixture nearest to a model.

        Args:
            later: [n, 2, 3] frequencies of the model on the n streets after `street`.
            street: street at whose end the continuations begin.

        Returns:
            [K] shares of the continuations.
        """
        theirs = np.asarray(self.frequencies)[:, street + 1 :][:, : len(later)]
        return nearest_mixture(theirs.reshape(len(theirs), -1), later.ravel())


def nearest_mixture(points: Reals, wanted: Reals) -> Reals:
    """Return the mixture of points that is nearest to a target, with as few points as possible.

    It solves least squares on every subset of the points, and keeps the best solution without a negative share.

    Args:
        points: [K, n] points.
        wanted: [n] the target.

    Returns:
        [K] shares with sum 1.
    """
    best: Reals = np.zeros(len(points))
    least = np.inf
    for size in range(1, len(points) + 1):
        for chosen in combinations(range(len(points)), size):
            first, *others = points[list(chosen)]
            shares = np.ones(1)
            if others:
                rest = np.linalg.lstsq((np.array(others) - first).T, wanted - first, rcond=None)[0]
                shares = np.array([1 - rest.sum(), *rest])
            distance = float(np.square(shares @ points[list(chosen)] - wanted).sum())
            if (shares >= 0).all() and distance < least - 1e-12:
                best, least = np.zeros(len(points)), distance
                best[list(chosen)] = shares
    return best
