"""Members of the CFR family that were compared with those of `poker.solvers.vector.schedules` and need more iterations.

- linear: regrets and averages weighted by t (Brown and Sandholm 2019), which is DCFR with exponents 1.
- modicum: the enhanced CFR+ of Modicum's last two rounds ([DLS] appendix A): floor 0, regrets discounted by
  sqrt(t-1) / (sqrt(t-1) + 1) in the first 30 iterations, gamma 2. Its constants are quoted from memory: the appendix is
  not part of the text that the other citations were checked against.
- pcfr_plus: floor 0, prediction 1, gamma 2 (Farina, Kroer, Sandholm 2021).
- pdcfr_plus: discounted and predictive (Xu et al. 2024).
- apcfr_plus: predictive with a shortened step (asymmetric prediction, arXiv 2503.12770).
- hs_dcfr, hs_pcfr_plus: hyperparameter schedules (arXiv 2404.09097): exponents go from a first to a last value in the
  first 1,000 iterations.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.solvers.vector.schedules import Schedule

Exponents = Callable[[int], Mapping[str, Any]]


@dataclass(frozen=True)
class Changing(Schedule):
    """A schedule whose exponents in iteration t are `exponents(t)`."""

    exponents: Exponents = field(kw_only=True)

    def parameters(self, first: int, count: int) -> NDArray[np.float32]:
        """[count, 6] as those of `Schedule`."""
        then = (replace(self, **self.exponents(t)) for t in range(first, first + count))
        return np.concatenate([Schedule.parameters(fixed, t, 1) for t, fixed in enumerate(then, first)])


def _risen(t: int) -> float:
    return min(t / 1000, 1.0)


def _hs_dcfr(t: int) -> Mapping[str, Any]:
    return {"alpha": 1 + 3 * _risen(t - 1), "beta": -1 - 2 * _risen(t - 1), "gamma": 30 - 5 * _risen(t)}


def _hs_pcfr_plus(t: int) -> Mapping[str, Any]:
    return {"gamma": 30 - 5 * _risen(t)}


def _modicum(t: int) -> Mapping[str, Any]:
    return {"alpha": 0.5 if t <= 30 else None}


LINEAR = Schedule("linear", alpha=1.0, beta=1.0, gamma=1.0)
MODICUM = Changing("modicum", floor=True, gamma=2.0, exponents=_modicum)
PCFR_PLUS = Schedule("pcfr_plus", floor=True, prediction=1.0, gamma=2.0)
PDCFR_PLUS = Schedule("pdcfr_plus", alpha=2.3, floor=True, prediction=1.0, gamma=5.0)
APCFR_PLUS = Schedule("apcfr_plus", floor=True, prediction=1 / 3, gamma=3.0)
HS_DCFR = Changing("hs_dcfr", exponents=_hs_dcfr)
HS_PCFR_PLUS = Changing("hs_pcfr_plus", floor=True, prediction=1.0, exponents=_hs_pcfr_plus)
COMPARED = (LINEAR, MODICUM, PCFR_PLUS, PDCFR_PLUS, APCFR_PLUS, HS_DCFR, HS_PCFR_PLUS)
