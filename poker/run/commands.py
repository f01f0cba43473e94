"""Names of the commands as the user types them.

They are `pokernets VERB` if that program runs or there is no clone, and otherwise the scripts of the clone.
"""

import os
import re
import shlex
import sys
from pathlib import Path

from poker.run.atomic import bundle_of

IN_CLONE = (Path(__file__).parents[2] / "pyproject.toml").is_file()
PROGRAM = "pokernets"
STARTED_BY = "POKERNETS_STARTED_BY"
"""Environment variable with the name of the program that started this process or its parent."""
RUNS_PROGRAM = os.environ.get(STARTED_BY) == PROGRAM
_HAS_SCRIPTS = IN_CLONE and not RUNS_PROGRAM

COMMANDS = (
    {"data_gen": "python -m data_gen", "evaluate": "python evaluate.py", "train": "python train.py"}
    if _HAS_SCRIPTS
    else {"data_gen": f"{PROGRAM} data", "evaluate": f"{PROGRAM} evaluate", "train": f"{PROGRAM} train"}
)
"""Command for each root of the configuration."""

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
GET_A_BUNDLE = f"Get a new copy, or pack one with {_DATA_GEN} job=bundle"
MAKERS = {
    **{job: f"{_DATA_GEN} job={job}" for job in _JOBS},
    "continuation_forms": f"{_DATA_GEN} job=continuations",
    "leaf_table_generated": f"{_DATA_GEN} job=leaf_table continuations=self_generated job.output={{}}",
    "smooth_uct": f"{_DATA_GEN} job=blueprint solver=smooth_uct job.output={{}}",
    "uct": f"{_DATA_GEN} job=blueprint solver=uct job.output={{}}",
    "leaf_net": f"{_TRAIN} model=leaf",
    "opponent_net": f"{_TRAIN} model=opponent",
    **{net: f"{_TRAIN} model=opponent net={net}" for net in ("hand", "adaptive")},
}
"""Command that makes an artifact, by the name of its folder, by the name of the parent folder, or by its kind. Errors
about a missing or unusable artifact recommend it."""

_ARTIFACTS = Path("artifacts")
EXPERIMENTS = ("flop_holdem", "rival", "six_max")
"""Experiments whose artifacts are in a folder of the same name below `artifacts`."""
_OF_A_SCALE = re.compile(r"(tiny|demo|laptop|workstation)(?:_([36])p)?")
"""Names of folders below `artifacts`: a scale, for two players or for three or six."""
_PLAIN = re.compile(r"[\w./+-]+", re.ASCII)
"""Paths that need no quotes in Hydra's grammar."""
_SCALE_OR_GAME = re.compile(r"scale=\w+|game(?:\.\w+)*=\S+")


def how_to_install(extra: str) -> str:
    """Return the command that installs the dependencies of an extra."""
    return f"pip install -e '.[{extra}]' in the clone" if IN_CLONE else f"pip install '{PROGRAM}[{extra}]'"


def how_to_make(kind: str, target: Path, first: str = "") -> str:
    """Return advice on how to make a missing artifact.

    Args:
        kind: kind of the artifact; may be empty.
        target: folder of the artifact.
        first: a step to take before the command.
    """
    if (bundle := bundle_of(target)) is not None:
        folder = _ARTIFACTS / bundle.stem
        first = f"Bundles are only read: use artifacts={folder} and"
        return how_to_make(kind, folder / target.relative_to(bundle), first)
    names = (target.name, target.parent.name, kind) if not kind or kind in MAKERS else ()
    command = next((MAKERS[name] for name in names if name in MAKERS), "")
    settings = _settings_for(next(parent for parent in target.parents if parent.name not in MAKERS))
    how = " ".join(["make it with:", command.format(target), *settings]) if command else "run the command that makes it"
    advice = f"{first} {how}".lstrip()
    return advice[0].upper() + advice[1:]


def how_to_replace(kind: str, target: Path) -> str:
    """Return advice about an unusable artifact: move it away, as it may be the user's work, and make it again."""
    if bundle_of(target) is not None:
        return GET_A_BUNDLE
    return how_to_make(kind, target, first=f"Move {target} away and")


def _settings_for(folder: Path) -> list[str]:
    """Return the settings with which commands write artifacts to `folder`, for the game of the running command."""
    typed = [word for word in sys.argv[1:] if _SCALE_OR_GAME.fullmatch(word)]
    words = [f"artifacts={folder}" if _PLAIN.fullmatch(str(folder)) else f'artifacts="{folder}"']
    if folder.parent == _ARTIFACTS:
        if folder.name in EXPERIMENTS:
            return [f"experiment={folder.name}"]
        if (match := _OF_A_SCALE.fullmatch(folder.name)) is not None:
            scale, players = match.groups()
            typed = [word for word in typed if not word.startswith("scale=")]
            words = [f"scale={scale}"] if scale != "demo" else []
            words += [f"game=holdem_nolimit_{players}p"] if players else []
    return [shlex.quote(word) for word in dict.fromkeys([*typed, *words])]
