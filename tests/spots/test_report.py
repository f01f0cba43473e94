"""`evaluate=spot` as a function: figures, pictures and a solution that loads."""

import json
from pathlib import Path
from typing import Any

import pytest

from conf.compose import compose
from poker.run.errors import PokernetsError
from poker.solvers.vector.solver import VectorSolver
from poker.spots.report import Settings, run
from poker.spots.solution import load_solution
from poker.spots.spots import read_spot, spot_of
from tests.games import resolve
from tests.report.scalars import read_scalars
from tests.solvers.games import SPOTS


def solved(folder: Path, limit: float, iterations: int, nodes: list[str], device: str = "cpu") -> dict[str, Any]:
    """The record of the river spot; its files are below `out` in the folder."""
    file = folder / "river.json"
    file.write_text(json.dumps(SPOTS["r1_river_full"]["config"]))
    settings = Settings("dcfr", limit, iterations, threads=1, memory_limit_gib=1.0)
    return run(spot=str(file), settings=settings, device=device, nodes=nodes, out=str(folder / "out"))


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


@pytest.mark.slow
def test_a_device_gives_the_same_solution(tmp_path: Path) -> None:
    results = [solved(tmp_path, 0.08, 20, [""], device) for device in ("cpu", "cpu:0")]
    assert results[1]["exploitability_percent_pot"] <= 8.0
    assert results[0]["ev_oop"] == pytest.approx(results[1]["ev_oop"], abs=1.0)


def test_the_explorer_has_the_settings_of_the_command() -> None:
    finer = ["exploitability=0.0005", "algorithm=dcfr"]
    command = resolve(compose("evaluate", ["evaluate=spot", "spot=my.spot", *finer])["evaluate"])["settings"]
    pages = resolve(compose("evaluate", ["evaluate=play", *finer])["evaluate"])["pages"]
    [page] = [page for page in pages if page["_target_"].endswith(".explorer")]
    settings = command.keys() - {"_target_", "memory_limit_gib"}  # a server shares the machine
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
def test_what_is_no_number_and_too_many_sizes_are_refused(key: str, value: Any, why: str) -> None:
    with pytest.raises(PokernetsError, match=why) as caught:
        spot_of({**SPOT, key: value}).game()
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "changes",
    [
        {"pot": "500000000", "stack": "500000000"},
        {"stack": "1000000"},
        {"pot": "1", "stack": "64", "bet": "1c", "raise": "1c"},
        {"bet": "9" * 308 + "%", "pot": "400000000"},
        {"oop_range": "AA,KK:1e-45", "ip_range": "QQ:1e-6"},
    ],
)
def test_values_of_the_largest_spots_add_up_to_the_pot(changes: dict[str, str]) -> None:
    spot = spot_of({**SPOT, **changes})
    solver = VectorSolver(spot.game(), threads=1)
    solver.run(iterations=30)
    assert solver.game_value(0) + solver.game_value(1) == pytest.approx(spot.pot, rel=1e-3)


def test_a_spot_file_of_any_depth_is_refused_by_name(tmp_path: Path) -> None:
    file = tmp_path / "deep.json"
    file.write_text('{"board": ' + "[" * 100_000)
    with pytest.raises(PokernetsError, match=r"deep.json: no valid JSON \(lists and objects are nested too deeply\)"):
        read_spot(file)
