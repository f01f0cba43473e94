"""Commands that make what is missing, completed by the scale, the game and the places of the command that lacks it."""

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from hydra.core.hydra_config import HydraConfig
from omegaconf import OmegaConf

from conf.help import CONF, choices, experiments
from poker.atomic import MANIFEST
from poker.commands import COMMANDS, MAKERS, Remedy
from poker.errors import PokernetsError

_IN_A_SHELL = re.compile(r"[a-zA-Z0-9_.,/+~@:=\[\]-]*")


@dataclass(frozen=True)
class Invocation:
    """A command as it was given: its `root`, the option `chosen` of each group, the `overrides`, the place of the
    `artifacts`."""

    root: str
    chosen: Mapping[str, str]
    overrides: tuple[str, ...]
    artifacts: str

    @classmethod
    def current(cls, artifacts: str) -> "Invocation":
        """The command that runs; without choices where none does, as in calls from Python."""
        if not HydraConfig.initialized():
            return cls("", {}, (), artifacts)
        job = HydraConfig.get()
        return cls(job.job.name, dict(job.runtime.choices), tuple(job.overrides.task), artifacts)

    def completed(self, error: PokernetsError) -> str:
        """The message of an error; a command that it ends with gets the scale, the game and the artifacts of this one.
        The folder where something is missing may name the scale, or an experiment that makes it; the same command keeps
        all that it was given."""
        remedy, message = error.remedy, str(error)
        if not isinstance(remedy, Remedy) or not remedy.settings or not self.chosen:
            return message
        group, option = remedy.settings[0].split("=")
        given = [argument for argument in self.overrides if not argument.startswith(f"{group}=")]
        if COMMANDS.get(self.root) == remedy.command and self.chosen.get(group) == option:
            settled = {"dry", *(setting.partition("=")[0] for setting in remedy.settings)}
            given = [argument for argument in given if argument.partition("=")[0] not in settled]
            return " ".join([message, *map(_typed, given)])
        places = self._places(remedy, given)
        told = " ".join([message, *places])
        if option != "blueprint" or not self._lacks_buckets(remedy):
            return told
        first = " ".join([*MAKERS["abstraction"], *places])
        return told.replace(remedy.command, f"{first} && {remedy.command}")

    def _places(self, remedy: Remedy, given: list[str]) -> list[str]:
        """Settings of the remedy that are those of this command and no defaults."""
        is_training = remedy.command == COMMANDS["train"]
        defaults = OmegaConf.load(CONF / "base.yaml").defaults
        parts = remedy.target.parts
        made_by = {name: "experiment" for name, its in experiments().items() if its == remedy.command}
        made_by |= dict.fromkeys(choices("scale"), "scale")
        folder = next((name for above, name in pairwise(parts) if above == "artifacts" and name in made_by), None)
        wanted = {made_by[folder]: folder} if folder else {"scale": self.chosen["scale"]}
        wanted |= {} if is_training else {"game": self.chosen["game"]}
        places = [f"{group}={name}" for group, name in wanted.items() if {group: name} not in defaults]
        places += [_typed(argument) for argument in given if argument.startswith("game.") and not is_training]
        usual = {f"artifacts/{self.chosen['scale']}", ring_artifacts(self.chosen["game"], self.chosen["scale"])}
        elsewhere = folder is None and self.artifacts not in usual
        return [*places, *([f"artifacts={self.artifacts}"] if elsewhere else [])]

    def _lacks_buckets(self, remedy: Remedy) -> bool:
        """Whether the buckets of a blueprint that is to be made are missing too."""
        needed = "holdem" in self.chosen["game"]
        return needed and not (Path(remedy.target).parent / "abstraction" / MANIFEST).exists()


def ring_artifacts(game: str, scale: str) -> str:
    """The folder for artifacts of a game of three to six players; empty for other games."""
    number = re.search(r"_([0-9]+p)$", game)
    return f"artifacts/{scale}_{number[1]}" if number and f"{game}_{scale}" in choices("ring") else ""


def _typed(argument: str) -> str:
    """An override as it is typed in a shell."""
    return argument if _IN_A_SHELL.fullmatch(argument) else shlex.quote(argument)
