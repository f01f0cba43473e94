"""Choice of the number of threads, and of when exploitability is measured."""

from itertools import pairwise

import pytest

from poker.solvers.vector.thread_tuning import BLOCKS_PER_TRIAL, FIRST_CHECK, Checks, Pace


def test_the_faster_number_of_threads_goes_on_and_the_other_is_tried_again() -> None:
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
