"""Checks of plain settings before anything is built, solved or compiled: agents that do not play the game, artifacts
that are not there or do not fit, devices that the machine does not have, trainers and nets that cannot be built.

The parts themselves refuse all of this later as well; here it takes seconds.
"""

import logging
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from typing import Any

import hydra
from hydra.errors import InstantiationException

from poker.artifacts import fingerprint_of, open_artifact, refuses_by_name
from poker.errors import PokernetsError
from poker.rules import Rules, rules_from

Node = Mapping[str, Any]
_LATER = ("fallback", "values", "reviewer")
"""Parts that are built where they are needed, and done without where they cannot be built."""
_HERE = ("cpu", "auto", "torch")
_LEAST = {"threads": 1, "batch_rows": 1, "epoch_rows": 1, "shards": 1, "patience": 0, "weight_decay": 0}
_POSITIVE = ("learning_rate", "huber_delta")
_open = partial(open_artifact, verify=False)


def refuse_values(node: Any, name: str = "") -> None:
    """Raises PokernetsError for numbers out of range and for devices that the machine does not have, anywhere in the
    plain values of a configuration; imports nothing but torch, and that for devices alone."""
    if isinstance(node, list):
        for each in node:
            refuse_values(each, name)
    if not isinstance(node, dict):
        return
    name = str(node.get("_target_", name))
    for key, value in node.items():
        if isinstance(value, int | float):
            if key in _LEAST and not _LEAST[key] <= value < math.inf:
                raise PokernetsError(f"{name}: '{key}' must be at least {_LEAST[key]}, not {value}")
            if key in _POSITIVE and not 0 < value < math.inf:
                raise PokernetsError(f"{name}: '{key}' must be positive, not {value}")
        if key == "device" and isinstance(value, str) and value not in _HERE:
            from poker.search.torch.device import check_device  # noqa: PLC0415 (torch)

            check_device(value)
        if key == "accelerator" and value in ("gpu", "cuda"):
            import torch  # noqa: PLC0415

            if not (torch.cuda.is_available() or (value == "gpu" and torch.backends.mps.is_available())):
                raise PokernetsError(f"trainer.accelerator={value}: torch finds no such device; use cpu, or auto")
        if key not in _LATER:
            refuse_values(value, name)


def refuse_parts(node: Any, game: Rules | None = None) -> None:
    """Raises PokernetsError for agents, artifacts, nets and trainers that `node` names and that cannot be built or do
    not fit together, or not the `game` of the nodes above."""
    if isinstance(node, list):
        for each in node:
            refuse_parts(each, game)
    if not isinstance(node, dict):
        return
    game = game or _game_of(node)
    target = node.get("_target_")
    if isinstance(target, str):
        found = hydra.utils.get_object(target)
        if game is not None and (refuses := getattr(found, "refuse_game", None)) is not None:
            refuses(str(node.get("name", target)), game)
        if (refuses_settings := getattr(found, "refuse_settings", None)) is not None:
            refuses_settings(node)
        if target in _CHECKS:
            _CHECKS[target](node, game)
    for name, value in _built(node):
        if name not in _LATER:
            refuse_parts(value, game)


def _game_of(node: Node) -> Rules | None:
    """The game of a node, with its number of players."""
    own, players, game = node.get("game"), node.get("players"), None
    if isinstance(own, dict) and "_target_" in own:
        with suppress(InstantiationException):  # which is told when it is built
            game = hydra.utils.call(own)
    if not isinstance(game, Rules):
        return None
    from poker.play.lineup import with_players  # noqa: PLC0415

    return with_players(game, players) if isinstance(players, int) else game


def _built(node: Node) -> Iterator[tuple[str, Any]]:
    """The settings of a node; of agents, those that the line-ups name."""
    for name, value in node.items():
        if name == "agents" and isinstance(value, dict) and isinstance(lineups := node.get("lineups"), list):
            seated = {player for lineup in lineups if isinstance(lineup, list) for player in lineup}
            value = {key: spec for key, spec in value.items() if key in seated or key == "_target_"}
        yield name, value


@refuses_by_name("blueprint")
def _rules(path: str) -> Rules:
    return rules_from(_open(path, "blueprint").config["rules"])


@refuses_by_name("abstraction")
def _cards(path: str, streets: int) -> str:
    """The fingerprint of the buckets of the first `streets` streets."""
    found = _open(path, "abstraction")
    whole = len(found.counts["num_buckets"]) <= streets
    return found.fingerprint if whole else fingerprint_of({"abstraction": found.fingerprint, "streets": streets})


def _blueprint(node: Node, game: Rules | None) -> None:
    """Check `load_blueprint`: the abstraction must be the one that the blueprint was trained on."""
    from poker.abstraction.buckets import is_holdem  # noqa: PLC0415

    rules = _rules(node["blueprint"])
    if is_holdem(rules):
        cards = _cards(node["abstraction"], rules.num_streets)
        _open(node["blueprint"], "blueprint", made_from={"abstraction": cards})


def _blueprint_agent(node: Node, game: Rules | None) -> None:
    blueprint = node["blueprint"]
    if game is not None and isinstance(blueprint, dict) and "blueprint" in blueprint:
        _rules(blueprint["blueprint"]).must_fit(game, f"the blueprint that `{node['name']}` plays")


def _leaf_table(node: Node, game: Rules | None) -> None:
    from poker.features.leaf import TARGET  # noqa: PLC0415

    path = node["blueprint"].get("path") if isinstance(node["blueprint"], dict) else None
    if path is None:
        return
    blueprint = _open(path, "blueprint")
    _open(node["path"], "leaf_table", config={"target": TARGET}, made_from={"blueprint": blueprint.fingerprint})
    if game is not None:
        _rules(path).must_fit(game, "the blueprint behind the leaf values")


def _opens(key: str, kind: str) -> "Check":
    return lambda node, game: _open(node[key], kind)


def _trainer(node: Node, game: Rules | None) -> None:
    """Refuse plain settings of a trainer that Lightning refuses."""
    from lightning.fabric.utilities.exceptions import MisconfigurationException  # noqa: PLC0415 (seconds)

    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)  # it says what it found, and gives tips
    plain = {
        key: value
        for key, value in node.items()
        if not key.startswith("_") and isinstance(value, str | int | float) and key not in ("profiler", "strategy")
    }
    try:
        hydra.utils.get_object(node["_target_"])(**{**plain, "logger": False, "enable_checkpointing": False})
    except (MisconfigurationException, RuntimeError, TypeError, ValueError) as error:
        raise PokernetsError(f"trainer: {' '.join(str(error).split())}") from error


Check = Callable[[Node, Rules | None], object]
_CHECKS: dict[str, Check] = {
    "poker.agents.blueprint.load_blueprint": _blueprint,
    "poker.agents.blueprint.BlueprintAgent": _blueprint_agent,
    "poker.agents.depth_limited_ring.DepthLimitedRingAgent": _blueprint_agent,
    "poker.agents.poki_formula.PokiFormula": _opens("preflop", "preflop_rollouts"),
    "poker.agents.poki_simulation.PokiSimulation": _opens("preflop", "preflop_rollouts"),
    "poker.abstraction.buckets.CardAbstraction.load": _opens("path", "abstraction"),
    "poker.solvers.blueprint.FirstRound.load": _opens("path", "blueprint"),
    "poker.search.leaves.table.TableLeaf": _leaf_table,
    "lightning.Trainer": _trainer,
}
"""Checks of settings by target. Others have a static `refuse_settings(settings)`, or are checked once built."""
