"""Commands as the user has them: `pokernets` if that runs or there is no clone, else the scripts of the clone."""

import os
from pathlib import Path

IN_CLONE = (Path(__file__).parents[1] / "pyproject.toml").is_file()
PROGRAM = "pokernets"
STARTED_BY = "POKERNETS_STARTED_BY"
"""Environment variable by which an entry point tells what it is, to its child processes too."""
RUNS_PROGRAM = os.environ.get(STARTED_BY) == PROGRAM
_HAS_SCRIPTS = IN_CLONE and not RUNS_PROGRAM

COMMANDS = (
    {"data_gen": "python -m data_gen", "evaluate": "python evaluate.py", "train": "python train.py"}
    if _HAS_SCRIPTS
    else {"data_gen": f"{PROGRAM} data", "evaluate": f"{PROGRAM} evaluate", "train": f"{PROGRAM} train"}
)
"""Command of each root of the configuration."""


def how_to_install(extra: str) -> str:
    """Installs the dependencies of an extra."""
    return f"pip install -e '.[{extra}]' in the clone" if IN_CLONE else f"pip install '{PROGRAM}[{extra}]'"
