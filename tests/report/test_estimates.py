import math

import numpy as np
import pytest

from poker.report.estimates import FEW_EQUAL, SETTLING, Estimate, difference, estimate, exact, settling, t_quantile
from tests.report.skewed import SKEWED_MEAN, skewed_results


@pytest.mark.parametrize(("freedom", "quantile"), [(1, 12.706), (10, 2.228), (11, 2.201), (30, 2.042), (120, 1.980)])
def test_quantiles_of_student_t(freedom: int, quantile: float) -> None:
    """Tabulated values."""
    assert t_quantile(freedom) == pytest.approx(quantile, abs=6e-4)


@pytest.mark.parametrize(
    ("freedom", "quantile"),
    [(1, 63.656741), (2, 9.924843), (3, 5.840909), (10, 3.169273), (30, 2.749996), (31, 2.744042)],
)
def test_quantiles_of_other_errors_than_five_percent(freedom: int, quantile: float) -> None:
    """Tabulated values of 1%, which 10 sessions or fewer need as well, on both sides of the change of method."""
    assert t_quantile(freedom, error=0.01) == pytest.approx(quantile, rel=1e-5)


def test_estimate_of_three_numbers() -> None:
    result = estimate([1.0, 2.0, 3.0, 4.0])
    assert (result.mean, result.n) == (2.5, 4)
    assert result.sd == pytest.approx(math.sqrt(5 / 3))
    assert result.half_width == pytest.approx(3.182446 * math.sqrt(5 / 3) / 2)
    assert (result.low, result.high) == (2.5 - result.half_width, 2.5 + result.half_width)
    assert f"{result:+}" == "+2.5 ± 2.1"
    assert str(Estimate(-1e-9, 4.0, 1.0, 2)) == "0.0 ± 4.0"
    assert f"{Estimate(1234.0, 200.0, 1.0, 5, 50.0):+}" == "+1,234 [1,084, 1,484]"


def test_no_interval_from_fewer_than_two_units() -> None:
    assert math.isinf(estimate([3.0]).half_width)
    assert f"{estimate([3.0]):+}" == "+3"
    assert f"{estimate([])}" == "-"


def test_few_equal_results_have_an_unknown_spread() -> None:
    """A loss of 400 that comes once in 300 deals is missing from 400 of them in a quarter of all cases."""
    for units in ([5.0] * 3, [0.1] * 400, [-750.0] * (FEW_EQUAL - 1)):
        result = estimate(units)
        assert not result.has_interval
        assert result.has_few_large
        assert result.record()["half_width_95"] is None
        assert result.mean == pytest.approx(units[0])
        assert result.shift == 0.0
    assert str(estimate([5.0] * 3)) == "5 ± ?"
    assert f"{estimate([5.0] * FEW_EQUAL):+}" == "+5 ± 0"
    assert not any(result.has_interval for _, result in settling(np.full(30, 5.0), 10))


def test_few_large_results_are_seen() -> None:
    """Three of 1,000 deals have all the chips; then a heavy tail, and results whose intervals cover the mean."""
    few = estimate(np.repeat([-400.0, 0.0], [3, 997]))
    assert few.large == pytest.approx(3, rel=0.02)
    assert few.has_few_large
    rng = np.random.default_rng(8)
    rare, heavy = np.where(rng.random((200, 400)) < 1 / 300, -400.0, 0.0), rng.lognormal(0, 2.5, (200, 1000))
    for matches, mean, held in ((rare, -4 / 3, 0.8), (heavy, math.exp(2.5**2 / 2), 0.93)):
        results = [estimate(units) for units in matches]
        assert sum(one.low <= mean <= one.high for one in results if one.has_interval) < held * len(results)
        assert sum(one.has_few_large for one in results) > 0.95 * len(results)
    for units in (
        rng.normal(0, 1, (200, 400)),
        rng.exponential(1, (200, 400)),
        [skewed_results(rng, 400) for _ in range(200)],
    ):
        assert sum(estimate(each).has_few_large for each in units) < 0.1 * len(units)


