"""Scalars for TensorBoard: read back as they were written."""

import math
from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from poker.report.estimates import Estimate
from poker.report.scalars import Scalar, write_scalars


def read_scalars(folder: Path) -> dict[str, list[tuple[int, float]]]:
    """(step, value) by tag, of all that was written to a folder."""
    events = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    events.Reload()
    return {
        tag: [(event.step, float(event.tensor_proto.float_val[0])) for event in events.Tensors(tag)]
        for tag in events.Tags()["tensors"]
    }


def test_courses_are_written_in_place_of_earlier_ones(tmp_path: Path) -> None:
    assert write_scalars(tmp_path, {"old": [(1, 1.0), (2, 1.0)]})
    assert write_scalars(
        tmp_path,
        {
            "a course": [(10, 4.0), (100, 2.0)],
            "estimates": [(10, Estimate(4.0, 0.5, 1.0, 3)), (20, Estimate(3.0, 0.25, 1.0, 6))],
            "without intervals": [(1, Estimate(3.0, math.inf, math.inf, 1)), (2, Estimate(2.0, 0.5, 1.0, 2))],
            "unknown": [(1, math.nan), (2, 1.0), (3, 2.0)],
        },
    )
    assert read_scalars(tmp_path) == {
        "strength/a_course": [(10, 4.0), (100, 2.0)],
        "strength/estimates": [(10, 4.0), (20, 3.0)],
        "uncertainty/estimates": [(10, 0.5), (20, 0.25)],
        "strength/without_intervals": [(1, 3.0), (2, 2.0)],
        "uncertainty/without_intervals": [(2, 0.5)],
        "strength/unknown": [(2, 1.0), (3, 2.0)],
    }


def test_single_values_have_no_chart(tmp_path: Path) -> None:
    single: dict[str, Scalar] = {"figure": 2.5, "estimate": Estimate(-1.5, 0.25, 1.0, 40), "none": None}
    assert not write_scalars(tmp_path, single)
    assert not list(tmp_path.iterdir())
