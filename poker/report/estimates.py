"""Means of independent units with 95% intervals.

In a duplicate match the unit is a deal (or a session of deals): the mean over its seatings, so that the luck of the
cards cancels within the unit and units are independent.

Student's t is exact for normal units; results of poker are not: a few deals with all the chips in them make most of the
spread, and samples that hold too few of these have a mean and a spread too small at once. So each end of an interval is
the wider of that of Student's t and that of Hall's transformation, which allows for the skewness g of the sample (P.
Hall, On the removal of skewness by transformation, J. R. Stat. Soc. B 54, 1992): for n units and T = (their mean - true
mean) / sd, T + g T^2 / 3 + g^2 T^3 / 27 + g / 6n is closer to normal than T is. No sample tells of large deals that it
does not hold: see `FEW_UNITS`, and docs/results/intervals for what was measured.
"""

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from poker.kernels.types import Floats

ERROR = 0.05
"""Probability with which an interval misses the true mean."""

FEW_UNITS = 400
"""Deals below which intervals of matches may be too narrow, and before which none stops.

Of 54 results of our agents, intervals held the true mean in 93% of the matches or more for 44 after 50 deals, 50 after
100, 51 after 200, 52 after 400, and all after 1,000.
"""

FEW_LARGE = 15
"""Large results of one sign below which an interval may be too narrow: see `Estimate.large`.

Of simulated matches of 1,000 deals it warns of 97% with lognormal results of sigma 2.5 (coverage 89%) and of 88% with
sigma 2 (93%); of 400 deals as skewed as our agents' (97%) it warns of 6%, of normal and exponential ones of none.
"""

FEW_EQUAL = 1000
"""Equal units below which nothing is known of their spread: a result that comes once in 300 is not among 400 of them in
a quarter of all cases, and not among 1,000 in one of 28."""

SETTLING = 10
"""Units from which on running means are told."""
_ROUNDING = 1e-9
"""An interval so narrow is the rounding of exact values."""
_FEW_DEGREES = 30
"""Degrees of freedom up to which the distribution of Student's t is summed exactly."""


@dataclass(frozen=True)
class Estimate:
    """A mean of `n` independent units and its 95% interval.

    `half_width` is half the length of the interval, whose middle is `shift` above the mean. It is inf where the units
    do not tell it: for n < 2, where `sd` of a unit is inf too, and for fewer than `FEW_EQUAL` units that are equal.
    `large` is n / skewness^2, the number of large results: k of one size and sign, the others 0, give about k.
    """

    mean: float
    half_width: float
    sd: float
    n: int
    shift: float = 0.0
    large: float = math.inf

    @property
    def low(self) -> float:
        return self.mean + self.shift - self.half_width

    @property
    def high(self) -> float:
        return self.mean + self.shift + self.half_width

    @property
    def has_interval(self) -> bool:
        return math.isfinite(self.half_width)

    @property
    def has_few_large(self) -> bool:
        """Whether so few of the units are large, with one sign, that the interval may be too narrow, or is unknown."""
        return self.large < FEW_LARGE or not self.has_interval

    def __str__(self) -> str:
        return format(self)

    def __format__(self, sign: str) -> str:
        """Mean and interval to two figures of the interval's half-width, the latter by its ends where the mean is not
        about in its middle; without an interval four figures of the mean, with `± ?` if it has one that is not known.
        `+` gives positive means their sign."""
        if not self.n:
            return "-"
        if not _ROUNDING < self.half_width < math.inf:
            unknown = " ± ?" if self.n > 1 else ""
            return number_text(round(self.mean, 9) + 0.0, sign) + (unknown if not self.has_interval else " ± 0")
        digits = max(0, 1 - math.floor(math.log10(self.half_width)))
        mean, width, low, high = (
            f"{round(value, digits) + 0.0:{sign if i == 0 else ''},.{digits}f}"  # -0.0 + 0.0 is 0.0
            for i, value in enumerate((self.mean, self.half_width, self.low, self.high))
        )
        return f"{mean} ± {width}" if abs(self.shift) <= 0.05 * self.half_width else f"{mean} [{low}, {high}]"

    def interval(self) -> dict[str, Any]:
        """`half_width_95` and `interval_95`, [lower end, upper end], for a record; None where they are not known."""
        if not self.has_interval:
            return {"half_width_95": None, "interval_95": None}
        return {"half_width_95": self.half_width, "interval_95": [self.low, self.high]}

    def record(self) -> dict[str, Any]:
        """`mean` and the interval."""
        return {"mean": self.mean, **self.interval()}


