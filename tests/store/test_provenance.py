"""Provenance in records, without paths of this machine."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from omegaconf import OmegaConf

from conf.entry import command_line, recorded
from poker.store.artifacts import write_artifact
from poker.store.provenance import configured, portable, provenance
from tests.killed import ROOT

RESULTS = Path(__file__).parents[2] / "docs" / "results"


def test_configuration_is_recorded_only_while_it_is_used() -> None:
    assert {"time", "commit", "machine", "versions"} == set(provenance())
    with configured({"hands": 3, "menu": {"flop": ["a"]}}, {}, "python evaluate.py"):
        record = json.loads(json.dumps(provenance()))
        with configured({"hands": 4}):
            assert provenance()["configuration"] == {"hands": 4}
    assert record["configuration"] == {"hands": 3, "menu": {"flop": ["a"]}}
    assert record["command"] == "python evaluate.py"
    assert "configuration" not in provenance()


def test_artifacts_in_settings_are_recorded_by_fingerprint(tmp_path: Path) -> None:
    made = write_artifact(tmp_path / "demo" / "leaf_net", "leaf_net", config={}, arrays={})
    settings = {"agents": [{"leaves": [{"path": str(made.path)}], "name": "leaf_net"}]}
    with configured(settings, {"artifacts": str(tmp_path / "demo")}):
        assert provenance()["artifacts"] == {"artifacts/leaf_net": made.fingerprint}
    with configured({"hands": 3}):
        assert provenance()["artifacts"] == {}


def test_no_secret_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """The token of a table lets others in: a report, which the visitors of the table see too, does without it."""
    monkeypatch.setattr("sys.orig_argv", ["python", "evaluate.py", "evaluate=play", "token=abc123", "port=0"])
    with configured({"token": "abc123", "pages": [{"token": "abc123", "hands": 3}]}, {}, command_line()):
        record = provenance()
    assert record["configuration"] == {"token": None, "pages": [{"token": None, "hands": 3}]}
    assert record["command"].endswith("evaluate=play port=0")
    assert "abc123" not in json.dumps(record)


def test_no_path_of_this_machine_is_recorded() -> None:
    with configured({"path": "/data/irc/a.tgz"}, {"runs": "/tmp/mine", "artifacts": "made"}):
        assert provenance()["configuration"] == {"path": "a.tgz"}
        record = portable(
            {
                "log": Path("/tmp/mine/match/x.log"),
                "command": "python evaluate.py runs=/tmp/mine path=/data/irc/a.tgz nodes=[/x/y,/x/z]",
                "error": f'File "{Path("made").absolute() / "net"}", line 3',
                "here": [str(Path("docs/x").absolute()), "docs/x", "mbb/hand", "https://a.org/b/c", "r300c/cr600/"],
                "hands": 3,
            }
        )
    assert record == {
        "log": "runs/match/x.log",
        "command": "python evaluate.py runs=runs path=a.tgz nodes=[y,z]",
        "error": 'File "artifacts/net", line 3',
        "here": ["docs/x", "docs/x", "mbb/hand", "https://a.org/b/c", "r300c/cr600/"],
        "hands": 3,
    }


def test_the_command_of_a_record_is_the_one_that_was_typed(tmp_path: Path) -> None:
    """It plays the same match again, in another folder too: the bundle of the installation is not in it."""
    typed = ["match", "agents=[equity,always_call]", "hands=2"]
    for folder in (tmp_path / "first", tmp_path / "again"):
        folder.mkdir()
        run = [sys.executable, "-m", "pokernets", *typed]
        subprocess.run(run, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, check=True, capture_output=True)
        [file] = folder.glob("runs/*/matches/*/*/results.json")
        record = json.loads(file.read_text())
        program, *recorded = shlex.split(record["command"])
        assert (program, recorded) == ("pokernets", typed)
        typed = recorded
    assert (tmp_path / "first" / file.relative_to(tmp_path / "again")).is_file()


def test_a_bundle_keeps_its_name(tmp_path: Path) -> None:
    """Commands that read a bundle would write beside it, which is no folder of outputs."""
    file = tmp_path / "mine.bundle"
    file.touch()
    config = OmegaConf.create({"artifacts": "/made/x", "outputs": str(file), "runs": "/made/runs"})
    with recorded(config, {}):
        assert portable(f"artifacts={file} log=/made/runs/x.log") == "artifacts=mine.bundle log=runs/x.log"


@pytest.mark.parametrize("file", sorted(RESULTS.rglob("*.json")), ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_no_result_of_ours_has_a_path_of_a_machine(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert [portable(line) for line in lines] == lines
