import math

import numpy as np
import pytest

from poker.evaluation.statistics import estimate, running, t_quantile


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (10, 2.228), (11, 2.201), (30, 2.042), (120, 1.980)])
def test_quantiles_of_student_t(freedom: int, quantile: float) -> None:
    """Tabulated values."""
    assert t_quantile(freedom) == pytest.approx(quantile, abs=6e-4)


def test_estimate_of_known_numbers() -> None:
    found = estimate([1.0, 2.0, 3.0, 4.0])
    assert (found.mean, found.n) == (2.5, 4)
    assert found.sd == pytest.approx(math.sqrt(5 / 3))
    assert found.half_width == pytest.approx(3.1824 * math.sqrt(5 / 3) / 2)
    assert (found.low, found.high) == (2.5 - found.half_width, 2.5 + found.half_width)
    assert f"{found:,}" == "+2.5 ± 2.1"


def test_no_interval_from_fewer_than_two_units() -> None:
    assert math.isinf(estimate([3.0]).half_width)
    assert f"{estimate([3.0])}" == "+3.0"
    assert f"{estimate([])}" == "-"


@pytest.mark.parametrize("units", [5, 30, 200])
def test_intervals_cover_a_known_edge(units: int) -> None:
    """1,000 simulated matches with the skewed results of small pots and rare large ones: 93 to 97% coverage.

    With 5 units of a normal result, where the t interval is exact; with more units of a skewed one.
    """
    rng = np.random.default_rng(units)
    edge = 0.4
    inside = 0
    for _ in range(1000):
        noise = rng.normal(0, 3, units) if units < 30 else rng.laplace(0, 2, units) + rng.normal(0, 2, units)
        found = estimate(edge + noise)
        inside += found.low <= edge <= found.high
    assert 930 <= inside <= 970


def test_running_means_end_in_the_estimate() -> None:
    values = np.random.default_rng(1).normal(5, 2, 1000)
    counts, means, widths = running(values, 50)
    for i in (0, 20, -1):
        found = estimate(values[: counts[i]])
        assert means[i] == pytest.approx(found.mean)
        assert widths[i] == pytest.approx(found.half_width)
    assert counts[-1] == 1000
    assert running([1.0], 10)[0].size == 0
