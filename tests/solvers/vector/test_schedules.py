"""Parameters of schedules, iteration by iteration; the number of threads, and when exploitability is measured."""

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from poker.solvers.vector.schedules import Schedule, schedule
from poker.solvers.vector.thread_tuning import BLOCKS_PER_TRIAL, FIRST_CHECK, Checks, Pace


@pytest.mark.parametrize("name", ["apdcfr", "apdcfr_short"])
def test_prediction_is_the_regret_of_the_next_iteration(name: str) -> None:
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


def test_faster_number_of_threads_is_used_and_the_other_is_retried() -> None:
    pace, used = Pace(2), []
    for _ in range(3 * BLOCKS_PER_TRIAL):
        members, most = pace.next_block()
        used.append(members)
        assert most >= 1
        pace.measured(members, 0.002 if members == 2 else 0.001)
    assert used[:4] == [2, 2, 1, 1]
    assert used.count(1) > 2 * BLOCKS_PER_TRIAL
    assert used.count(2) >= 3
    assert pace.best == 0.001


def test_a_core_that_becomes_free_is_soon_used() -> None:
    pace, used = Pace(2), []
    for _ in range(40):
        members, _ = pace.next_block()
        used.append(members)
        pace.measured(members, 0.002 if members == 2 else 0.001)
    tried = [block for block, members in enumerate(used) if members == 2 and block > 1]
    assert [later - earlier for earlier, later in pairwise([2, *tried])] == [3, 5, 9, 17]
    pace.measured(2, 0.0005)
    assert [pace.next_block()[0] for _ in range(3)] == [2, 2, 2]


def test_the_first_iterations_do_not_decide() -> None:
    pace, cold = Pace(2), True
    for _ in range(4):
        members, _ = pace.next_block()
        pace.measured(members, 0.009 if cold else 0.001 if members == 2 else 0.002)
        cold = False
    assert pace.next_block()[0] == 2
    assert pace.best == 0.001


def test_one_thread_is_never_divided() -> None:
    assert Pace(1).next_block() == (1, 1 << 30)


def test_checks_come_closer_to_the_target_and_never_stand_still() -> None:
    checks, when = Checks(0, 0.1), []
    iterations = 0
    while iterations < 400:
        iterations = checks.next
        when.append(iterations)
        exploitability = 100 / iterations**1.25
        if exploitability <= 0.1:
            break
        checks.measured(iterations, exploitability)
    assert when[0] == FIRST_CHECK
    assert all(later > earlier for earlier, later in pairwise(when))
    assert len(when) < 16
    exact = (100 / 0.1) ** (1 / 1.25)
    assert exact <= when[-1] < 1.06 * exact


@pytest.mark.parametrize("rate", [0.8, 1.25, 2.0])
def test_targets_are_hardly_overshot(rate: float) -> None:
    for exact in range(12, 400, 7):
        checks, measured = Checks(0, 1.0), 0
        while (exploitability := (exact / checks.next) ** rate) > 1.0:
            checks.measured(checks.next, exploitability)
            measured += 1
        assert checks.next <= 1.1 * exact
        assert measured <= 10
