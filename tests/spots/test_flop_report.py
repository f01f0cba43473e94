"""`evaluate=flops`: what is solved is kept, means are those of the flops, files without what is needed are refused."""

import csv
from dataclasses import replace
from math import comb
from pathlib import Path
from typing import Any

import pytest

from poker.abstraction.flops import NUM_FLOPS
from poker.formats.ranges import parse_range
from poker.game.cards import HOLDEM, parse_cards
from poker.run.errors import PokernetsError
from poker.solve import batches
from poker.solve.types import Budget
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.spots import flop_report
from poker.spots.flop_report import run
from tests.commands import run_here

SPOT = "oop_range: AA,KK,77\nip_range: QQ,JJ,AKs\npot: 60\nstack: 20\nbet: a\n"
BUDGET = Budget(500, 0.02, memory_limit_gib=1.0)


def report(folder: Path, flops: int, text: str = SPOT, **changes: Any) -> dict[str, Any]:
    folder.mkdir(exist_ok=True)
    (folder / "my.spot").write_text(text)
    usual = {"budget": BUDGET, "nodes": ["", "check"]}
    return run(spot=str(folder / "my.spot"), flops=flops, out=str(folder), **{**usual, **changes})


def test_flops_are_solved_on_a_device(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter takes minutes for a flop, so a stand-in says that it was asked and solves on the CPU."""
    pytest.importorskip("triton", reason="the gpu extra, which `make test` installs")
    devices, solve = list[str](), batches.run

    def solve_there(solvers: list[VectorSolver], budgets: list[Budget]) -> list[SolveProgress]:
        devices.append(budgets[0].device)
        return solve(solvers, [replace(budget, device="cpu") for budget in budgets])

    monkeypatch.setattr(batches, "run", solve_there)
    expected, answers = (report(tmp_path / name, 6, budget=replace(BUDGET, device=name)) for name in ("cpu", "cuda"))
    assert devices == ["cpu"] * 6 + ["cuda"] * 6
    assert [row["ev"] for row in answers["rows"]] == [row["ev"] for row in expected["rows"]]


def test_flops_are_stored_and_means_are_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    solved, solve = list[str](), flop_report._solved

    def counted(keys: Any, *others: Any) -> Any:
        if len(solved) == 4:
            solved.append("none")
            raise KeyboardInterrupt
        solved.append(keys["board"])
        return solve(keys, *others)

    monkeypatch.setattr(flop_report, "_solved", counted)
    with pytest.raises(KeyboardInterrupt):
        report(tmp_path, 6)
    record = report(tmp_path, 6)
    assert len(solved) == 7
    assert len(set(solved)) == 7
    assert report(tmp_path, 6)["rows"] == record["rows"]
    assert len(solved) == 7
    rows = record["rows"]
    assert sum(row["weight"] for row in rows) == pytest.approx(1)
    for row in rows:
        assert sum(row["ev"]) == pytest.approx(60, abs=1e-3)
        assert row["exploitability_percent_pot"] <= 2
    means = record["means"]
    assert means["EV OOP"] == pytest.approx(sum(row["weight"] * row["ev"][0] for row in rows))
    reach = [row["weight"] * row["nodes"][""]["frequencies"]["check"] for row in rows]
    bets = [row["nodes"]["check"]["frequencies"]["allin20"] for row in rows]
    often = sum(weight * bet for weight, bet in zip(reach, bets, strict=True)) / sum(reach)
    assert means["IP after check: allin20"] == pytest.approx(often, rel=1e-3)
    [folder] = tmp_path.glob("flops-*/6")
    assert (folder / "flops.png").read_bytes().startswith(b"\x89PNG")
    with (folder / "flops.csv").open() as file:
        table = list(csv.DictReader(file))
    assert {line["flop"] for line in table} == {row["flop"] for row in rows}
    assert [float(line["EV OOP"]) for line in table] == pytest.approx(
        sorted((row["ev"][0] for row in rows), reverse=True), rel=1e-5
    )
    page = (folder / "report.html").read_text()
    assert all(kind in page for kind in ("rainbow", "two-tone", "monotone", "paired", "three of a kind"))


def test_lock_applies_on_every_flop(tmp_path: Path) -> None:
    """Whoever is told to check gives up chips to one who knows it."""
    free = report(tmp_path, 6)
    locked = report(tmp_path, 6, f"{SPOT}lock: check random\n")
    assert locked["means"]["OOP: check"] == pytest.approx(1)
    assert free["means"]["OOP: check"] < 0.9
    assert locked["means"]["EV OOP"] < free["means"]["EV OOP"]


TAKEN = "oop_range: KK\nip_range: AA\npot: 100\nstack: 100\nflop_bet: a\n"
"""Three aces or three kings on the flop leave a range no hand."""


def test_flops_without_a_range_are_skipped_and_counted(tmp_path: Path) -> None:
    record = report(tmp_path, 6, TAKEN)
    assert record["left_out"] == ["AhAdAc"]
    assert (record["flops"], record["means"]["equity OOP"] < 0.3) == (5, True)
    assert "AhAdAc" not in {row["flop"] for row in record["rows"]}
    assert sum(row["weight"] for row in record["rows"]) == pytest.approx(1)
    [page] = tmp_path.glob("flops-*/6/report.html")
    assert "1 more are left out, on which the ranges have no hands together" in page.read_text()
    assert report(tmp_path, 6, TAKEN)["means"] == record["means"]


def test_the_mean_over_all_flops_weighs_them_as_hands_are_dealt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An equity of 1 where a king lies on the flop has the mean 1 - C(46, 3) / C(48, 3); no solution yet."""
    kings, aces = parse_range("KK"), parse_range("AA")

    def without_solving(keys: Any, *_: Any) -> dict[str, Any]:
        live = HOLDEM.live(parse_cards(keys["board"]))
        row = {"flop": keys["board"], "pairs": float((kings * live).sum() * (aces * live).sum())}
        equity = float("K" in keys["board"])
        answers = {"ev": [0.0, 60.0], "equity": [equity, 1 - equity], "seconds": 0.0, "nodes": {}}
        return {**row, **answers} if row["pairs"] else row

    monkeypatch.setattr(flop_report, "_solved", without_solving)
    record = report(tmp_path, NUM_FLOPS, TAKEN, nodes=[])
    assert record["means"]["equity OOP"] == pytest.approx(1 - comb(46, 3) / comb(48, 3))
    assert sorted(record["left_out"]) == ["AhAdAc", "KhKdKc"]


def test_invalid_spots_are_refused(tmp_path: Path) -> None:
    for text, message in (
        (SPOT.replace("77", "7c7d"), "`oop_range` depends on suits"),
        (SPOT.replace("ip_range", "range"), "lacks `ip_range`"),
        (SPOT.replace("pot: 60", ""), "missing `pot`"),
        (f"{SPOT}lock check: fold random", "spot, `lock check`: `fold` is not possible here: check, allin20"),
    ):
        with pytest.raises(PokernetsError, match=message):
            report(tmp_path, 6, text)
    (tmp_path / "small.spot").write_text(SPOT.replace("bet: a\n", "board: KsQsJs\n"))
    keys = flop_report.flop_keys(str(tmp_path / "small.spot"))
    assert (keys["flop_bet"], "board" in keys) == ("33%", False)


def test_the_command_has_these_settings(tmp_path: Path) -> None:
    (tmp_path / "my.spot").write_text(SPOT)
    done = run_here("evaluate", "evaluate=flops", f"spot={tmp_path}/my.spot", "flops=5", f"runs={tmp_path}")
    assert (done.returncode, done.stderr) == (2, "error: the number of flops must be between 6 and 1,755, not 5\n")
