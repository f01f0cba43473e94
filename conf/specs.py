"""Parts of a configuration that are built later, in the processes that play, and not when the command starts."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from conf.compose import build
from poker.evaluation.aivat.value_functions import ValueFunctionSpec
from poker.play.lineup import AgentSpec
from poker.store.artifacts import artifact_exists


def agents(optional: Mapping[str, str] = MappingProxyType({}), **settings: Any) -> list[AgentSpec]:
    """The agents of a line-up, by name; of `optional` ones, by name, only those whose artifact there is. Settings of
    agents that are not in the line-up say nothing."""
    lacking = {name for name, artifact in optional.items() if not artifact_exists(artifact)}
    chosen = {name: node for name, node in settings.items() if name not in lacking and "_target_" in node}
    return [AgentSpec(name, partial(build, node), node) for name, node in chosen.items()]


def unhurried(settings: Mapping[str, Any]) -> list[AgentSpec]:
    """The agents of a line-up without limits of time: programs ask for what is right, not for a move in time."""
    limits = dict.fromkeys(("seconds_per_decision", "seconds_per_hand"))
    nodes = {name: dict(node) for name, node in settings.items() if name not in ("_target_", "_recursive_")}
    for node in nodes.values():
        if isinstance(search := node.get("search"), Mapping) and limits.keys() <= search.keys():
            node.update({"search": {**search, **limits}}, **{key: None for key in limits if key in node})
    return agents(**nodes)


def agent(settings: Mapping[str, Any] | None) -> AgentSpec | None:
    """A single agent under its own name."""
    return None if settings is None else AgentSpec(settings["name"], partial(build, settings), settings)


def reviewer(game: Mapping[str, Any], heads_up: Mapping[str, Any], ring: Mapping[str, Any]) -> AgentSpec | None:
    """The agent that reviews in place of those that play `game`: `heads_up`, or `ring` at tables of more."""
    return agent(ring if build(game).num_players > 2 else heads_up)


def values(settings: Mapping[str, Any]) -> ValueFunctionSpec:
    """The value function of AIVAT."""
    return ValueFunctionSpec(partial(build, settings), settings)


def part(settings: Mapping[str, Any]) -> Callable[[], Any]:
    """The part that `settings` describe, built where it is called."""
    return partial(build, settings)


def parts(**settings: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """Parts by name, each built where it is called."""
    return {name: part(node) for name, node in settings.items()}
