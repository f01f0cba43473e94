"""Parts of a configuration that are built later, in the processes that play, and not when the command starts."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from conf.bundles import WHOLE_BLUEPRINT, check_needs, missing, needs
from conf.compose import call, compose, resolve
from conf.help import choices
from conf.remedies import completed, places
from conf.signatures import ConfigurationError
from poker.evaluation.aivat.value_functions import ValueFunctionSpec
from poker.play.lineup import AgentSpec
from poker.run.commands import how_to_make
from poker.run.errors import PokernetsError
from poker.store.artifacts import MissingArtifactError

_UNBUNDLED = ("opponent_actions", "bundle.json")
"""Last parts of what agents need that no bundle holds."""


def agents(_optional_: Any = (), **settings: Mapping[str, Any]) -> list[AgentSpec]:
    """The agents of a line-up, by name, once what they need is there; those of `_optional_` only where it is."""
    there = {name: node for name, node in settings.items() if name not in _optional_ or not missing(node)}
    check_needs(there)
    return [AgentSpec(name, partial(call, node), node) for name, node in there.items()]


def bundled(artifacts: str) -> dict[str, list[str]]:
    """The agents of conf/agents that a bundle can seat, with the places below `artifacts` of what they need."""
    names, folder = choices("agents"), Path(artifacts)
    config = compose("evaluate", ["evaluate=match", f"agents=[{','.join(names)}]"])
    config.artifacts = artifacts
    every = {name: dict.fromkeys(needs(resolve(config.agent[name]))) for name in names}
    paths = {name: [path for path in every[name] if path.name != WHOLE_BLUEPRINT] for name in names}
    return {
        name: [str(path.relative_to(folder)) for path in paths[name]]
        for name in names
        if paths[name] and all(path.is_relative_to(folder) and path.name not in _UNBUNDLED for path in paths[name])
    }


def unhurried(settings: Mapping[str, Any]) -> list[AgentSpec]:
    """The agents of a line-up without limits of time: programs ask for what is right, not for a move in time."""
    limits = dict.fromkeys(("seconds_per_decision", "seconds_per_hand"))
    optional = settings.get("_optional_", ())
    nodes = {name: dict(node) for name, node in settings.items() if not name.startswith("_")}
    for node in nodes.values():
        if isinstance(search := node.get("search"), Mapping) and limits.keys() <= search.keys():
            node["search"] = {**search, **limits}
    return agents(optional, **nodes)


def agent(settings: Mapping[str, Any] | str | None) -> AgentSpec | None:
    """A single agent under its own name."""
    if isinstance(settings, str):
        raise ConfigurationError(f"another agent is chosen by agents@fallback={settings}")
    return None if settings is None else AgentSpec(settings["name"], partial(call, settings), settings)


def reviewer(game: Mapping[str, Any], heads_up: Mapping[str, Any], ring: Mapping[str, Any]) -> AgentSpec | None:
    """The agent that reviews in place of those that play `game`: `heads_up`, or `ring` at tables of more. Built when
    first asked for a review, it says which command makes what it lacks."""
    settings = ring if call(game).num_players > 2 else heads_up
    chosen = agent(settings)
    return None if chosen is None else replace(chosen, factory=partial(_built, settings, places()))


def _built(settings: Mapping[str, Any], places: str) -> Any:
    try:
        return call(settings)
    except PokernetsError as error:
        raise PokernetsError(completed(error, places)) from error


def no_blueprint(blueprint: str) -> PokernetsError:
    """The error where there is no blueprint of this scale and game, with the command that makes it."""
    error = MissingArtifactError("There is no blueprint yet", how_to_make("blueprint", Path(blueprint)))
    return PokernetsError(completed(error, places()))


def values(settings: Mapping[str, Any]) -> ValueFunctionSpec:
    """The value function of AIVAT."""
    return ValueFunctionSpec(partial(call, settings), settings)


def part(settings: Mapping[str, Any]) -> Callable[[], Any]:
    """The part that `settings` describe, built where it is called."""
    return partial(call, settings)


def parts(**settings: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """Parts by name, each built where it is called."""
    return {name: partial(call, node) for name, node in settings.items()}
