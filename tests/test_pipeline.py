"""`make pipeline SCALE=tiny` in a copy of the checkout with its default relative folders: interrupted, again, whole."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cases import table
from tests.killed import ROOT

LEFT_OUT = shutil.ignore_patterns(".*", "artifacts", "build", "docs", "runs", "trained")
KILLED = table(__file__, "KILLED")
"""Where each step is killed: when a method has returned so often."""
PYTHON = f"""#!/bin/sh
unset KILL
case "$INTERRUPTED $*" in
{"".join(f'yes*" {step} "*) KILL="{method}";;{chr(10)}' for step, method in KILLED.items())}esac
if [ "$KILL" ]; then {sys.executable} -m tests.killed $KILL "$@"; [ $? = 137 ] || exit 99; fi
exec {sys.executable} "$@"
"""
"""The Python of the copy, which starts interrupted steps again."""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A copy of what the pipeline needs, with compiled kernels, where make finds everything installed."""
    shutil.copytree(ROOT, tmp_path, ignore=LEFT_OUT, dirs_exist_ok=True)
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / ".installed").touch()
    (tmp_path / ".venv" / "bin" / "python").write_text(PYTHON)
    (tmp_path / ".venv" / "bin" / "python").chmod(0o755)
    return tmp_path


def start(checkout: Path, interrupted: str = "no") -> subprocess.Popen[str]:
    """Start the pipeline as the first make of all."""
    foreign = ("MAKE", "MFLAGS", "POKERNETS_", "PYTHONPATH")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(foreign)}
    pipes: Any = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    command = "make", "pipeline", "SCALE=tiny"
    return subprocess.Popen(command, cwd=checkout, env={**environment, "INTERRUPTED": interrupted}, **pipes)


def fingerprints(checkout: Path, interrupted: str = "no") -> dict[str, str]:
    """Run the pipeline and return the fingerprints of all artifacts."""
    with start(checkout, interrupted) as process:
        output, _ = process.communicate(timeout=600)
    assert process.returncode == 0, output
    artifacts = checkout / "artifacts" / "tiny"
    manifests = {str(file.parent.relative_to(artifacts)): file for file in artifacts.rglob("manifest.json")}
    return {name: json.loads(file.read_text())["fingerprint"] for name, file in sorted(manifests.items())}


@pytest.mark.slow
def test_every_step_is_made_once_and_interruptions_change_nothing(checkout: Path) -> None:
    interrupted = fingerprints(checkout, interrupted="yes")
    assert {"leaf_net", "nolimit/opponent_net/adaptive"} <= interrupted.keys()

    with start(checkout) as process:
        assert process.stdout is not None
        assert any("[5/9]" in line for line in process.stdout)
        process.kill()
        assert "exported" not in process.stdout.read()  # to the end of the last process
    assert fingerprints(checkout) == interrupted

    (checkout / "runs").rename(checkout / "runs_before")
    (checkout / "artifacts" / "tiny").rename(checkout / "artifacts" / "before")  # whose abstraction is copied
    assert fingerprints(checkout) == interrupted
