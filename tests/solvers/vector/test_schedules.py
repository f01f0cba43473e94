"""Parameters of schedules, iteration by iteration."""

from typing import Any

import numpy as np
import pytest

from poker.solvers.vector.schedules import Schedule, schedule


@pytest.mark.parametrize("name", ["apdcfr", "apdcfr_short"])
def test_a_prediction_carries_what_the_next_iteration_keeps(name: str) -> None:
    """carry_t is positive_t+1 = t^alpha / (t^alpha + 1): what is predicted is the regret of the next iteration."""
    parameters, alpha = schedule(name).parameters(1, 9), schedule(name).alpha
    assert alpha is not None
    np.testing.assert_allclose(parameters[:, 3], [t**alpha / (t**alpha + 1) for t in range(1, 10)], rtol=1e-6)
    np.testing.assert_array_equal(parameters[:-1, 3], parameters[1:, 0])


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1] * 9),
        ({"delay": 3}, [0] * 3 + [1] * 6),
        ({"delay": 3, "gamma": 1.0}, [0] * 3 + [k / 6 for k in range(1, 7)]),
        ({"gamma": 1.0}, [k / 9 for k in range(1, 10)]),
    ],
)
def test_weights_of_iterations_in_the_average(options: dict[str, Any], expected: list[float]) -> None:
    weights = Schedule("cfr", **options).parameters(1, 9)[:, 5]
    assert weights / weights[-1] == pytest.approx(expected, abs=1e-6)
    assert weights.min() > 0


@pytest.mark.parametrize("name", ["cfr_plus", "dcfr", "apdcfr"])
def test_no_sum_leaves_float32(name: str) -> None:
    """Neither of the least reach after one iteration, whose inverse is finite, nor of reach 1 after a billion."""
    weights = schedule(name).parameters(1, 1)[0, 5], schedule(name).parameters(10**9, 1)[0, 5]
    assert np.isfinite(1 / (np.float32(1e-45) * weights[0]))
    assert np.isfinite(np.float32(1e9) * weights[1])


def test_beta_is_an_exponent_of_negative_regrets() -> None:
    """Discounts t^alpha / (t^alpha + 1), t^beta / (t^beta + 1) of what was there after t = 1, 2, 4 iterations."""
    root = 2**0.5
    for name, options, expected in (
        ("dcfr", {}, [1 / 2, 1 / 2, 1 / 2]),
        ("dcfr", {"beta": 0.5}, [1 / 2, root / (root + 1), 2 / 3]),
        ("dcfr", {"beta": -0.5}, [1 / 2, 1 / (root + 1), 1 / 3]),
        ("apdcfr", {}, [1 / 2, 2**0.25 / (2**0.25 + 1), root / (root + 1)]),
        ("apdcfr_short", {}, [1 / 2, root / (root + 1), 2 / 3]),
    ):
        columns = schedule(name, **options).parameters(2, 4)[[0, 1, 3]]
        np.testing.assert_allclose(columns[:, 1], expected, rtol=1e-6)
        alpha = schedule(name).alpha
        assert alpha is not None
        np.testing.assert_allclose(columns[:, 0], [t**alpha / (t**alpha + 1) for t in (1, 2, 4)], rtol=1e-6)
