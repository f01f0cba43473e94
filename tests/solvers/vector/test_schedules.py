"""Parameters of schedules, iteration by iteration."""

import numpy as np
import pytest

from poker.solvers.vector.schedules import schedule


def test_modicum_discounts_its_first_iterations_alone() -> None:
    positive = schedule("modicum").parameters(1, 40)[:, 0]
    past = np.sqrt(np.arange(30))
    assert positive[:30] == pytest.approx(past / (past + 1), abs=1e-4)
    assert (positive[30:] == 1).all()
    assert schedule("dcfr").parameters(1000, 1)[0, 0] < 1


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, [1] * 9),
        ({"delay": 3}, [0] * 3 + [1] * 6),
        ({"delay": 3, "gamma": 1.0}, [0] * 3 + [k / 6 for k in range(1, 7)]),
        ({"gamma_rise": 1.0, "horizon": 1}, [k / 9 for k in range(1, 10)]),
    ],
)
def test_weights_of_iterations_in_the_average(options: dict[str, float], expected: list[float]) -> None:
    decay = schedule("cfr", **options).parameters(1, 9)[:, 5]
    weights = [float(np.prod(decay[k:])) for k in range(1, 10)]
    assert weights == pytest.approx(expected, abs=1e-6)
