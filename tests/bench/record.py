"""Record of a benchmark: its findings, and the command, code and machine behind them."""

from pathlib import Path
from typing import Any

from omegaconf import DictConfig, OmegaConf

from conf.entry import command_line
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
