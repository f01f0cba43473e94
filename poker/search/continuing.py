"""What a model of the opponent plays beyond the depth limit: the mixture of the continuations that is nearest to it.

Continuations and model are compared by how often they fold, call and raise on each street to come, where nothing is
asked and where something is: the mixture with the least sum of squared differences.

Symbols: K continuations, S streets.
"""

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

_USUAL = (
    ((0.315, 0.437, 0.070), (0.313, 0.459, 0.067), (0.376, 0.525, 0.106)),
    ((0.315, 0.498, 0.062), (0.313, 0.541, 0.057), (0.376, 0.672, 0.084)),
    ((0.135, 0.381, 0.026), (0.144, 0.385, 0.032), (0.228, 0.374, 0.078)),
    ((0.552, 0.420, 0.169), (0.527, 0.437, 0.160), (0.552, 0.464, 0.225)),
)
"""[K, 3, 3] of bets where nothing is asked, folds and raises where something is, on flop, turn and river: those of a
laptop blueprint and its forms that fold, call and raise ten times as often, in 20,000 hands
(`tests.bench.continuation_frequencies`). Constants, because a bundle holds no strategy after the first round."""


_GIVES_UP = ((0.0, 1.0, 0.0),) * 3
"""The same of `poker.search.leaf.GivingUp`."""


def usual(gives_up: bool = False) -> Floats:
    """[K, 4, 2, 3] of the four continuations of [DLS] in hold'em, and of giving up."""
    bets, folds, raises = np.moveaxis(np.array((*_USUAL, _GIVES_UP) if gives_up else _USUAL), -1, 0)
    unasked, asked = np.stack([0 * bets, 1 - bets, bets], axis=-1), np.stack([folds, 1 - folds - raises, raises], -1)
    return np.pad(np.stack([unasked, asked], axis=2), ((0, 0), (1, 0), (0, 0), (0, 0)))


@dataclass(frozen=True, eq=False)
class Continuing:
    """`frequencies` [K, S, 2, 3] of fold, call and raise by continuation, street, and whether something is asked."""

    frequencies: Floats = field(default_factory=usual)

    def shares(self, later: Floats, street: int) -> Floats:
        """[K] the mixture nearest to `later` [n, 2, 3], on the n streets after `street`."""
        theirs = np.asarray(self.frequencies)[:, street + 1 :][:, : len(later)]
        return nearest_mixture(theirs.reshape(len(theirs), -1), later.ravel())


def nearest_mixture(points: Floats, wanted: Floats) -> Floats:
    """[K] shares, of sum 1, of `points` [K, n], so that their mean is nearest to `wanted` [n]; the fewest that do.

    The least squares without the condition that no share is negative, over every subset of the points.
    """
    best: Floats = np.zeros(len(points))
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