@pytest.mark.parametrize("units", [5, 30])
def test_intervals_cover_the_mean_of_normal_results(units: int) -> None:
    rng = np.random.default_rng(units)
    results = [estimate(0.4 + rng.normal(0, 3, units)) for _ in range(1000)]
    assert 930 <= sum(one.low <= 0.4 <= one.high for one in results) <= 970


@pytest.mark.parametrize("units", [50, 100, 400])
def test_intervals_cover_the_mean_of_skewed_results(units: int) -> None:
    """1,000 simulated matches: 93 to 97% coverage, where Student's t alone covers 89% (50 units) and 91% (100)."""
    rng = np.random.default_rng(units)
    results = [estimate(skewed_results(rng, units)) for _ in range(1000)]
    inside = sum(one.low <= SKEWED_MEAN <= one.high for one in results)
    assert 930 <= inside <= 970
    if units < 400:
        of_t = sum(abs(one.mean - SKEWED_MEAN) <= t_quantile(units - 1) * one.sd / math.sqrt(units) for one in results)
        assert of_t < 920


def test_no_interval_is_narrower_than_that_of_student_t() -> None:
    rng = np.random.default_rng(5)
    for values in (rng.normal(size=20), rng.exponential(size=20), -rng.exponential(size=20)):
        result = estimate(values)
        of_t = t_quantile(19) * result.sd / math.sqrt(20)
        assert min(result.mean - result.low, result.high - result.mean) >= of_t * (1 - 1e-12)
        mirrored = estimate(-values)
        assert (mirrored.low, mirrored.high) == pytest.approx((-result.high, -result.low))
    assert result.mean - result.low > 1.1 * (result.high - result.mean)  # of values with a long tail below
    assert f"{result}".count("±") == 0
    low, high = map(float, f"{result}".split(" ", 1)[1].strip("[]").split(", "))
    assert (low, high) == pytest.approx((result.low, result.high), rel=0.05)


def test_differences_are_taken_unit_by_unit() -> None:
    """Noise that both series share cancels; the longer one is cut."""
    rng = np.random.default_rng(6)
    luck, edge = rng.normal(0, 1000, 300), rng.normal(5, 1, 300)
    result = difference(luck + edge, luck[:200])
    assert result.n == 200
    assert result.mean == pytest.approx(edge[:200].mean())
    assert result.half_width < 0.2


def test_running_means_end_in_the_estimate() -> None:
    values = skewed_results(np.random.default_rng(1), 1000)
    means = dict(settling(values, 50))
    assert means[1000] == estimate(values)
    assert len(means) == 50
    assert min(means) == SETTLING
    assert settling(values[:9], 10) == []


def test_text_has_two_figures_of_the_interval() -> None:
    texts = [
        str(Estimate(mean, half_width, 1.0, 9))
        for mean, half_width in ((0.12345, 0.00678), (-1234.5, 56.7), (2.0, 0.0), (1.5, 1.04))
    ]
    assert texts == ["0.1235 ± 0.0068", "-1,234 ± 57", "2 ± 0", "1.5 ± 1.0"]
    assert [str(exact(value)) for value in (0.123456, 123456.7)] == ["0.1235", "123,457"]
    assert str(Estimate(1.0, 0.2, 1.0, 9, shift=0.05)) == "1.00 [0.85, 1.25]"


def test_records_have_both_bounds_or_null() -> None:
    uneven = Estimate(1.0, 0.25, 1.0, 9, shift=0.125)
    assert uneven.record() == {"mean": 1.0, "half_width_95": 0.25, "interval_95": [0.875, 1.375]}
    assert exact(3.0).record() == {"mean": 3.0, "half_width_95": None, "interval_95": None}


def test_the_wider_end_solves_the_equation_of_hall() -> None:
    """T + g T^2 / 3 + g^2 T^3 / 27 + g / 6n = -t, for nine units of 0 and one of 10."""
    units = np.repeat([0.0, 10.0], [9, 1])
    result, g = estimate(units), ((units - 1) ** 3).mean() / units.std() ** 3
    reached = (result.mean - result.high) / result.sd
    left = reached + g * reached**2 / 3 + g**2 * reached**3 / 27 + g / 60
    assert left == pytest.approx(-t_quantile(9) / 10**0.5)
