"""Frequencies from counts, and the confidence in them: the one estimate of all models of players.

    f = (n f_seen + w f_prior) / (n + w)        c = (n + 3/4 w c_prior) / (n + w)

where n observations have frequencies f_seen, and a prior, that of a coarser context or of the population, counts
like w of them (the mean of a Dirichlet distribution). Three quarters of a confidence that is borrowed count. Where
observations are counted at several levels of detail, each level is the prior of the next.

What a prior from elsewhere weighs depends on the player: one who never mixes is known after one action in a context.
So the weight is a mixture: a share of players for each of `WEIGHTS`, learned where the prior was, times how well a
player's actions so far were predicted with that weight.

Symbols: W weights.
"""

from collections.abc import Iterable

import numpy as np

from poker.kernels.types import Floats, Reals

_BORROWED = 0.75
WEIGHTS: Floats = np.array([0.25, 1.0, 4.0, 16.0, 64.0, 256.0, 1024.0])
"""[W] in actions of a context."""


def mixed(seen: Reals, prior: Reals, weight: Reals | float) -> Floats:
    """Frequencies [..., n] of what was `seen` [..., n], with `weight` observations of the frequencies `prior`."""
    counts = np.asarray(seen, np.float64)
    frequencies: Floats = (counts + weight * prior) / (counts.sum(axis=-1, keepdims=True) + weight)
    return frequencies


def by_levels(counts: Floats, prior: Floats, weight: float, levels: Iterable[tuple[int, ...]]) -> tuple[Floats, Floats]:
    """Frequencies [..., n] from `counts` [..., n], and the confidence [...] in them, by `levels` from coarse to fine,
    each the axes that are told apart; `prior` [..., n] is that of the first, in which the confidence is 0."""
    frequencies, sure = prior, np.zeros((1,) * (counts.ndim - 1))
    for apart in levels:
        seen = counts.sum(axis=tuple(axis for axis in range(counts.ndim - 1) if axis not in apart), keepdims=True)
        frequencies = mixed(seen, frequencies, weight)
        sure = confidence(seen.sum(axis=-1), weight, sure)
    return frequencies, sure


def by_weight(seen: Reals, prior: Reals) -> Floats:
    """[..., W, n] frequencies of what was `seen` [..., n] with the prior [..., n] for each of `WEIGHTS`."""
    return mixed(np.expand_dims(seen, -2), np.expand_dims(prior, -2), WEIGHTS[:, None])


def share_of_weights(shares: Floats, explained: Floats) -> Floats:
    """[..., W] posterior of the weights of a player, from `shares` [W] of players and log-likelihoods [..., W]."""
    odds = shares * np.exp(explained - explained.max(axis=-1, keepdims=True))
    posterior: Floats = odds / odds.sum(axis=-1, keepdims=True)
    return posterior


def confidence(number: Reals | float, weight: float, prior: Reals | float = 0.0) -> Floats:
    """Confidence after `number` [...] observations, where that in the prior is `prior`."""
    sure: Floats = (np.asarray(number, np.float64) + weight * _BORROWED * prior) / (number + weight)
    return sure
