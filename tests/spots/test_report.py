"""Spots solved by the command and in the background: figures, pictures, cancelling, exports; waits cover compiling."""

import csv
import io
import json
import math
import shlex
import time
from dataclasses import replace
from itertools import pairwise
from math import isnan
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from conf.compose import compose
from poker.run.errors import PokernetsError
from poker.solve.types import Budget
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.spots.explorer import Solve, seconds_left, totals, view_csv, view_record
from poker.spots.report import run
from poker.spots.solution import load_solution
from poker.spots.spots import read_spot, spot_of
from poker.store.provenance import configured
from tests.cases import cases
from tests.games import resolve
from tests.report.test_scalars import read_scalars
from tests.solvers.games import SPOTS


def solved(folder: Path, limit: float, iterations: int, nodes: list[str], device: str = "cpu") -> dict[str, Any]:
    """The record of the river spot; its files are below `out` in the folder."""
    file = folder / "river.json"
    file.write_text(json.dumps(SPOTS["r1_river_full"]["config"]))
    budget = Budget(iterations, limit, algorithm="dcfr", device=device, memory_limit_gib=1.0)
    return run(spot=str(file), budget=budget, nodes=nodes, out=str(folder / "out"))


def test_river_spot(tmp_path: Path) -> None:
    spot = SPOTS["r1_river_full"]
    results = solved(tmp_path, 0.005, 500, ["", "check bet50"])
    assert results["exploitability_percent_pot"] <= 0.5
    assert results["ev_oop"] == pytest.approx(spot["ev"][0], abs=0.5)
    assert results["equity_oop"] == pytest.approx(0.5, abs=1e-6)
    root = results["nodes"][0]["actions"]
    assert sum(action["frequency"] for action in root.values()) == pytest.approx(1)
    mean = sum(action["frequency"] * (action["ev"] or 0) for action in root.values())
    assert mean == pytest.approx(results["ev_oop"], abs=1e-2)
    folder = tmp_path / "out" / spot_of(spot["config"]).name
    assert json.loads((folder / "results.json").read_text())["ev_ip"] == results["ev_ip"]
    assert (folder / "ranges_1_check_bet50.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "report.html").read_text()
    assert page.count("<img") == 2
    for action, numbers in root.items():
        values = "".join(f"<td>{'-' if ev is None else f'{ev:.2f}'}</td>" for ev in (numbers["ev"], numbers["ev_all"]))
        assert f"<td>{action}</td><td>{100 * numbers['frequency']:.2f}%</td>{values}" in page
    scalars = read_scalars(folder)
    assert set(scalars) == {"strength/exploitability_percent_pot"}
    course = scalars["strength/exploitability_percent_pot"]
    assert len(course) > 1
    assert course[-1][0] == results["iterations"]
    assert course[-1][1] == pytest.approx(results["exploitability_percent_pot"])
    assert load_solution(folder / "solution").node("check bet50").actions[0] == "fold"
    with pytest.raises(PokernetsError, match="`bet77` in `bet77`"):
        solved(tmp_path, 0.005, 5, ["bet77"])


def test_the_explorer_has_the_settings_of_the_command() -> None:
    finer = ["exploitability=0.0005", "algorithm=dcfr"]
    command = resolve(compose("evaluate", ["evaluate=spot", "spot=my.spot", *finer])["evaluate"])["budget"]
    pages = resolve(compose("evaluate", ["evaluate=play", *finer])["evaluate"])["pages"]
    [page] = [page["settings"] for page in pages if page.get("path") == "/explorer"]
    settings = command.keys() - {"_target_", "device", "memory_limit_gib"}  # a server shares the machine
    assert {key: page[key] for key in settings} == {key: command[key] for key in settings}
    assert (command["exploitability"], command["algorithm"]) == (0.0005, "dcfr")


SPOT = {
    **{"board": "KsTh7s4d2s", "oop_range": "66+,A8s+", "ip_range": "QQ-22,AQs-A2s", "pot": "100", "stack": "300"},
    **{"bet": "50%,a", "raise": "2.5x,a"},
}


@pytest.mark.parametrize(
    ("key", "value", "why"),
    [
        *(("pot", value, "`pot` must be a number") for value in (True, float("nan"), 10**400)),
        ("bet", ",".join(["1%"] * 200_000), "200,000 sizes; at most 100 are allowed"),
    ],
)
def test_invalid_numbers_and_too_many_sizes_are_refused(key: str, value: Any, why: str) -> None:
    with pytest.raises(PokernetsError, match=why) as caught:
        spot_of({**SPOT, key: value}).game()
    assert len(str(caught.value)) < 400


@cases
def test_values_of_the_largest_spots_add_up_to_the_pot(changes: dict[str, str]) -> None:
    spot = spot_of({**SPOT, **changes})
    solver = VectorSolver(spot.game(), threads=1)
    solver.run(iterations=30)
    assert solver.game_value(0) + solver.game_value(1) == pytest.approx(spot.pot, rel=1e-3)


def test_a_spot_file_of_any_depth_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text('{"board": ' + "[" * 100_000)
    with pytest.raises(PokernetsError, match=r"deep.json: not valid JSON \(lists and objects are nested too deeply\)"):
        read_spot(file)


SETTINGS = Budget(500, 0.005, memory_limit_gib=1.0)
ENDLESS = Budget(1_000_000, 1e-11, memory_limit_gib=1.0)
RIVER = spot_of(SPOTS["r1_river_full"]["config"])


@pytest.fixture(scope="module")
def solve() -> Solve:
    solve = Solve(RIVER, SETTINGS).start()
    assert solve.wait(300)
    return solve


def test_a_solve_is_that_of_the_command_line(solve: Solve) -> None:
    assert (solve.state, solve.problem) == ("solved", "")
    assert solve.exploitability <= 0.005
    assert solve.elapsed == solve.seconds > 0
    assert solve.cost.hand_actions == solve.solver.game.hand_actions
    assert "about 151 ms an iteration" in str(replace(solve.cost, seconds_per_iteration=0.1512))
    alone = VectorSolver(RIVER.game())
    alone.run(solve.solver.iterations)
    np.testing.assert_array_equal(alone.strategy(0), solve.solver.strategy(0))


def test_exports(solve: Solve, tmp_path: Path) -> None:
    assert solve.walk is not None
    view = solve.walk.view(["check"])
    record = json.loads(json.dumps(view_record(view), allow_nan=False))
    assert (record["player"], record["board"], record["pot"]) == ("IP", "KsTh7s4d2s", 100)
    assert sum(action["frequency"] for action in record["actions"].values()) == pytest.approx(1, abs=1e-5)
    place = record["ip"]["hand"].index("AsKd")
    hand = {name: column[place] for name, column in record["ip"].items()}
    assert hand["ev"] == pytest.approx(sum(hand[a] * hand[f"{a} ev"] for a in view.actions), abs=0.01)
    assert "AsKs" not in record["ip"]["hand"]
    assert list(record["oop"]) == ["hand", "weight", "ev", "equity"]
    rows = list(csv.DictReader(io.StringIO(view_csv(view))))
    assert len(rows) == len(record["oop"]["hand"]) + len(record["ip"]["hand"])
    row = next(row for row in rows if (row["player"], row["hand"]) == ("IP", "AsKd"))
    assert float(row["check"]) == hand["check"]
    folder = solve.write(tmp_path)
    loaded = load_solution(folder / "solution")
    np.testing.assert_allclose(loaded.node("check").strategy.rows, view.strategy, atol=1e-3)
    assert json.loads((folder / "results.json").read_text())["iterations"] == solve.solver.iterations


def test_report_has_the_command_that_solves_the_spot_again(solve: Solve, tmp_path: Path) -> None:
    with configured({"port": 8080}, {"runs": str(tmp_path)}):
        folder = solve.write(tmp_path / "spots")
    command = json.loads((folder / "results.json").read_text())["command"]
    assert command in (folder / "report.html").read_text()
    python, program, *overrides = shlex.split(command)
    assert (python, program) == ("python", "evaluate.py")
    settings = resolve(compose("evaluate", overrides).evaluate)
    assert (settings["spot"], settings["out"]) == (str(folder / "results.json"), str(tmp_path / "spots"))
    assert Budget(**{key: value for key, value in settings["budget"].items() if key != "_target_"}) == SETTINGS
    assert read_spot(folder / "results.json") == RIVER
    assert read_spot(folder / "solution/manifest.json") == RIVER


def test_totals_are_weighted_by_hands(solve: Solve) -> None:
    assert solve.walk is not None
    view = solve.walk.view([])
    by_action = totals(view)
    mean = sum((one["frequency"] or 0) * (one["ev"] or 0) for one in by_action.values())
    assert mean == pytest.approx(solve.solver.game_value(0), abs=1e-2)
    assert totals(solve.walk.view(["check", "check"])) == {}


def test_cancelled_ones_can_be_walked() -> None:
    solve, waiting = (Solve(RIVER, ENDLESS).start() for _ in range(2))
    deadline = time.monotonic() + 300
    while solve.solver.iterations < 30 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert waiting.state == "waiting"
    waiting.cancel()
    assert waiting.wait(60)
    assert (waiting.state, waiting.walk) == ("cancelled", None)
    with pytest.raises(PokernetsError, match="no solution yet"):
        waiting.write(Path("nowhere"))
    solve.cancel()
    assert solve.wait(60)
    assert solve.state == "cancelled"
    assert solve.course[-1].iterations == solve.solver.iterations
    assert solve.walk is not None
    assert solve.walk.view([]).player == 0


def test_solves_begin_in_the_order_in_which_they_were_started() -> None:
    first, *others = (Solve(RIVER, ENDLESS).start() for _ in range(4))
    for before, after in pairwise([first, *others]):
        deadline = time.monotonic() + 60
        while not before.solver.iterations and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (before.state, after.state) == ("solving", "waiting")
        before.cancel()
        assert before.wait(60)
    others[-1].cancel()
    assert others[-1].wait(60)


def test_spots_that_are_too_large_are_refused_before_the_solve() -> None:
    with pytest.raises(PokernetsError, match="more than the limit"):
        Solve(RIVER, Budget(500, 0.005, memory_limit_gib=1e-5))
    for exploitability, memory in ((0.0, 1.0), (0.005, math.inf), (0.005, math.nan)):
        with pytest.raises(PokernetsError, match="must be positive"):
            Budget(500, exploitability, memory_limit_gib=memory)


def test_failures_are_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    solve = Solve(RIVER, SETTINGS)
    monkeypatch.setattr(solve.solver, "run", lambda *_, **__: 1 / 0)
    assert solve.start().wait(60)
    assert (solve.state, solve.problem) == ("failed", "ZeroDivisionError: division by zero")


def test_time_left_follows_a_power_law() -> None:
    course = [SolveProgress(n, n / 100, 50.0 / n) for n in (10, 20, 40, 80)]
    assert seconds_left(course, 50 / 400, 10_000) == pytest.approx(3.2)
    assert seconds_left(course, 50 / 400, 100) == pytest.approx(0.2)
    assert seconds_left(course, 1.0, 100) == 0
    assert isnan(seconds_left(course[:1], 1.0, 100))
