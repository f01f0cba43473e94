"""Members of the CFR family as schedules of one update rule.

In iteration t = 1, 2, ... regrets become R = max(R * (positive_t if R > 0 else negative_t) + r, floor) with the new
regrets r. The next strategy is proportional to the positive part of R, or with prediction to that of carry_t * R +
prediction * r. The average strategy weights iteration k by k^gamma (k at most 100,000) times the player's reach.

- cfr_plus: floor 0, gamma 1 (Tammelin 2014); `delay` iterations are excluded from the average.
- dcfr(alpha, beta, gamma): positive_t = (t-1)^alpha / ((t-1)^alpha + 1), negative_t with beta (Brown and Sandholm 2019,
  whose gamma is 2). With gamma 4 it needs 8% fewer iterations on ten spots.
- apdcfr: DCFR that predicts with a short step. With these parameters it needs 0.71 to 0.90 of DCFR's iterations on ten
  spots, and 50% more memory.
- apdcfr_short: for real-time solves (`search=demo`), which stop at 1% of the pot. There it needs 0.8 to 0.9 of the
  iterations of alpha 1.35 and prediction 0.15 with the same beta (docs/results/turns).

Linear CFR, PCFR+, PDCFR+, the CFR+ of Modicum and hyperparameter schedules were compared with these and were slower
(docs/vector_engine.md).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from poker.kernels.types import Floats, Singles
from poker.run.errors import PokernetsError

NO_FLOOR = -3.0e38
_EXCLUDED_WEIGHT, _MAX_WEIGHT = 1.0, 1e28
"""Weights in the average: of an excluded iteration, which counts until the first included one, and the largest weight.
Sums of reach times weight then stay within float32, even with a reach of 1e-45 or a billion iterations."""
_GROWTH_ITERATIONS = 100_000
"""Number of iterations during which weights grow."""


@dataclass(frozen=True)
class Schedule:
    """The parameters of one member of the CFR family.

    Attributes:
        name: name of the algorithm.
        alpha: exponent that discounts positive regrets; None for no discount.
        beta: exponent that discounts negative regrets, may be -inf; None for no discount.
        gamma: exponent of the iteration's weight in the average strategy.
        floor: set negative regrets to 0.
        prediction: weight of the last regrets in the predicted regrets; 0 for no prediction.
        delay: first iterations that are excluded from the average.
    """

    name: str
    alpha: float | None = None
    beta: float | None = None
    gamma: float = 0.0
    floor: bool = False
    prediction: float = 0.0
    delay: int = 0

    @property
    def predictive(self) -> bool:
        """Whether the schedule predicts regrets."""
        return self.prediction != 0.0

    def parameters(self, first: int, count: int) -> Singles:
        """Return the parameters of several iterations.

        Args:
            first: first iteration, from 1.
            count: number of iterations.

        Returns:
            float32 [count, 6] with the columns of `poker.kernels.vector.decisions`.
        """
        t = np.arange(first, first + count, dtype=np.float64)
        out = np.empty((count, 6))
        out[:, 0] = _discount(self.alpha, t - 1)
        out[:, 1] = _discount(self.beta, t - 1)
        out[:, 2] = 0.0 if self.floor else NO_FLOOR
        out[:, 3] = _discount(self.alpha, t)
        out[:, 4] = self.prediction
        age = np.clip(t - self.delay, 1, _GROWTH_ITERATIONS) / _GROWTH_ITERATIONS
        out[:, 5] = np.where(t > self.delay, _MAX_WEIGHT * age**self.gamma, _EXCLUDED_WEIGHT)
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
    """Return a schedule by name.

    Args:
        algorithm: a name in `SCHEDULES`, or a schedule, which is returned unchanged.
        **options: parameters to change, such as alpha, beta, gamma and delay.

    Raises:
        PokernetsError: the name or an option is unknown, or an option is not a number.
    """
    if isinstance(algorithm, Schedule):
        return algorithm
    if algorithm not in SCHEDULES:
        raise PokernetsError(f"unknown algorithm `{algorithm}`: choose one of {', '.join(SCHEDULES)}")
    for name, value in options.items():
        if not isinstance(value, int | float):
            raise PokernetsError(f"solver `{algorithm}`: {name} must be a number, not {value!r}")
    try:
        return Schedule(algorithm, **{**SCHEDULES[algorithm], **options})
    except TypeError as error:
        raise PokernetsError(f"solver `{algorithm}`: {error}") from None
