"""Frequencies from counts, and the confidence in them: the one estimate of all models of players.

    f = (n f_seen + w f_prior) / (n + w)        c = (n + 3/4 w c_prior) / (n + w)

where n observations have frequencies f_seen, and a prior, that of a coarser context or of the population, counts
like w of them (the mean of a Dirichlet distribution). Three quarters of a confidence that is borrowed count.
"""

import numpy as np

from poker.types import Floats, Reals

_BORROWED = 0.75


def mixed(seen: Reals, prior: Reals, weight: Reals | float) -> Floats:
    """Frequencies [..., n] of what was `seen` [..., n], with `weight` observations of the frequencies `prior`."""
    counts = np.asarray(seen, np.float64)
    found: Floats = (counts + weight * prior) / (counts.sum(axis=-1, keepdims=True) + weight)
    return found


def confidence(number: Reals | float, weight: float, prior: Reals | float = 0.0) -> Floats:
    """Confidence after `number` [...] observations, where that in the prior is `prior`."""
    found: Floats = (np.asarray(number, np.float64) + weight * _BORROWED * prior) / (number + weight)
    return found
