"""Remedies for responses that do better against the blueprint than the blueprint does ([DLS] section 4).

Values are those of player 0, by clusters of hands: [L, C, C]. Symbols: L leaves, C clusters.
"""

import numpy as np
from numpy.typing import NDArray


def infoset_gains(
    difference: NDArray[np.float32], opponent: int, beliefs: NDArray[np.float64], pairs: NDArray[np.floating]
) -> NDArray[np.float32]:
    """[L, C] what the opponent's infosets at leaves gain by values that differ so much.

    `beliefs` [L, C] is how likely each hand of a cluster of the searcher comes there, `pairs` [C, C] counts compatible
    hands of two clusters.
    """
    gains, searcher = difference.astype(np.float64), 1 - opponent
    if opponent == 1:
        gains = -gains
    weights = np.expand_dims(beliefs, 2 - searcher) * pairs
    mass = weights.sum(axis=1 + searcher)
    means = (weights * gains).sum(axis=1 + searcher) / np.where(mass > 0, mass, 1)
    return np.asarray(means, np.float32)


def lowered(values: NDArray[np.float32], opponent: int, taken: NDArray[np.float32]) -> NDArray[np.float32]:
    """`values` [L, C, C] after `taken` [L, C] chips are taken off the opponent's hands."""
    found: NDArray[np.float32] = values - taken[:, :, None] if opponent == 0 else values + taken[:, None]
    return found


def reached(reach: NDArray[np.floating], clusters: NDArray[np.int32]) -> NDArray[np.float64]:
    """[C] mean reach of the hands of a cluster, from that of hands [H]; all alike where no hand comes."""
    sums = np.bincount(clusters, reach)
    return np.asarray(sums / np.bincount(clusters) if sums.any() else np.ones(len(sums)), np.float64)
