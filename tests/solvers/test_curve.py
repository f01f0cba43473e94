"""Points of learning curves: where they lie, and what is kept when a run continues."""

import json
from pathlib import Path

import pytest

from poker.run.errors import PokernetsError
from poker.solvers.curve import CurveLog, CurvePlan, read_points, read_runs
from tests.games import load_rules

CONFIG = {"game": "kuhn", "solver": "uct", "seed": 1}


def test_points_are_even_in_the_logarithm() -> None:
    plan = CurvePlan(first=1000, per_decade=3, snapshots=False)
    points, at = [], 0
    for _ in range(8):
        at = plan.after(at)
        points.append(at)
    assert points == [1000, 2154, 4642, 10_000, 21_544, 46_416, 100_000, 215_443]
    assert plan.after(999) == 1000
    assert plan.after(1000) == 2154
    assert plan.after(2153) == 2154
    with pytest.raises(PokernetsError, match="at least 1"):
        CurvePlan(first=0, per_decade=3, snapshots=False)


def test_points_after_the_checkpoint_are_dropped(tmp_path: Path) -> None:
    plan = CurvePlan(first=10, per_decade=1, snapshots=False)
    curve = CurveLog(tmp_path, CONFIG, plan, output="blueprint", iterations=0)
    assert curve.due == 10
    for iterations in (10, 100, 1000):
        curve.add(iterations, mse=1 / iterations)
    with curve.path.open("a") as file:
        file.write('{"iterations": 10')  # killed while it wrote
    again = CurveLog(tmp_path, CONFIG, plan, output="blueprint", iterations=500)
    assert again.path == curve.path
    assert again.due == 1000
    header, points = read_points(curve.path)
    assert header["seed"] == 1
    assert header["machine"]["cores"] >= 1
    assert points == [{"iterations": 10, "mse": 0.1}, {"iterations": 100, "mse": 0.01}]
    other = CurveLog(tmp_path, {**CONFIG, "seed": 2}, plan, output="blueprint", iterations=0)
    assert other.path != curve.path
    assert len(curve.path.read_text().splitlines()) == 3


def test_a_run_into_another_place_has_a_curve_of_its_own(tmp_path: Path) -> None:
    plan = CurvePlan(first=10, per_decade=1, snapshots=False)
    first = CurveLog(tmp_path, CONFIG, plan, output="one/blueprint", iterations=0)
    first.add(10, mse=0.1)
    CurveLog(tmp_path, CONFIG, plan, output="two/blueprint", iterations=0).add(10, mse=0.2)
    assert read_points(first.path)[1] == [{"iterations": 10, "mse": 0.1}]
    [runs] = read_runs(load_rules("kuhn"), [tmp_path]).values()
    assert len(runs) == 2


def test_a_file_without_a_line_is_no_curve(tmp_path: Path) -> None:
    (tmp_path / "curve_kuhn_uct_1.jsonl").write_text(json.dumps(CONFIG))
    with pytest.raises(PokernetsError, match="no complete line"):
        read_points(tmp_path / "curve_kuhn_uct_1.jsonl")
