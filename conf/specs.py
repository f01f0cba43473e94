"""Parts of a configuration that are built later, in the processes that play, and not when the command starts."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import Any

from conf.checks import check_names
from conf.compose import CONF, build, compose, overrides_of
from poker.evaluation.aivat.value_functions import ValueFunctionSpec
from poker.play.lineup import AgentSpec
from poker.store.artifacts import artifact_exists


def agents(optional: Mapping[str, str] = MappingProxyType({}), **settings: Any) -> list[AgentSpec]:
    """Return the agents of a line-up, by name.

    Args:
        optional: artifacts by agent; an agent whose artifact does not exist is left out.
        settings: settings by agent; settings without a `_target_` belong to agents outside the line-up and are ignored.

    Raises:
        PokernetsError: there are settings of an agent that neither the line-up nor `conf/agents` has.
    """
    check_names("agent", settings, [file.stem for file in (CONF / "agents").glob("*.yaml")])
    lacking = {name for name, artifact in optional.items() if not artifact_exists(artifact)}
    chosen = {name: node for name, node in settings.items() if name not in lacking and "_target_" in node}
    return [AgentSpec(name, partial(build, node), node) for name, node in chosen.items()]


def without_time_limit(settings: Mapping[str, Any]) -> list[AgentSpec]:
    """Return the agents of a line-up without time limits, for programs that need the best answer."""
    limits = dict.fromkeys(("seconds_per_decision", "seconds_per_hand"))
    nodes = {name: dict(node) for name, node in settings.items() if name not in ("_target_", "_recursive_")}
    for node in nodes.values():
        if isinstance(search := node.get("search"), Mapping) and limits.keys() <= search.keys():
            node.update({"search": {**search, **limits}}, **{key: None for key in limits if key in node})
    return agents(**nodes)


def agent(settings: Mapping[str, Any] | None) -> AgentSpec | None:
    """Return a single agent under its own name; None without settings."""
    return None if settings is None else AgentSpec(settings["name"], partial(build, settings), settings)


def reviewer(game: Mapping[str, Any], heads_up: Mapping[str, Any], ring: Mapping[str, Any]) -> AgentSpec | None:
    """Return the agent that reviews hands in place of the agents that play.

    Args:
        game: settings of the game.
        heads_up: settings of the reviewer for two players.
        ring: settings of the reviewer for more players.
    """
    return agent(ring if build(game).num_players > 2 else heads_up)


def six_handed(game: Mapping[str, Any], runs: str, processes: int | None) -> Callable[[], Any] | None:
    """Return a function that returns the page of a table of six, as `evaluate=play` has it for that game.

    Args:
        game: settings of the game; at other games than heads-up no-limit hold'em there is no such table.
        runs: folder of runs.
        processes: processes of the agents.
    """
    six = {"game": "holdem_nolimit_6p", "agents": ["depth_limited_ring"], "runs": runs, "processes": processes}

    def page() -> Any:
        return build(compose("evaluate", ["evaluate=play", *overrides_of(six)]).evaluate.pages[0])

    return page if game["name"] == "holdem_nolimit_2p" else None


def values(settings: Mapping[str, Any]) -> ValueFunctionSpec:
    """Return the value function of AIVAT."""
    return ValueFunctionSpec(partial(build, settings), settings)
