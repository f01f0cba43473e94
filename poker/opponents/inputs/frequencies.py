"""Frequencies from counts, and the confidence in them: the one estimate that all models of players use.

The estimate is the mean of a Dirichlet distribution::

    f = (n f_seen + w f_prior) / (n + w)        c = (n + 3/4 w c_prior) / (n + w)

Here n observations have frequencies f_seen. The prior comes from a coarser context or from the population, and counts
like w observations. A prior's confidence counts three quarters. If observations are counted at several levels of
detail, each level is the prior of the next.

The best weight of a population's prior depends on the player: a player who never mixes is known after one action per
context. So the weight is a mixture over `WEIGHTS`. The share of each weight is learned in training and then updated by
how well it predicts the player's actions.

Symbols: W weights.
"""

from collections.abc import Iterable

import numpy as np

from poker.kernels.types import Floats, Reals

_BORROWED = 0.75
WEIGHTS: Floats = np.array([0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])
"""[W] weights of a prior, in actions of a context."""


def mixed(seen: Reals, prior: Reals, weight: Reals | float) -> Floats:
    """Combine observed counts with prior frequencies.

    Args:
        seen: [..., n] counts.
        prior: [..., n] prior frequencies.
        weight: number of observations that the prior counts like; broadcast against [..., n].

    Returns:
        [..., n] frequencies.
    """
    counts = np.asarray(seen, np.float64)
    frequencies: Floats = (counts + weight * prior) / (counts.sum(axis=-1, keepdims=True) + weight)
    return frequencies


def by_levels(counts: Floats, prior: Floats, weight: float, levels: Iterable[tuple[int, ...]]) -> tuple[Floats, Floats]:
    """Estimate frequencies and their confidence from coarse levels of detail to fine ones.

    Args:
        counts: [..., n] counts.
        prior: [..., n] prior frequencies of the first level, with confidence 0.
        weight: number of observations that each level counts like in the next.
        levels: axes of `counts` that each level distinguishes, from coarse to fine.

    Returns:
        [..., n] frequencies and [...] confidence.
    """
    frequencies, sure = prior, np.zeros((1,) * (counts.ndim - 1))
    for apart in levels:
        seen = counts.sum(axis=tuple(axis for axis in range(counts.ndim - 1) if axis not in apart), keepdims=True)
        frequencies = mixed(seen, frequencies, weight)
        sure = confidence(seen.sum(axis=-1), weight, sure)
    return frequencies, sure


def by_weight(seen: Reals, prior: Reals) -> Floats:
    """Combine observed counts with prior frequencies, once for each of `WEIGHTS`.

    Args:
        seen: [..., n] counts.
        prior: [..., n] prior frequencies.

    Returns:
        [..., W, n] frequencies.
    """
    return mixed(np.expand_dims(seen, -2), np.expand_dims(prior, -2), WEIGHTS[:, None])


def share_of_weights(shares: Floats, explained: Floats) -> Floats:
    """Compute the posterior probability of each weight for a player.

    Args:
        shares: [W] prior share of each weight among players.
        explained: [..., W] log-likelihood of the player's actions.

    Returns:
        [..., W] posterior.
    """
    odds = shares * np.exp(explained - explained.max(axis=-1, keepdims=True))
    posterior: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return posterior


def confidence(number: Reals | float, weight: float, prior: Reals | float = 0.0) -> Floats:
    """Compute the confidence after a number of observations.

    Args:
        number: [...] number of observations.
        weight: number of observations that the prior counts like.
        prior: [...] confidence in the prior.

    Returns:
        [...] confidence from 0 to 1.
    """
    sure: Floats = (np.asarray(number, np.float64) + weight * _BORROWED * prior) / (number + weight)
    return sure
