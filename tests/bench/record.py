"""Record of a benchmark: its findings, and the command, code and machine behind them."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from conf.arguments import command_line
from poker.run.atomic import MANIFEST
from poker.store.provenance import fingerprints, portable, provenance


def record(played: Any = None, **content: Any) -> dict[str, Any]:
    """`played` names the artifacts of what was measured: settings, or the folder of them; {} if there were none. A
    record without is refused by tests/evidence."""
    if isinstance(played, Path):
        played = [str(path.parent) for path in played.rglob(MANIFEST) if not path.parent.name.startswith("shard-")]
    if isinstance(played, DictConfig):
        played = OmegaConf.to_container(played, resolve=True)
    named = {} if played is None else {"artifacts": fingerprints(played)}
    return {**content, **named, "command": portable(command_line()), **provenance()}


def run_into_file(name: str, counted: str, measure: Callable[[int, list[str]], dict[str, Any]]) -> None:
    """Call `measure` with what the command line `COUNT FILE [key=value ...]` gives, and write the result to FILE."""
    parser = argparse.ArgumentParser(prog=f"python -m tests.bench.{name}")
    parser.add_argument(counted, type=int)
    parser.add_argument("output")
    parser.add_argument("settings", nargs="*", metavar="key=value")
    given = parser.parse_args()
    content = measure(getattr(given, counted), given.settings)
    with open(given.output, "w") as file:
        json.dump(content, file, indent=1)
