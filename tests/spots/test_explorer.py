"""Spots solved in the background: watched, cancelled, exported. Waits are long enough for kernels to compile."""

import csv
import io
import json
import shlex
import time
from dataclasses import replace
from itertools import pairwise
from math import isnan
from pathlib import Path

import numpy as np
import pytest

from conf.compose import compose
from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.spots.explorer import Solve, seconds_left, totals, view_csv, view_record
from poker.spots.report import Settings
from poker.spots.solution import load_solution
from poker.spots.spots import read_spot, spot_of
from poker.store.provenance import configured
from tests.games import resolve
from tests.solvers.games import SPOTS

SETTINGS = Settings("apdcfr", 0.005, 500, threads=1, memory_limit_gib=1.0)
ENDLESS = Settings("apdcfr", 1e-11, 1_000_000, threads=1, memory_limit_gib=1.0)
RIVER = spot_of(SPOTS["r1_river_full"]["config"])


@pytest.fixture(scope="module")
def solved() -> Solve:
    solve = Solve(RIVER, SETTINGS).start()
    assert solve.wait(300)
    return solve


def test_a_solve_is_that_of_the_command_line(solved: Solve) -> None:
    assert (solved.state, solved.problem) == ("solved", "")
    assert solved.exploitability <= 0.005
    assert solved.elapsed == solved.seconds > 0
    assert solved.cost.hand_actions == solved.solver.game.hand_actions
    assert "about 151 ms an iteration" in str(replace(solved.cost, seconds_per_iteration=0.1512))
    alone = VectorSolver(RIVER.game())
    alone.run(solved.solver.iterations)
    np.testing.assert_array_equal(alone.strategy(0), solved.solver.strategy(0))


def test_exports(solved: Solve, tmp_path: Path) -> None:
    assert solved.walk is not None
    view = solved.walk.view(["check"])
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
    folder = solved.write(tmp_path)
    loaded = load_solution(folder / "solution")
    np.testing.assert_allclose(loaded.node("check").strategy.rows, view.strategy, atol=1e-3)
    assert json.loads((folder / "results.json").read_text())["iterations"] == solved.solver.iterations


def test_what_is_written_tells_the_command_that_solves_it_again(solved: Solve, tmp_path: Path) -> None:
    with configured({"port": 8080}, {"runs": str(tmp_path)}):
        folder = solved.write(tmp_path / "spots")
    command = json.loads((folder / "results.json").read_text())["command"]
    assert command in (folder / "report.html").read_text()
    python, program, *overrides = shlex.split(command)
    assert (python, program) == ("python", "evaluate.py")
    settings = resolve(compose("evaluate", overrides).evaluate)
    assert (settings["spot"], settings["out"]) == (str(folder / "results.json"), str(tmp_path / "spots"))
    assert Settings(**{key: value for key, value in settings["settings"].items() if key != "_target_"}) == SETTINGS
    assert read_spot(folder / "results.json") == RIVER
    assert read_spot(folder / "solution/manifest.json") == RIVER


def test_totals_are_weighted_by_hands(solved: Solve) -> None:
    assert solved.walk is not None
    view = solved.walk.view([])
    by_action = totals(view)
    mean = sum((one["frequency"] or 0) * (one["ev"] or 0) for one in by_action.values())
    assert mean == pytest.approx(solved.solver.game_value(0), abs=1e-2)
    assert totals(solved.walk.view(["check", "check"])) == {}


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


def test_what_is_too_large_is_refused_before_it_starts() -> None:
    with pytest.raises(PokernetsError, match="more than the limit"):
        Solve(RIVER, Settings("apdcfr", 0.005, 500, threads=1, memory_limit_gib=1e-5))
    with pytest.raises(PokernetsError, match="must be positive"):
        Settings("apdcfr", 0.0, 500, threads=1, memory_limit_gib=1.0)


def test_failures_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
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
