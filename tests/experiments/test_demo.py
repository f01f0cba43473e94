"""The tables at the end of `make demo`."""

import json
from pathlib import Path
from typing import Any

import pytest

from poker.agents.local_best_response import LbrActions, LbrStreet
from poker.experiments.demo import run
from poker.run.parallel import LocalCluster
from poker.store.artifacts import MissingArtifactError, write_artifact
from tests.cases import table
from tests.games import load_rules
from tests.matches import SPECS

LEAF = {"validation": {"huber": 0.1, "huber_of_mean": 0.2, "label_noise": 0.05}}
OPPONENT = {"test": {"log_loss": 0.5, "log_loss_of_mean": 0.9}}


def demo(folder: Path, **changes: Any) -> dict[str, Any]:
    """The record of a demo on Leduc, after the nets were made."""
    write_artifact(folder / "leaf", "leaf_net", config={}, arrays={}, made_from={}, counts=LEAF)
    write_artifact(folder / "hand", "opponent_net", config={}, arrays={}, made_from={}, counts=OPPONENT)
    settings: dict[str, Any] = {
        "game": load_rules("leduc"),
        "agents": SPECS,
        "adversary": {"lbr": LbrActions([LbrStreet(fold=True, raises=[1])] * 2)},
        **table(__file__, "settings"),
        "leaf_net": str(folder / "leaf"),
        "opponent_nets": {"hand": str(folder / "hand")},
        "cluster": LocalCluster(1),
        "out": str(folder / "runs"),
    }
    run(**{**settings, **changes})
    (record,) = (folder / "runs").glob("demo-*/results.json")
    written: dict[str, Any] = json.loads(record.read_text())
    return written


def test_tables(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = demo(tmp_path)
    assert [(row["players"], row["hands"]) for row in record["off_tree"]] == [
        (["lbr@call", "call"], 20),
        (["lbr@raise", "raise"], 20),
    ]
    assert [(row["players"], row["hands"], row["sessions"]) for row in record["learning"]] == [
        (["raise", "random"], 40, 2),
        (["call", "random"], 40, 2),
    ]
    printed = capsys.readouterr().out
    assert printed.count("┏") == 3  # its own tables, not those of the two matches
    assert "67%" in printed  # (0.2 - 0.1) / (0.2 - 0.05)
    assert "too narrow" in printed


def test_missing_net(tmp_path: Path) -> None:
    (tmp_path / "runs").mkdir()
    with pytest.raises(MissingArtifactError, match=r"no opponent_net at .*train.py model=opponent"):
        demo(tmp_path, opponent_nets={"hand": str(tmp_path / "none")})
    assert not list((tmp_path / "runs").iterdir())  # before anything is played
