"""Means of independent units with Student-t confidence intervals.

In a duplicate match the unit is a deal (or a session of deals): the mean over its seatings, so that the luck of the
cards cancels within the unit and units are independent.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

_T_975 = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060, 2.2622, 2.2281)
"""Quantiles of Student's t for 1 to 10 degrees of freedom."""


@dataclass(frozen=True)
class Estimate:
    """A mean of `n` independent units; `half_width` of its 95% interval and `sd` of a unit are inf for n < 2."""

    mean: float
    half_width: float
    sd: float
    n: int

    @property
    def low(self) -> float:
        return self.mean - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.half_width

    def __format__(self, spec: str) -> str:
        """Mean and interval to a tenth; `,` groups thousands."""
        if not self.n:
            return "-"
        width = f" ± {self.half_width:{spec}.1f}" if math.isfinite(self.half_width) else ""
        return f"{self.mean:+{spec}.1f}{width}"


def t_quantile(freedom: int) -> float:
    """The 97.5% quantile of Student's t; Cornish-Fisher expansion above 10 degrees of freedom (error below 1e-4)."""
    if freedom <= len(_T_975):
        return _T_975[freedom - 1]
    z = NormalDist().inv_cdf(0.975)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def estimate(units: ArrayLike) -> Estimate:
    """Mean and interval of independent units [n]."""
    values = np.asarray(units, dtype=np.float64)
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else 0.0, math.inf, math.inf, n)
    sd = float(values.std(ddof=1))
    return Estimate(float(values.mean()), t_quantile(n - 1) * sd / math.sqrt(n), sd, n)


def running(units: ArrayLike, points: int) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Counts, means and half-widths [points] of growing prefixes of the units, from 2 units on."""
    values = np.asarray(units, dtype=np.float64)
    if len(values) < 2:
        return np.empty(0, dtype=np.int64), np.empty(0), np.empty(0)
    counts = np.unique(np.linspace(2, len(values), points).astype(np.int64))
    means = np.cumsum(values)[counts - 1] / counts
    squares = np.cumsum((values - values.mean()) ** 2)[counts - 1]
    variances = np.maximum(squares - counts * (means - values.mean()) ** 2, 0.0) / (counts - 1)
    quantiles = np.array([t_quantile(int(count) - 1) for count in counts])
    return counts, means, quantiles * np.sqrt(variances / counts)
