"""The agent that comes with the clone."""

import json
from pathlib import Path

import pytest

from poker.store.bundle import open_bundle
from tests.commands import run_here
from tests.killed import ROOT

TRAINED = ROOT / "models" / "trained" / "laptop.bundle"


def test_it_is_small_and_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert TRAINED.stat().st_size <= 40e6
    assert "depth_limited" in open_bundle(TRAINED).seats


def test_it_plays(tmp_path: Path, device: str) -> None:
    match = ["evaluate=match", "agents=[depth_limited,always_call]", "hands=4", "cluster.processes=1"]
    places = f"artifacts={TRAINED}", f"runs={tmp_path}", f"search.solver.device={device}"
    few = [] if device == "cpu" else ["search.solver.iterations=[4,4,4,4]"]
    assert run_here("evaluate", *match, *places, *few).returncode == 0
    [results] = tmp_path.rglob("results.json")
    assert json.loads(results.read_text())["agents"]["depth_limited"]["units"] == 2  # deals, each in both seats


def test_the_tables_agent_loses_little_before_the_flop(tmp_path: Path) -> None:
    """Its own leaf table is exact here; a joint search once lost 42 mbb per hand."""
    bundle = [f"artifacts={TRAINED}", "scale=laptop", "search=strong", f"runs={tmp_path}"]
    assert run_here("evaluate", "evaluate=preflop", *bundle).returncode == 0
    [results] = tmp_path.rglob("results.json")
    [agent] = json.loads(results.read_text())["agents"]
    assert 0 < agent["exploitability_mbb"] < 8
