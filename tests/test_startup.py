"""Commands import nothing heavy that they do not use."""

import json
import sys
from pathlib import Path

import pytest

import pokernets
from pokernets.command import main
from tests.cases import cases
from tests.commands import run_program
from tests.killed import ROOT
from tests.solvers.games import SPOTS

ALWAYS_LATER = ("lightning", "torchmetrics", "matplotlib", "scipy.linalg", "pandas")
"""Training, pictures of curves and linear algebra."""


@cases
def test_unused_modules_are_not_imported(
    command: tuple[str, ...], status: int, unused: tuple[str, ...], tmp_path: Path
) -> None:
    (tmp_path / "turn.json").write_text(json.dumps(SPOTS["t1_turn_basic"]["config"]))
    words = (ROOT / word if word.endswith(".py") else word for word in command)
    done = run_program(
        sys.executable, *words, cwd=tmp_path, status=status, PYTHONPATH=str(ROOT), PYTHONPROFILEIMPORTTIME="1"
    )
    lines = [line for line in done.stderr.splitlines() if line.startswith("import time:")]
    imported = {line.rpartition("|")[2].strip() for line in lines}
    assert {"conf.entry", "hydra"} <= imported
    heavy = [name for name in (*ALWAYS_LATER, *unused) if name in imported]
    assert not heavy


def test_other_systems_are_refused_by_name(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(pokernets, "_SYSTEM", "nt")
    monkeypatch.setattr(sys, "argv", ["pokernets", "play"])
    with pytest.raises(SystemExit, match="2"):
        main()
    assert capsys.readouterr().err.startswith("error: pokernets runs on Linux and macOS (POSIX); on Windows")
    with pytest.raises(ImportError, match="WSL"):
        pokernets.__getattr__("solve")
    for arguments in (["--version"], ["--help"]):
        monkeypatch.setattr(sys, "argv", ["pokernets", *arguments])
        main()
