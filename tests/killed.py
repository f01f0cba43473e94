"""Commands that die as in a power cut, at the same place every time: they kill themselves.

`python -m tests.killed MODULE:CLASS.METHOD CALLS COMMAND...` runs `train.py ...` or `-m data_gen ...`.
"""

import os
import pkgutil
import runpy
import signal
import subprocess
import sys
from functools import wraps
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def run_killed(method: str, calls: int, *command: str) -> None:
    """Run a command of Python that gets SIGKILL when `method` (`module:Class.method`) has returned `calls` times.

    Its process dies alone, and those that it started must end by themselves.
    """
    arguments = [sys.executable, "-m", "tests.killed", method, str(calls), *command]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        arguments, env=environment, capture_output=True, text=True, timeout=600, check=False, start_new_session=True
    )
    assert done.returncode == -signal.SIGKILL, f"the run ended before it could be killed: {done.stderr}"


def _kill_after(method: str, calls: int) -> None:
    owner, _, name = method.rpartition(".")
    kind = pkgutil.resolve_name(owner)
    called, number = getattr(kind, name), count(1)

    @wraps(called)
    def counted(*arguments: Any, **named: Any) -> Any:
        result = called(*arguments, **named)
        if next(number) == calls:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(kind, name, counted)


def _main(method: str, calls: str, *command: str) -> None:
    _kill_after(method, int(calls))
    if command[0] == "-m":
        sys.argv = ["", *command[2:]]
        runpy.run_module(command[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = [*command]
        runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    _main(*sys.argv[1:])
