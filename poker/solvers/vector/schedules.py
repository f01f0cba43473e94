"""Members of the CFR family as schedules of one update rule.

In iteration t = 1, 2, ... regrets become R = max(R * (positive_t if R > 0 else negative_t) + r, floor) with the new
regrets r; the next strategy is proportional to the positive part of R, or, predictive, of carry_t * R + prediction * r.
The average strategy weighs iteration k by k^gamma (k at most 100,000) times the player's reach.

- cfr_plus: floor 0, gamma 1 (Tammelin 2014); `delay` iterations are left out of the average.
- dcfr(alpha, beta, gamma): positive_t = (t-1)^alpha / ((t-1)^alpha + 1), negative_t with beta (Brown and Sandholm 2019,
  whose gamma is 2; 4 needs 8% fewer iterations on ten spots).
- apdcfr: DCFR that predicts with a short step. With the parameters here it needs 0.71 to 0.90 of DCFR's iterations on
  ten spots, for half as much memory again.
- apdcfr_short: for real-time solves (`search=demo`), which end at 1% of the pot: there it needs 0.8 to 0.9 of the
  iterations that alpha 1.35 and prediction 0.15 do with the same beta (docs/results/turns).

Linear CFR, PCFR+, PDCFR+, the CFR+ of Modicum and hyperparameter schedules were compared with these and lost
(docs/vector_engine.md).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poker.kernels.types import Floats, Singles
from poker.run.errors import PokernetsError

NO_FLOOR = -3.0e38
_LEFT_OUT, _LARGEST = 1.0, 1e28
"""Weights in the average: of an iteration that it leaves out, which counts until one comes that it does not, and the
largest. With these no sum of reach times weight leaves float32, be the reach 1e-45 or the iterations a billion."""
_GROWING = 100_000
"""Iterations in which weights grow."""


@dataclass(frozen=True)
class Schedule:
    """`alpha` and `beta` discount positive and negative regrets as exponents (None: no discount; beta may be -inf);
    `floor` sets negative regrets to 0; `gamma` and `delay` shape the average."""

    name: str
    alpha: float | None = None
    beta: float | None = None
    gamma: float = 0.0
    floor: bool = False
    prediction: float = 0.0
    delay: int = 0

    @property
    def predictive(self) -> bool:
        return self.prediction != 0.0

    def parameters(self, first: int, count: int) -> Singles:
        """[count, 6] of iterations first.. (from 1), in the columns of poker.kernels.vector.decisions."""
        t = np.arange(first, first + count, dtype=np.float64)
        out = np.empty((count, 6))
        out[:, 0] = _discount(self.alpha, t - 1)
        out[:, 1] = _discount(self.beta, t - 1)
        out[:, 2] = 0.0 if self.floor else NO_FLOOR
        out[:, 3] = _discount(self.alpha, t)
        out[:, 4] = self.prediction
        age = np.clip(t - self.delay, 1, _GROWING) / _GROWING
        out[:, 5] = np.where(t > self.delay, _LARGEST * age**self.gamma, _LEFT_OUT)
        return out.astype(np.float32)


def _discount(exponent: float | None, t: Floats) -> Floats:
    if exponent is None:
        return np.ones_like(t)
    if exponent == -np.inf:
        return np.zeros_like(t)
    power = np.maximum(t, 1e-9) ** exponent
    return power / (power + 1)


SCHEDULES: dict[str, dict[str, Any]] = {
    "cfr_plus": {"floor": True, "gamma": 1.0},
    "dcfr": {"alpha": 1.5, "beta": 0.0, "gamma": 4.0},
    "apdcfr": {"alpha": 1.35, "beta": 0.25, "gamma": 4.0, "prediction": 0.15},
    "apdcfr_short": {"alpha": 1.1, "beta": 0.5, "gamma": 4.0, "prediction": 0.3},
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
