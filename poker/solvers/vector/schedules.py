"""Members of the CFR family as schedules of one update rule.

In iteration t = 1, 2, ... regrets become R = max(R * (positive_t if R > 0 else negative_t) + r, floor) with the new
regrets r; the next strategy is proportional to the positive part of R, or, predictive, of carry_t * R + prediction * r.
The average strategy weighs iteration k <= t by (k / t)^gamma times the player's reach.

- cfr: no discount, uniform average (Zinkevich et al. 2007).
- cfr_plus: floor 0, gamma 1 (Tammelin 2014); `delay` iterations are left out of the average.
- modicum: the enhanced CFR+ of Modicum's last two rounds ([DLS] appendix A): floor 0, regrets discounted by
  sqrt(t-1) / (sqrt(t-1) + 1) in the first 30 iterations, gamma 2. Its constants are quoted from memory: the appendix is
  not part of the text that the other citations were checked against.
- linear: regrets and averages weighted by t (Brown and Sandholm 2019).
- dcfr(alpha, beta, gamma): positive_t = (t-1)^alpha / ((t-1)^alpha + 1), negative_t with beta (same paper, whose
  gamma is 2; 4 needs 8% fewer iterations on ten spots, docs/results/vector_algorithms.json).
- pcfr_plus: floor 0, prediction 1, gamma 2 (Farina, Kroer, Sandholm 2021).
- pdcfr_plus(alpha, gamma): discounted and predictive (Xu et al. 2024).
- apcfr_plus(prediction): predictive with a shortened step (asymmetric prediction, arXiv 2503.12770).
- apdcfr: DCFR that predicts with a short step. With the parameters here it needs 0.71 to 0.90 of DCFR's iterations on
  ten spots (docs/results/vector_algorithms.json), for half as much memory again.
- apdcfr_short: the same with beta 0.5, for real-time solves (`search=demo`): in the first 100 iterations it is ahead on
  turns, and on flops to a depth limit and on rivers no worse.
- hs_dcfr, hs_pcfr_plus: hyperparameter schedules (arXiv 2404.09097): in iteration t exponents are their first value
  plus `rise` * min(t / horizon, 1).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.errors import PokernetsError

NO_FLOOR = -3.0e38


@dataclass(frozen=True)
class Schedule:
    """`alpha` and `beta` discount positive and negative regrets as exponents (None: no discount; beta may be -inf) in
    the first `discounted` iterations, with `floor` negative regrets are forgotten, `linear` weighs regrets by t;
    `gamma` and `delay` shape the average."""

    name: str
    alpha: float | None = None
    beta: float | None = None
    gamma: float = 0.0
    floor: bool = False
    linear: bool = False
    prediction: float = 0.0
    delay: int = 0
    discounted: float = np.inf
    alpha_rise: float = 0.0
    beta_rise: float = 0.0
    gamma_rise: float = 0.0
    horizon: int = 1000

    @property
    def predictive(self) -> bool:
        return self.prediction != 0.0

    def parameters(self, first: int, count: int) -> NDArray[np.float32]:
        """[count, 6] of iterations first.. (from 1), in the columns of poker.kernels.vector.decisions."""
        t = np.arange(first, first + count, dtype=np.float64)
        out = np.empty((count, 6))
        out[:, 0] = self._discount(self.alpha, self.alpha_rise, t - 1)
        out[:, 1] = self._discount(self.beta, self.beta_rise, t - 1)
        out[:, 2] = 0.0 if self.floor else NO_FLOOR
        out[:, 3] = self._discount(self.alpha, self.alpha_rise, t)
        out[:, 4] = self.prediction
        out[:, 5] = self._decay(t)
        return out.astype(np.float32)

    def _discount(self, exponent: float | None, rise: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.linear:
            return t / (t + 1)
        if exponent is None:
            return np.ones_like(t)
        if exponent == -np.inf:
            return np.zeros_like(t)
        power = np.maximum(t, 1e-9) ** self._exponent(exponent, rise, t)
        return np.where(t < self.discounted, power / (power + 1), 1.0)

    def _exponent(self, first: float, rise: float, t: NDArray[np.float64]) -> NDArray[np.float64]:
        return first + rise * np.minimum(t / self.horizon, 1.0)

    def _decay(self, t: NDArray[np.float64]) -> NDArray[np.float64]:
        since = np.maximum(t - self.delay, 0.0)
        before = np.maximum(since - 1, 0.0)
        gamma = self._exponent(self.gamma, self.gamma_rise, t)
        return np.where(since > 1, (before / np.maximum(since, 1.0)) ** gamma, 0.0)


SCHEDULES: dict[str, dict[str, Any]] = {
    "cfr": {},
    "cfr_plus": {"floor": True, "gamma": 1.0},
    "modicum": {"alpha": 0.5, "floor": True, "gamma": 2.0, "discounted": 30},
    "linear": {"linear": True, "gamma": 1.0},
    "dcfr": {"alpha": 1.5, "beta": 0.0, "gamma": 4.0},
    "pcfr_plus": {"floor": True, "prediction": 1.0, "gamma": 2.0},
    "pdcfr_plus": {"alpha": 2.3, "floor": True, "prediction": 1.0, "gamma": 5.0},
    "apdcfr": {"alpha": 1.35, "beta": 0.25, "gamma": 4.0, "prediction": 0.15},
    "apdcfr_short": {"alpha": 1.35, "beta": 0.5, "gamma": 4.0, "prediction": 0.15},
    "apcfr_plus": {"floor": True, "prediction": 1 / 3, "gamma": 3.0},
    "hs_dcfr": {"alpha": 1.0, "beta": -1.0, "gamma": 30.0, "alpha_rise": 3.0, "beta_rise": -2.0, "gamma_rise": -5.0},
    "hs_pcfr_plus": {"floor": True, "prediction": 1.0, "gamma": 30.0, "gamma_rise": -5.0},
}
"""Options of each schedule by its name."""


def schedule(algorithm: "str | Schedule", **options: object) -> Schedule:
    """The schedule by its name, with options such as alpha, beta, gamma, delay."""
    if isinstance(algorithm, Schedule):
        return algorithm
    if algorithm not in SCHEDULES:
        raise PokernetsError(f"unknown algorithm `{algorithm}`: choose one of {', '.join(SCHEDULES)}")
    for name, value in options.items():
        if not isinstance(value, int | float):
            raise PokernetsError(f"solver `{algorithm}`: {name} is a number, not {value!r}")
    try:
        return Schedule(algorithm, **{**SCHEDULES[algorithm], **options})
    except TypeError as error:
        raise PokernetsError(f"solver `{algorithm}`: {error}") from None
