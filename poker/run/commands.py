"""Commands as the user has them: `pokernets` if that runs or there is no clone, else the scripts of the clone."""

import os
from dataclasses import dataclass
from pathlib import Path

IN_CLONE = (Path(__file__).parents[2] / "pyproject.toml").is_file()
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

_JOBS = (
    "abstraction",
    "blueprint",
    "continuations",
    "leaf_table",
    "leaf_states",
    "preflop_rollouts",
    "opponent_actions",
)
_DATA_GEN, _TRAIN = COMMANDS["data_gen"], COMMANDS["train"]
MAKERS = {
    **{job: f"{_DATA_GEN} job={job}" for job in _JOBS},
    "continuation_forms": f"{_DATA_GEN} job=continuations",
    "leaf_table_generated": f"{_DATA_GEN} job=leaf_table continuations=self_generated job.output={{}}",
    "smooth_uct": f"{_DATA_GEN} job=blueprint solver=smooth_uct job.output={{}}",
    "uct": f"{_DATA_GEN} job=blueprint solver=uct job.output={{}}",
    "leaf_net": f"{_TRAIN} model=leaf",
    "opponent_net": f"{_TRAIN} model=opponent",
    **{net: f"{_TRAIN} model=opponent net={net}" for net in ("hand", "held", "adaptive")},
}
"""The command that makes an artifact, by the name of its folder, of the folder around that, or by its kind: what an
error about a missing or unusable one tells the user to run."""


def how_to_install(extra: str) -> str:
    """Installs the dependencies of an extra."""
    return f"pip install -e '.[{extra}]' in the clone" if IN_CLONE else f"pip install '{PROGRAM}[{extra}]'"


@dataclass(frozen=True)
class Remedy:
    """Advice that ends in the command that makes what should be at `target`, if one does. The launcher adds the scale,
    the game and the place of the command that failed."""

    advice: str
    target: Path
    command: str = ""

    def __str__(self) -> str:
        return f"{self.advice} {self.command}".rstrip()


def maker(target: Path, kind: str = "") -> str:
    """The command that makes an artifact of `kind` at `target`; empty if none does."""
    names = (target.name, target.parent.name, kind) if not kind or kind in MAKERS else ()
    return next((MAKERS[name] for name in names if name in MAKERS), "").format(target)


def how_to_make(kind: str, target: Path, first: str = "") -> Remedy:
    """Remedy for a missing artifact: after what is to be done `first`, the command that makes it."""
    command = maker(target, kind)
    advice = f"{first} {'make it with:' if command else 'run the command that makes it'}".lstrip()
    return Remedy(advice[0].upper() + advice[1:], target, command)


def how_to_replace(kind: str, target: Path) -> Remedy:
    """Remedy for an unusable artifact: move it away, since it may be work of the user's own, and make it again."""
    return how_to_make(kind, target, first=f"Move {target} away and")