def exact(value: float) -> Estimate:
    """A value that has no interval."""
    return Estimate(value, math.inf, math.inf, 1)


def number_text(value: float, sign: str = "") -> str:
    """Four figures, thousands grouped."""
    return f"{value:{sign},.4g}" if abs(value) < 1e4 else f"{value:{sign},.0f}"


def t_quantile(freedom: int, error: float = ERROR) -> float:
    """The quantile of Student's t that `error` / 2 exceed; exact to rounding up to `_FEW_DEGREES`, above which it is a
    Cornish-Fisher expansion (off by less than 1e-4 for errors of .002 and more)."""
    if freedom <= _FEW_DEGREES:
        low, high = 0.0, math.pi / 2
        while low < (angle := (low + high) / 2) < high:
            low, high = (angle, high) if _t_within(angle, freedom) < 1 - error else (low, angle)
        return math.sqrt(freedom) * math.tan(angle)
    z = NormalDist().inv_cdf(1 - error / 2)
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def _t_within(angle: float, freedom: int) -> float:
    """Probability that |t| <= sqrt(freedom) tan(angle) (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    odd = freedom % 2
    term = total = math.cos(angle) if odd else 1.0
    for power in range(2 + odd, freedom - 1, 2):
        term *= math.cos(angle) ** 2 * (power - 1) / power
        total += term
    if not odd:
        return math.sin(angle) * total
    return 2 / math.pi * (angle + math.sin(angle) * (total if freedom > 1 else 0.0))


def estimate(units: ArrayLike, error: float = ERROR) -> Estimate:
    """Mean and interval of independent units [n], outside of which the true mean lies with probability `error`."""
    values = np.asarray(units, dtype=np.float64)
    n = len(values)
    if n < 2:
        return Estimate(float(values[0]) if n else 0.0, math.inf, math.inf, n)
    mean = values.mean()
    from_mean = values - mean
    squares, cubes = (float((from_mean**power).sum()) for power in (2, 3))
    sd = math.sqrt(squares / (n - 1))
    below, above = (sd * side for side in _sides(n, squares, cubes, error))
    if below + above <= 2 * _ROUNDING:
        return Estimate(float(mean), (below + above) / 2 if n >= FEW_EQUAL else math.inf, sd, n)
    large = squares**3 / cubes**2 if cubes else math.inf
    return Estimate(float(mean), (below + above) / 2, sd, n, (above - below) / 2, large)


def _sides(n: int, squares: float, cubes: float, error: float) -> tuple[float, float]:
    """How many sd the interval reaches below and above the mean of n units; sums of powers of deviations from it."""
    t = t_quantile(n - 1, error) / math.sqrt(n)
    variance = squares / n
    g = cubes / n / variance**1.5 if variance > 0 else 0.0
    if abs(g) < 1e-6:
        return t, t
    below, above = (float(3 / g * (np.cbrt(1 + g * (x - g / (6 * n))) - 1)) for x in (t, -t))
    return max(t, below), max(t, -above)


def difference(first: Floats, second: Floats) -> Estimate:
    """Mean of first less second, unit by unit: shared luck, such as the cards', cancels. The longer one is cut."""
    n = min(len(first), len(second))
    return estimate(first[:n] - second[:n])


def settling(units: Floats, points: int) -> list[tuple[int, Estimate]]:
    """How the mean settled: up to so many counts, from `SETTLING` on, and estimates of as many of the first units."""
    if len(units) < SETTLING:
        return []
    counts = sorted({round(n) for n in np.linspace(SETTLING, len(units), points)})
    return [(n, estimate(units[:n])) for n in counts]
