"""From overrides to a composed configuration, from there to plain settings, and to the call of their `_target_`."""

import difflib
import re
import secrets
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import ChoiceSweep, Quote, QuotedString
from hydra.errors import HydraException, InstantiationException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

from conf.help import CONF, ROOTS, choices, without_help
from conf.patches import apply
from conf.signatures import ConfigurationError, arguments_of, check, nearest
from poker.run.errors import PokernetsError

apply()


def compose(root: str, overrides: list[str]) -> DictConfig:
    """The configuration that `overrides` select; every mistake is a `ConfigurationError` of one line."""
    try:
        config = composed(root, overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigurationError(message_of(error)) from error
    with open_dict(config):
        del config["hydra"]
    return config


def composed(root: str, overrides: list[str]) -> DictConfig:
    """`compose` with the node `hydra` and with Hydra's errors."""
    refuse_unnamed_options(overrides)
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        return hydra.compose(root, overrides=overrides, return_hydra_config=True)


def overrides_of(settings: Mapping[str, Any]) -> list[str]:
    """Settings by name as words of a command line."""
    return [f"{name}={_word(value)}" for name, value in settings.items()]


def _word(value: Any) -> str:
    """A value in Hydra's grammar."""
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, list | tuple):
        return f"[{','.join(map(_word, value))}]"
    if isinstance(value, Mapping):
        return f"{{{','.join(f'{name}:{_word(each)}' for name, each in value.items())}}}"
    return str(value) if isinstance(value, int | float) else QuotedString(str(value), Quote.double).with_quotes()


def refuse_unnamed_options(overrides: Iterable[str]) -> None:
    """Refuse values of a group that are no names or lists of names, at which Hydra itself fails."""
    for override in overrides:
        group = override.partition("=")[0].partition("@")[0].lstrip("+")
        if not (re.fullmatch("[a-z_]+", group) and (CONF / group).is_dir()):
            continue
        value = OverridesParser.create().parse_overrides([override])[0].value()
        for option in value.list if isinstance(value, ChoiceSweep) else [value]:
            if not all(
                isinstance(name, str | QuotedString) for name in (option if isinstance(option, list) else [option])
            ):
                raise ConfigurationError(f"{override}: {group} takes a name; it can be {', '.join(choices(group))}")


def chosen(config: DictConfig, group: str) -> DictConfig:
    """The node of a group that the command line must choose from, or an error that lists the options."""
    node = OmegaConf.select(config, group)
    if node is None:
        raise ConfigurationError(f"choose what to run: {group}=NAME, where NAME is {', '.join(choices(group))}")
    assert isinstance(node, DictConfig)
    return node


def required(what: str) -> NoReturn:
    """The resolver of values that only the user can give: `${required:"log=FILE, the log to play again"}`."""
    raise ConfigurationError(f"give {what}")


OmegaConf.register_new_resolver("required", required, replace=True)


def constant(solver: str, name: str, *, _root_: DictConfig) -> Any:
    """The resolver of a solver's constants for the game: `${constant:uct,ceiling}`."""
    if "exploration" not in _root_:
        raise ConfigurationError(
            f"solver={solver} has constants of some games only: give exploration=GAME with those of another"
            f" ({', '.join(choices('exploration'))}), or solver.ceiling=, solver.potential= and the like"
        )
    return _root_.exploration[solver][name]


OmegaConf.register_new_resolver("constant", constant, replace=True)


def drawn(seed: int | None) -> int:
    """The resolver of seeds that may be null, which draws a secret one: `${drawn:${seed}}`."""
    return secrets.randbits(32) if seed is None else seed


OmegaConf.register_new_resolver("drawn", drawn, replace=True)


def resolve(node: Any) -> Any:
    """Plain Python values of a configuration node, interpolations filled in; a missing value is named.

    Parameters that the node of a command does not set are the command's settings of the same name: those under `given`,
    else those at the top. So are those of its `settings`, and parameters that parts which stand in it must be given.
    """
    try:
        if node._key() == "model":  # until its file says so itself
            _give(node, node._get_root())
        return without_help(OmegaConf.to_container(node, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        raise ConfigurationError(message_of(error)) from error


def _give(node: Any, settings: DictConfig) -> None:
    """Point parameters of `node` that are not set to the `settings` of their names; `resolve` says which."""
    if not OmegaConf.is_config(node) or node._is_none() or node._is_interpolation():
        return
    keys = list(node) if isinstance(node, DictConfig) else range(len(node))
    if isinstance(node, DictConfig) and "_target_" in node and not node.get("_partial_"):
        accepted = arguments_of(hydra.utils.get_object(node["_target_"]))
        places = {name: name for name in map(str, settings)}
        places |= {name: f"given.{name}" for name in map(str, settings.get("given", ()))}
        wanted = accepted.types if node._key() in {*ROOTS, "settings"} else accepted.needed
        for name in (places.keys() & wanted) - set(keys):
            OmegaConf.update(node, name, f"${{{places[name]}}}", force_add=True)
    for key in keys:
        _give(node._get_node(key), settings)


def call(node: Any) -> Any:
    """Call the `_target_` of `node` with its keys as keyword arguments, nested `_target_`s built first."""
    values = resolve(node) if OmegaConf.is_config(node) else node
    check(values)
    try:
        ready = hydra.utils.instantiate(values, _partial_=True, _convert_="all")
    except InstantiationException as error:
        raise _of_user(error) or error from None
    return ready()


def message_of(error: BaseException) -> str:
    """One line for what Hydra or OmegaConf found wrong, with the nearest of the names that there are."""
    if (of_user := _of_user(error)) is not None:
        return str(of_user)
    if isinstance(error, OverrideParseException):
        return (
            f"cannot read {error.override!r}: settings are KEY=VALUE and lists have no spaces; "
            "other text needs two layers of quotes, 'KEY=\"VALUE\"'"
        )
    if isinstance(error, MissingConfigException) and "/" in (error.missing_cfg_file or ""):
        group, _, option = str(error.missing_cfg_file).rpartition("/")
        options = error.options or choices(group)
        return f"there is no {group}={option}{nearest(option, options)} It can be: {', '.join(options)}"
    cause = error.__cause__
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and cause.parent_node is not None:
        key, names = str(cause.key), [str(key) for key in cause.parent_node]
        misspelt = difflib.get_close_matches(key, names, cutoff=0.9)  # found without importing what takes the settings
        if not misspelt and key in _parameters(cause.parent_node):
            return f"there is no setting '{cause.full_key}' to change; +{cause.full_key}=VALUE adds it"
        if key == cause.full_key:
            names += [folder.name for folder in CONF.iterdir() if folder.is_dir()]
        return f"there is no setting '{cause.full_key}'{nearest(key, names)} --help lists all settings"
    if isinstance(error, MissingMandatoryValue):
        return f"give {error.full_key}=VALUE"
    return " ".join(f"{error} {cause or ''}".split())


def _parameters(node: Any) -> Iterable[str]:
    """Parameters of the class or function that a configuration node calls."""
    if not isinstance(node, DictConfig) or "_target_" not in node:
        return ()
    return arguments_of(hydra.utils.get_object(node["_target_"])).types


def _of_user(error: BaseException | None) -> PokernetsError | None:
    """The user's error that led to this one."""
    while error is not None and not isinstance(error, PokernetsError):
        error = error.__cause__ or error.__context__
    return error
