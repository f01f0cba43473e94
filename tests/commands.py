"""The project's commands as a user runs them, but in this process, where what they import is there already."""

import contextlib
import io
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from unittest import mock

from conf.compose import compose
from conf.entry import run
from tests.killed import ROOT
from train import train

_GROUPS = {"data_gen/__main__.py": "job", "evaluate.py": "evaluate", "train.py": "model"}


def places(folder: Path) -> tuple[str, str]:
    """Where a command reads and writes below `folder`: relative folders, as the defaults are."""
    return f"artifacts={os.path.relpath(folder)}", f"runs={os.path.relpath(folder / 'runs')}"


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


def run_here(command: str, *arguments: object) -> Done:
    """`data_gen`, `evaluate` or `train` with these arguments; what is no error of a user is raised."""
    return run_script(ROOT / next(script for script in _GROUPS if script.startswith(command)), *arguments)


def run_script(script: Path, *arguments: object, cwd: Path = Path()) -> Done:
    """A script of Python in this process, as `python SCRIPT ...` runs it in `cwd`."""
    status: object = 0
    with (
        mock.patch.object(sys, "argv", [str(script), *map(str, arguments)]),
        mock.patch.object(sys, "orig_argv", ["python", str(script), *map(str, arguments)]),
        contextlib.redirect_stdout(io.StringIO()) as stdout,
        contextlib.redirect_stderr(io.StringIO()) as stderr,
        contextlib.chdir(cwd),
    ):
        try:
            runpy.run_path(str(script), run_name="__main__")
        except SystemExit as left:
            status = left.code or 0
    return Done(status, stdout.getvalue(), stderr.getvalue())


def run_program(
    *command: object, cwd: Path = ROOT, status: int = 0, environment: Mapping[str, str] = os.environ, **variables: str
) -> Done:
    """Run a program that must end with `status` and return its output; `variables` are added to its environment."""
    done = subprocess.run(
        [*map(str, command)], cwd=cwd, env={**environment, **variables}, capture_output=True, text=True, check=False
    )
    assert done.returncode == status, done.stderr[-4000:]
    return Done(status, done.stdout, done.stderr)


def call_here(command: str, *settings: object) -> Any:
    """Run the program that the settings choose and return its result; errors are raised."""
    group = next(group for script, group in _GROUPS.items() if script.startswith(command))
    config = compose(command, [*map(str, settings)])
    if command == "train":
        return train(config)
    return run(config, config[group])
