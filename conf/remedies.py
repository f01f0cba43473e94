"""Commands that make what is missing, for the scale, the game and the place of the command that lacks it."""

import re
import shlex
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from conf.help import CONF, experiments
from poker.run.commands import Remedy
from poker.run.errors import PokernetsError

_IN_A_SHELL = re.compile(r"[a-zA-Z0-9_.,/+~@:=\[\]-]*")


def places() -> str:
    """Settings that say for what, and from where, the current command works, as they are typed in a shell; empty where
    no command runs, as in calls from Python."""
    if not HydraConfig.initialized():
        return ""
    job = HydraConfig.get()
    defaults = OmegaConf.load(CONF / "base.yaml").defaults
    chosen = [{group: job.runtime.choices[group]} for group in ("scale", "game")]
    settings = [f"{group}={name}" for option in chosen if option not in defaults for group, name in option.items()]
    for override in job.overrides.task:
        key, _, value = override.partition("=")
        if key.startswith("game.") or (key == "artifacts" and not Path(value).is_file()):
            settings.append(override if _IN_A_SHELL.fullmatch(override) else shlex.quote(override))
    return " ".join(settings)


def completed(error: PokernetsError, settings: str) -> str:
    """The message of an error; a command that it ends with gets the `settings` of `places`, or the experiment that the
    folder of what is missing is named after."""
    remedy = error.remedy
    if not isinstance(remedy, Remedy) or not remedy.command:
        return str(error)
    named = [f"experiment={part}" for part in remedy.target.parts if part in experiments()]
    return " ".join([str(error), *(named[:1] or [settings])]).rstrip()
