from pathlib import Path

from poker.report.estimates import Estimate
from poker.report.scalars import write_scalars
from tests.report.scalars import read_scalars


def test_figures_estimates_and_courses_are_written(tmp_path: Path) -> None:
    write_scalars(tmp_path, {"old": 1.0})
    write_scalars(
        tmp_path,
        {
            "a plain figure": 2.5,
            "an/estimate": Estimate(-1.5, 0.25, 1.0, 40),
            "single": Estimate(3.0, float("inf"), float("inf"), 1),
            "course": [(10, 4.0), (100, 2.0)],
            "estimates": [(10, Estimate(4.0, 0.5, 1.0, 3))],
            "unknown": None,
        },
    )
    assert read_scalars(tmp_path) == {
        "a_plain_figure": [(0, 2.5)],
        "an/estimate": [(40, -1.5)],
        "an/estimate/half_width_95": [(40, 0.25)],
        "single": [(1, 3.0)],
        "course": [(10, 4.0), (100, 2.0)],
        "estimates": [(10, 4.0)],
        "estimates/half_width_95": [(10, 0.5)],
    }
