"""`artifacts=FILE`: commands that read a bundle instead of a directory of artifacts."""

import sys
from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydra.utils import get_object
from omegaconf import DictConfig, OmegaConf, open_dict

from conf.compose import resolve
from poker.run.commands import COMMANDS, how_to_make, maker
from poker.run.errors import PokernetsError
from poker.store.artifacts import MissingArtifactError

if TYPE_CHECKING:
    from poker.store.bundle import Bundle

WHOLE_BLUEPRINT = "the whole blueprint"
_LOADER = "poker.agents.blueprint.load_blueprint"
"""Loader of a whole blueprint, of which bundles without the recipe of its abstraction hold the first round alone."""


def unbundle(config: DictConfig, *, writes: bool) -> None:
    """Unpack the bundle that `artifacts` names, if it does, and let `config` read that; refuse agents it does not seat,
    and make what others need and the bundle has the recipe of, which takes minutes the first time.

    An evaluation that reads none of the artifacts does not unpack the bundle. AIVAT's fallback policy is dropped where
    no line-up needs it. A command that `writes` artifacts needs `outputs`, the place for them.
    """
    file = Path(config.artifacts)
    if file.is_dir() or not (file.suffix or file.is_file()):
        return
    from poker.store.bundle import SUFFIX, open_bundle  # noqa: PLC0415 (what --help and errors do without)

    if not file.is_file() and file.suffix != SUFFIX:
        return
    if writes and Path(config.outputs).is_relative_to(file):
        raise PokernetsError(f"artifacts={file} is a bundle, which is only read: say where to write with outputs=DIR")
    if isinstance(config.get("fallback"), DictConfig) and not _needs_fallback(config):
        config.fallback = None
    if file.is_file() and not writes:
        settings = config.evaluate and resolve(config.evaluate)
        if not any(path.is_relative_to(file) for path in needs(settings)):
            return
    bundle = open_bundle(file)
    outputs = config.outputs
    config.artifacts = str(bundle.path)
    config.outputs = outputs
    agents = dict(config.get("agent") or {})
    for name in agents.get("_optional_", ()):
        if isinstance(node := agents.get(name), DictConfig) and _lacking(bundle, node):
            with open_dict(config):
                del config.agent[name], agents[name]
    if isinstance(measured := config.get("measured"), DictConfig):
        agents[measured.name] = measured
    for name, node in agents.items():
        if isinstance(node, DictConfig) and (lacking := _lacking(bundle, node)):
            if name in bundle.seats:
                raise PokernetsError(
                    f"as set here, {name} needs {lacking}, which {file} does not have: leave out the setting that asks"
                    " for it, or give artifacts=DIRECTORY"
                )
            raise PokernetsError(
                f"{file} does not seat {name}, which needs {lacking}; it seats {', '.join(bundle.seats)} and agents"
                f" that need no artifacts. For others, artifacts=DIRECTORY{_made(lacking, config.game.name)}"
            )
    fallback = config.get("fallback")
    if isinstance(fallback, DictConfig) and _lacking(bundle, fallback):
        print(f"{file} does not seat {fallback.name}: AIVAT goes without its answers to bets", file=sys.stderr)
        config.fallback = None
    _follow_recipes(bundle, [*agents.values(), config.get("fallback")])


def _needs_fallback(config: DictConfig) -> bool:
    """Whether AIVAT needs its fallback policy (`MatchAivat`): in a line-up with a policy, but without a quick one.
    Local best responses have slow policies."""
    kinds = {name: get_object(node._target_) for name, node in config.agent.items() if isinstance(node, DictConfig)}
    quick = {name for name, kind in kinds.items() if getattr(kind, "quick_policy", "")}
    slow = {name for name, kind in kinds.items() if hasattr(kind, "policy")} - quick
    lineups = ([name] for name in kinds) if "adversary" in config else config.get("lineups") or combinations(kinds, 2)
    return bool(config.get("aivat", True)) and any(
        slow.intersection(lineup) and quick.isdisjoint(lineup) for lineup in lineups
    )


def _follow_recipes(bundle: "Bundle", nodes: Iterable[Any]) -> None:
    """Make what the agents need and the bundle has the recipe of alone."""
    plain = [OmegaConf.to_container(node, resolve=True) for node in nodes if isinstance(node, DictConfig)]
    for name, recipe in bundle.recipes.items():
        if bundle.path / name in needs(plain):
            from data_gen.abstraction import make_again  # noqa: PLC0415 (imports kernels)

            make_again(recipe, bundle.path / name, others=str(bundle.path.parent / "*" / name))


def _made(lacking: str, game: str) -> str:
    """How a blueprint of the `game` that is `lacking` is made and used; empty for what bundles can have."""
    if lacking != WHOLE_BLUEPRINT:
        return ""
    jobs = " && ".join(f"{COMMANDS['data_gen']} job={job} game={game}" for job in ("abstraction", "blueprint"))
    return f", or instead of the bundle scale=demo, once there is a blueprint, made in up to ten minutes by: {jobs}"


def _lacking(bundle: "Bundle", node: DictConfig) -> str:
    """The first thing that an agent needs and the bundle does not have; empty if there is none."""
    there = {*bundle.artifacts, *bundle.recipes, *([WHOLE_BLUEPRINT] if bundle.recipes else [])}
    for path in needs(OmegaConf.to_container(node, resolve=True)):
        name = str(path.relative_to(bundle.path) if path.is_relative_to(bundle.path) else path)
        if name not in there and (name == WHOLE_BLUEPRINT or name != str(path)):
            return name
    return ""


def needs(node: Any) -> Iterator[Path]:
    """Files and folders that the plain settings of an agent name; of a blueprint that is loaded, `WHOLE_BLUEPRINT`."""
    if isinstance(node, Mapping | list):
        for value in node.values() if isinstance(node, Mapping) else node:
            yield from needs(value)
    elif node == _LOADER:
        yield Path(WHOLE_BLUEPRINT)
    elif isinstance(node, str) and "/" in node:
        yield Path(node)


def missing(node: Any) -> list[Path]:
    """Artifacts that plain settings name and that are not there."""
    return [path for path in needs(node) if maker(path) and not path.exists()]


def check_needs(node: Any) -> None:
    """Raise MissingArtifactError for what plain settings name and is not there: that which is to be made first."""
    if lacking := missing(node):
        first = min(lacking, key=lambda path: (path.name != "abstraction", path.name != "blueprint"))
        raise MissingArtifactError(f"no {first.name} at {first}", how_to_make("", first))
