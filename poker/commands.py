"""Commands as the user has them: `pokernets` if that runs or there is no clone, else the scripts of the clone."""

import os
from dataclasses import dataclass
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

_JOBS = (
    "abstraction",
    "blueprint",
    "continuations",
    "leaf_table",
    "leaf_states",
    "range_states",
    "preflop_rollouts",
    "opponent_actions",
)
_DATA_GEN, _TRAIN = COMMANDS["data_gen"], COMMANDS["train"]
MAKERS: dict[str, tuple[str, ...]] = {
    **{job: (_DATA_GEN, f"job={job}") for job in _JOBS},
    "continuation_forms": (_DATA_GEN, "job=continuations"),
    "leaf_net": (_TRAIN, "model=leaf"),
    "range_net": (_TRAIN, "model=range_values"),
    "opponent_net": (_TRAIN, "model=opponent"),
}
"""The command that makes each kind: what an error about a missing or unusable artifact tells the user to run."""

MAKERS_BY_NAME: dict[str, tuple[str, ...]] = {
    "leaf_table_generated": (_DATA_GEN, "job=leaf_table", "continuations=self_generated", "job.output={}"),
    "smooth_uct": (_DATA_GEN, "job=blueprint", "solver=smooth_uct", "job.output={}"),
    "uct": (_DATA_GEN, "job=blueprint", "solver=uct", "job.output={}"),
    "hand": (_TRAIN, "model=opponent", "net=hand"),
    "adaptive": (_TRAIN, "model=opponent", "net=adaptive"),
}
"""Commands by the last part of the path, for kinds of which agents name several artifacts."""


def how_to_install(extra: str) -> str:
    """Installs the dependencies of an extra."""
    return f"pip install -e '.[{extra}]' in the clone" if IN_CLONE else f"pip install '{PROGRAM}[{extra}]'"


@dataclass(frozen=True)
class Remedy:
    """Advice that ends in the command that makes what should be at `target`, if one does: its script and its settings,
    GROUP=OPTION first. The launcher completes it by the scale, the game and the places of the command that failed."""

    advice: str
    target: Path
    command: str = ""
    settings: tuple[str, ...] = ()

    def __str__(self) -> str:
        return " ".join([self.advice, self.command, *self.settings]).rstrip()


def how_to_make(kind: str, target: Path, first: str = "") -> Remedy:
    """Remedy for a missing artifact: after what is to be done `first`, the command that makes it."""
    command, *settings = MAKERS_BY_NAME.get(target.name, MAKERS.get(kind, ("",)))
    advice = f"{first} {'make it with:' if command else 'run the command that makes it'}".lstrip()
    settings = [setting.format(target) for setting in settings]
    return Remedy(advice[0].upper() + advice[1:], target, command, tuple(settings))


def how_to_replace(kind: str, target: Path) -> Remedy:
    """Remedy for an unusable artifact: delete it and make it again."""
    return how_to_make(kind, target, first=f"Delete {target} and")
