"""Seconds of whole commands: `python -m tests.bench.startup [REPEATS [NAME ...]] > docs/results/demo/startup.json`.

All but `compile` are warm: kernels compiled, bytecode on disk; a first run does not count. Run it with nothing else
running, in an environment whose packages are byte-compiled.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from tests.bench.record import record
from tests.solvers.games import SPOTS

ROOT = Path(__file__).parents[2]
SPOT = "t1_turn_basic"
COMMANDS = {
    "match_20_hands": "evaluate.py evaluate=match agents=[random,always_call] hands=20 fresh=true",
    "turn_spot": "evaluate.py evaluate=spot spot=turn.json",
    "help_evaluate": "evaluate.py --help",
    "help_train": "train.py --help",
    "help_data_gen": "-m data_gen --help",
    "error_evaluate": "evaluate.py evaluate=matsch",
    "error_value": "evaluate.py evaluate=match hands=many",
    "error_train": "train.py model=leaf model.learning_rat=1",
    "compile": "-m poker.kernels",
}
FAILS = 2
"""Exit status of a command line with a mistake."""


def main(repeats: int, names: list[str]) -> dict[str, Any]:
    """Time the named commands: wall and CPU seconds of all processes, medians of `repeats`."""
    seconds = {}
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "turn.json").write_text(json.dumps(SPOTS[SPOT]["config"]))
        for name in names:
            cold = name == "compile"
            runs = [_seconds(name, Path(folder)) for _ in range(1 if cold else repeats + 1)][0 if cold else 1 :]
            wall, cpu = zip(*runs, strict=True)
            seconds[name] = {"wall_median": statistics.median(wall), "wall": wall, "cpu_median": statistics.median(cpu)}
            print(name, seconds[name], file=sys.stderr)
    what = f"Seconds of whole commands, warm, medians of {repeats} after one that does not count; compile: cold, once."
    return record(what=what, commands={name: COMMANDS[name] for name in names}, found=seconds)


def _seconds(name: str, folder: Path) -> tuple[float, float]:
    """Wall and CPU seconds of a command that runs in `folder`."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    if name == "compile":
        environment["NUMBA_CACHE_DIR"] = str(folder / "cache")
    first, *rest = COMMANDS[name].split()
    script = [first] if first == "-m" else [str(ROOT / first)]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    command = [sys.executable, *script, *rest]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=False)
    wall, after = time.perf_counter() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != (FAILS if name.startswith("error") else 0):
        sys.exit(f"{COMMANDS[name]}: status {done.returncode}\n{done.stderr.decode()}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return round(wall, 2), round(cpu, 2)


if __name__ == "__main__":
    print(json.dumps(main(int((sys.argv[1:] or ["5"])[0]), sys.argv[2:] or list(COMMANDS)), indent=1))
