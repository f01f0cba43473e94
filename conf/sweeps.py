"""Jobs of a sweep: the folder of each, and the table at the end."""

import hashlib
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.overrides_parser import OverridesParser
from omegaconf import DictConfig

from conf.arguments import flags_and_settings

_FOLDER_LENGTH = 100
_PLACES = ("outputs", "runs")


class Job(NamedTuple):
    """A job that ended: its own settings, its folder, and the result that a sweeper takes, if it is a number."""

    settings: str
    folder: str
    metric: float | None


@contextmanager
def own_folder(config: DictConfig) -> Iterator[None]:
    """Give the current job folders of its own, and let the command line be the job's inside the block: Lightning starts
    its other processes with it, and records hold it."""
    given = sys.argv[1:]
    for place in _PLACES:
        config[place] = f"{config[place]}/{_folder(given)}"
    sys.argv[1:] = [*HydraConfig.get().overrides.task, *(f"{place}={config[place]}" for place in _PLACES)]
    try:
        yield
    finally:
        sys.argv[1:] = given


def ended(config: DictConfig, root: str, metric: Any) -> Job:
    """The current job, after its `own_folder`."""
    place = config.runs if root == "evaluate" else config.outputs
    return Job(" ".join(_swept(sys.argv[1:])), place, metric if isinstance(metric, float) else None)


def table(jobs: list[Job]) -> str:
    """A line for each job, in the order in which they ran."""
    rows = [("settings", "metric", "folder")]
    rows += [(job.settings, "" if job.metric is None else f"{job.metric:.6g}", job.folder) for job in jobs]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    return "\n".join(f"{row[0]:{widths[0]}}  {row[1]:>{widths[1]}}  {row[2]}" for row in rows)


def _swept(given: list[str]) -> list[str]:
    """Overrides of the current job in which it differs from others, for the command line `given` to all."""
    job = HydraConfig.get()
    parsed = OverridesParser.create().parse_overrides(flags_and_settings(given)[1])
    keys = {each.key_or_group for each in parsed if each.is_sweep_override()} | {*(job.sweeper.get("params") or ())}
    return [override for override in job.overrides.task if override.partition("=")[0].lstrip("+") in keys]


def _folder(given: list[str]) -> str:
    """A name for what the current job makes; overrides that differ have different ones. A long one begins with the
    settings that the sweep varies."""
    name = HydraConfig.get().job.override_dirname
    short = _safe(name)
    if len(short) > _FOLDER_LENGTH:
        short = (_safe("+".join(_swept(given)).replace("=", "-")) or short)[:_FOLDER_LENGTH]
    return short if short == name else f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _safe(name: str) -> str:
    return re.sub(r"[^\w.+-]+", "_", name)
