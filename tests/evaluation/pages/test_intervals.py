import math

from poker.evaluation.pages.intervals import interval_record, interval_text, intervals_chart, stated
from poker.evaluation.statistics import Estimate


def test_text_has_two_figures_of_the_interval() -> None:
    told = [
        interval_text(Estimate(mean, half_width, 1.0, 9))
        for mean, half_width in ((0.12345, 0.00678), (-1234.5, 56.7), (2.0, 0.0), (1.5, 1.04))
    ]
    assert told == ["0.1235 ± 0.0068", "-1,234 ± 57", "2 ± 0", "1.5 ± 1.0"]
    assert interval_text(stated(0.123456)) == "0.1235"
    assert interval_text(Estimate(0.0, math.inf, math.inf, 0)) == "-"
    assert interval_text(Estimate(1.0, 0.2, 1.0, 9, shift=0.05)) == "1.00 [0.85, 1.25]"


def test_records_tell_both_ends_or_that_they_are_not_known() -> None:
    uneven = interval_record(Estimate(1.0, 0.25, 1.0, 9, shift=0.125))
    assert uneven == {"half_width_95": 0.25, "interval_95": [0.875, 1.375]}
    assert interval_record(stated(3.0)) == {"half_width_95": None, "interval_95": None}


def test_panels_grow_with_what_they_hold() -> None:
    rows = [(f"agent {i}", Estimate(float(i), 0.5, 1.0, 9)) for i in range(12)]
    small = intervals_chart("a title", "mbb per hand", {"agents": [*rows[:1], ("exact", stated(3.0))]})
    large = intervals_chart("a title", "mbb per hand", {"agents": rows, "others": rows[:2]})
    sizes = [int.from_bytes(picture[at : at + 4]) for picture in (small, large) for at in (16, 20)]
    assert small.startswith(b"\x89PNG")
    assert sizes[2] > sizes[0]
    assert sizes[3] > sizes[1]
