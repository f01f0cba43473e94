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
