"""The project's commands as a user runs them, but in this process, where what they import is there already."""

import contextlib
import io
import runpy
import sys
from typing import Any, NamedTuple
from unittest import mock

from conf.compose import compose
from conf.entry import run
from tests.killed import ROOT
from train import train

_GROUPS = {"data_gen/__main__.py": "job", "evaluate.py": "evaluate", "train.py": "model"}


class Done(NamedTuple):
    returncode: object
    stdout: str
    stderr: str


def run_here(command: str, *arguments: object) -> Done:
    """`data_gen`, `evaluate` or `train` with these arguments; what is no error of a user is raised."""
    script = str(ROOT / next(script for script in _GROUPS if script.startswith(command)))
    status: object = 0
    with (
        mock.patch.object(sys, "argv", [script, *map(str, arguments)]),
        contextlib.redirect_stdout(io.StringIO()) as stdout,
        contextlib.redirect_stderr(io.StringIO()) as stderr,
        contextlib.chdir(ROOT),
    ):
        try:
            runpy.run_path(script, run_name="__main__")
        except SystemExit as left:
            status = left.code or 0
    return Done(status, stdout.getvalue(), stderr.getvalue())


def call_here(command: str, *settings: object) -> Any:
    """The result of what the settings choose; errors are raised."""
    group = next(group for script, group in _GROUPS.items() if script.startswith(command))
    config = compose(command, [*map(str, settings)])
    if command == "train":
        return train(config)
    return run(config, config[group])
