"""Figures from learning curves: means and intervals over runs, names; matches between snapshots."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.abstraction.buckets import SmallGameBuckets
from poker.abstraction.dealers import Dealer
from poker.experiments import learning_curve
from poker.game.state import Betting
from poker.report.estimates import t_quantile
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import KIND, Blueprint, always_call
from poker.solvers.policy_match import Seed, Units, play_match
from poker.store.artifacts import open_artifact
from poker.tree import build_tree
from tests.cases import cases
from tests.games import load_rules
from tests.report.test_scalars import read_scalars
from tests.solvers.test_blueprint import random_policy

POINTS = (1000, 10_000, 100_000)


def write(folder: Path, game: str, solver: str, seed: int, values: list[dict[str, Any]], **settings: Any) -> None:
    lines: list[dict[str, Any]] = [{"game": game, "solver": solver, "seed": seed, **settings}]
    lines += [{"iterations": n, "cpu_seconds": n / 1e6, **value} for n, value in zip(POINTS, values, strict=False)]
    name = f"curve_{game}_{solver}_{seed}_{'_'.join(map(str, settings.values()))}.jsonl"
    (folder / name).write_text("".join(json.dumps(line) + "\n" for line in lines))


def result(game: str, folder: Path, **settings: Any) -> dict[str, Any]:
    options = {"curves": [str(folder)], "abstraction": "", "hands": 1000, "seed": 1}
    return learning_curve.run(game=load_rules(game), **{**options, "out": str(folder / "out"), **settings})


def random_snapshots(folder: Path, seeds: Iterable[int]) -> list[dict[str, Any]]:
    """Points at which random policies are kept."""
    for seed in seeds:
        random_policy(load_rules("leduc"), seed).save(folder / str(seed), {}, {})
    return [{"snapshot": str(folder / str(seed))} for seed in seeds]


def test_means_and_intervals(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        shift = (seed - 2) * 0.01
        write(tmp_path, "leduc", "uct", seed, [{"nash_conv": v + shift} for v in (0.1, 0.1, 0.1)])
        write(tmp_path, "leduc", "outcome_sampling", seed, [{"nash_conv": v} for v in (1.0, 0.2, 0.02)])
    write(tmp_path, "leduc", "uct", 4, [{"nash_conv": 5.0}])  # interrupted
    record = result("leduc", tmp_path)
    assert record["runs"] == {"outcome_sampling": 3, "uct": 3}
    assert record["runs_left_out"] == {"outcome_sampling": 0, "uct": 1}
    flat = record["curves"]["uct"]
    assert [point["iterations"] for point in flat] == list(POINTS)
    assert [point["mean"] for point in flat] == pytest.approx([0.1] * 3)
    assert flat[0]["half_width_95"] == pytest.approx(t_quantile(2) * 0.01 / np.sqrt(3))
    folder = tmp_path / "out" / "leduc"
    first = json.loads((folder / "results.json").read_text())["table"][0]
    assert first["iterations"] == 1000
    width = t_quantile(2) * 0.01 / np.sqrt(3)
    assert first["uct"]["mean"] == pytest.approx(0.1)
    assert first["uct"]["half_width_95"] == pytest.approx(width)
    assert first["uct"]["interval_95"] == pytest.approx([0.1 - width, 0.1 + width])
    assert f"<td>1,000</td><td>1 ± ?</td><td>0.100 ± {width:.3f}</td>" in (folder / "report.html").read_text()
    scalars = read_scalars(folder)
    assert [step for step, _ in scalars["uncertainty/uct"]] == list(POINTS)
    assert [value for _, value in scalars["strength/outcome_sampling"]] == pytest.approx([1.0, 0.2, 0.02])
    assert (tmp_path / "out" / "leduc" / "results.png").read_bytes().startswith(b"\x89PNG")


def test_settings_that_differ_are_named_and_kuhn_takes_the_error(tmp_path: Path) -> None:
    values = [{"mse": v, "nash_conv": 9.0} for v in (0.1, 0.01, 0.001)]
    for gamma in (0.1, 0.2):
        write(tmp_path, "kuhn", "smooth_uct", 1, values, gamma=gamma, eta=0.9)
    record = result("kuhn", tmp_path)
    assert set(record["curves"]) == {"smooth_uct gamma=0.1", "smooth_uct gamma=0.2"}
    assert record["value"] == "mean squared error"
    assert record["curves"]["smooth_uct gamma=0.1"][2] == {
        "iterations": 100_000, "cpu_seconds": 0.1, "mean": 0.001, "half_width_95": None, "interval_95": None,
    }  # fmt: skip


def test_snapshots_are_played(tmp_path: Path) -> None:
    """A game without exact metrics: a snapshot that always calls draws with an opponent that always calls."""
    rules = load_rules("leduc")
    cards = SmallGameBuckets(rules)
    path = str(tmp_path / "snapshot")
    always_call(build_tree(Betting.start(rules)), cards).save(path, {}, {})
    for name in ("uct", "smooth_uct"):
        write(tmp_path, "leduc", name, 1, [{"snapshot": path}] * 3)
    record = result("leduc", tmp_path)
    assert set(record["curves"]) == {"uct vs always_call", "smooth_uct vs always_call", "smooth_uct vs uct"}
    for points in record["curves"].values():
        for point in points:
            assert point["mean"] == 0  # the same cards in both seats
    write(tmp_path, "leduc", "uct", 1, [{}] * 3)
    with pytest.raises(PokernetsError, match="snapshots=true"):
        result("leduc", tmp_path)


@cases
def test_leads_follow_the_intervals_of_points(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, won: tuple[float, ...], lead: tuple[int | None, int | None]
) -> None:
    for name, seeds in (("uct", range(3)), ("smooth_uct", range(3, 6))):
        write(tmp_path, "leduc", name, 1, random_snapshots(tmp_path, seeds))
    means = iter([0.0] * 6 + list(won))  # both solvers against the caller come first
    monkeypatch.setattr(learning_curve, "play_match", lambda *_: next(means) + np.array([-1.0, 0.0, 1.0]))
    leads = result("leduc", tmp_path)["leads"]
    assert leads == {"smooth_uct vs uct": dict(zip(("behind_until", "ahead_from"), lead, strict=True))}


def test_matches_continue_after_a_kill_with_new_points_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    snapshots = random_snapshots(tmp_path, range(6))
    write(tmp_path, "leduc", "uct", 1, [snapshots[0], snapshots[1]])
    write(tmp_path, "leduc", "smooth_uct", 1, [snapshots[2], snapshots[3]])
    whole = result("leduc", tmp_path, out=str(tmp_path / "whole"))

    played: list[int] = []
    allowed = 4
    play = play_match

    def counted(first: Blueprint, second: Blueprint, dealer: Dealer, hands: int, seed: Seed) -> Units:
        if len(played) == allowed:
            raise KeyboardInterrupt
        played.append(hands)
        return play(first, second, dealer, hands, seed)

    monkeypatch.setattr(learning_curve, "play_match", counted)
    with pytest.raises(KeyboardInterrupt):
        result("leduc", tmp_path)
    path = tmp_path / "out" / "leduc" / "matches.jsonl"
    path.write_bytes(path.read_bytes()[:-5])  # the last one is cut short
    played.clear()
    allowed = 100
    again = result("leduc", tmp_path)
    assert len(played) == 3
    assert again["curves"] == whole["curves"]

    played.clear()
    write(tmp_path, "leduc", "uct", 1, [snapshots[0], snapshots[1], snapshots[4]])
    write(tmp_path, "leduc", "smooth_uct", 1, [snapshots[2], snapshots[3], snapshots[5]])
    longer = result("leduc", tmp_path)
    assert len(played) == 3
    for name, points in longer["curves"].items():
        assert [point["iterations"] for point in points] == list(POINTS)
        assert points[:2] == whole["curves"][name]

    for settings, matches in (({"hands": 500}, 9), ({"seed": 2}, 9), ({}, 0), ({"fresh": True}, 9)):
        played.clear()
        result("leduc", tmp_path, **settings)
        assert len(played) == matches


def test_a_snapshot_that_another_run_has_overwritten_is_refused(tmp_path: Path) -> None:
    rules, path = load_rules("leduc"), tmp_path / "snapshot"
    random_policy(rules, 1).save(path, {}, {})
    point = {"snapshot": str(path), "fingerprint": open_artifact(path, KIND).fingerprint}
    write(tmp_path, "leduc", "uct", 1, [point] * 3)
    result("leduc", tmp_path)
    random_policy(rules, 2).save(path, {}, {})
    with pytest.raises(PokernetsError, match=r"was overwritten by another run, so the policies of .*curve_leduc_uct_1"):
        result("leduc", tmp_path)


def test_interval_over_runs_includes_the_luck_of_the_deals(tmp_path: Path) -> None:
    for seed in (1, 2, 3):
        write(tmp_path, "leduc", "uct", seed, random_snapshots(tmp_path, [1]) * 3)
    points = result("leduc", tmp_path)["curves"]["uct vs always_call"]
    assert points[0]["half_width_95"] > 0
    assert {point["mean"] for point in points} == {points[0]["mean"]}  # the same deals at every point


def test_no_curve_is_said(tmp_path: Path) -> None:
    with pytest.raises(PokernetsError, match="no learning curve of kuhn"):
        result("kuhn", tmp_path)


def test_runs_of_one_seed_are_not_two(tmp_path: Path) -> None:
    for place, seed in (("one", 1), ("copied", 1), ("other", 2)):
        (tmp_path / place).mkdir()
        write(tmp_path / place, "leduc", "uct", seed, [{"nash_conv": 0.1 * seed}])
    record = result("leduc", tmp_path)
    assert record["runs"] == {"uct": 2}
    assert record["runs_left_out"] == {"uct": 1}
    assert record["curves"]["uct"][0]["mean"] == pytest.approx(0.15)
