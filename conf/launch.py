"""From a command line to a composed configuration and a call: what the three entry points share.

Everything that runs is a `_target_` with typed keyword arguments, so no function outside this package sees a
configuration object, and a key that no part knows is refused here, by name, before anything is computed.
"""

import difflib
import inspect
import itertools
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, get_args, get_type_hints

import hydra
from hydra.core.global_hydra import GlobalHydra
from hydra.errors import HydraException, InstantiationException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import MissingMandatoryValue, OmegaConfBaseException

from poker.errors import PokernetsError

_PLAIN = (int, float, str, bool, NoneType)
CONF = Path(__file__).resolve().parent


class ConfigurationError(PokernetsError):
    """The command line asks for something that the configuration does not know."""


def launch(root: str, task: Callable[[DictConfig], Any]) -> None:
    """Compose `conf/<root>.yaml` with the overrides on the command line and run `task`; exit 2 on a user's error."""
    flags = [argument for argument in sys.argv[1:] if argument.startswith("-")]
    if not flags:
        _exit_on_user_error(lambda: compose(root, sys.argv[1:]))

    def run(config: DictConfig) -> None:
        _exit_on_user_error(lambda: task(config))

    hydra.main(version_base="1.3", config_path=str(CONF), config_name=root)(run)()


def compose(root: str, overrides: list[str]) -> DictConfig:
    """The configuration that `overrides` select; every mistake is a `ConfigurationError` of one line."""
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        try:
            return hydra.compose(root, overrides=overrides)
        except (HydraException, OmegaConfBaseException) as error:
            raise ConfigurationError(_one_line(error)) from error


def choices(group: str) -> list[str]:
    """The options of a configuration group."""
    return sorted(file.stem for file in (CONF / group).glob("*.yaml"))


def chosen(config: DictConfig, group: str) -> DictConfig:
    """The node of a group that the command line must choose from, or an error that lists the options."""
    node = OmegaConf.select(config, group)
    if node is None:
        raise ConfigurationError(f"choose what to run: {group}=NAME, where NAME is {', '.join(choices(group))}")
    assert isinstance(node, DictConfig)
    return node


def resolve(node: Any) -> Any:
    """Plain Python values of a configuration node, interpolations filled in; a missing value is named."""
    try:
        return OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    except OmegaConfBaseException as error:
        if isinstance(error, MissingMandatoryValue) and error.full_key:
            raise ConfigurationError(_wanted(error.full_key)) from error
        missing = re.search(r"Missing mandatory value: ([\w.]+)", str(error))
        raise ConfigurationError(_wanted(missing[1]) if missing else " ".join(str(error).split())) from error


def call(node: DictConfig, **extra: Any) -> Any:
    """Call the `_target_` of `node` with its keys as keyword arguments, nested `_target_`s built first."""
    check(resolve(node), **extra)
    try:
        ready = hydra.utils.instantiate(node, _partial_=True, _convert_="all", **extra)
    except InstantiationException as error:
        cause = error.__cause__
        while cause is not None and not isinstance(cause, PokernetsError):
            cause = cause.__cause__
        raise cause or error from None
    return ready()


def check(node: Any, **extra: Any) -> None:
    """Refuse unknown, missing and mistyped keys of plain values and of every `_target_` in them; builds nothing."""
    if isinstance(node, dict):
        if "_target_" in node:
            _check_keys(node, hydra.utils.get_object(node["_target_"]), extra)
        for value in node.values():
            check(value)
    elif isinstance(node, list):
        for value in node:
            check(value)


def _check_keys(node: dict[str, Any], target: Any, extra: dict[str, Any]) -> None:
    parameters = inspect.signature(target).parameters
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return
    keys = [str(key) for key in node if not str(key).startswith("_")]
    unknown = [key for key in keys if key not in parameters]
    if unknown:
        raise ConfigurationError(
            f"{node['_target_']} has no parameter '{unknown[0]}'{_nearest(unknown[0], parameters)}"
        )
    missing = [
        name
        for name, parameter in parameters.items()
        if parameter.default is parameter.empty and name not in keys and name not in extra
    ]
    if missing and not node.get("_partial_"):
        raise ConfigurationError(f"{node['_target_']} needs a value for '{missing[0]}'")
    _check_plain_values(node, target)


def _check_plain_values(node: dict[str, Any], target: Any) -> None:
    """Refuse text where a number is wanted and the like; parameters of other types check their values themselves."""
    hints = get_type_hints(target.__init__ if inspect.isclass(target) else target)
    for key in (str(key) for key in node if str(key) in hints):
        parts = get_args(hints[key]) if isinstance(hints[key], UnionType) else (hints[key],)
        allowed = {part for part in parts if part in _PLAIN}
        if len(allowed) == len(parts) and type(node[key]) not in (allowed | {int} if float in allowed else allowed):
            wanted = " or ".join(sorted("null" if kind is NoneType else kind.__name__ for kind in allowed))
            raise ConfigurationError(f"{node['_target_']}: '{key}' must be {wanted}, not {node[key]!r}")


def _one_line(error: Exception) -> str:
    missing = re.search(r"Could not find '([\w/]+)/(\w+)'", str(error))
    if missing:
        group, option = missing.groups()
        options = choices(group)
        return f"there is no {group}={option}{_nearest(option, options)} It can be: {', '.join(options)}"
    unknown = re.search(r"Could not override '([\w.@]+)'", str(error))
    if unknown and getattr(error.__cause__, "key", None):
        key = unknown.group(1)
        return f"there is no setting '{key}'{_nearest(key.split('.')[-1], _known_keys())} --help lists all settings"
    return " ".join(f"{error} {error.__cause__ or ''}".split())


def _wanted(key: str) -> str:
    """`give KEY=VALUE for GROUP=OPTION` and the first comment of the file that wants the value."""
    *groups, name = key.split(".")
    for file in sorted(CONF.rglob("*.yaml")):
        text = file.read_text()
        if (groups and file.parent.name != groups[0]) or not re.search(rf"^{name}: \?\?\?", text, re.MULTILINE):
            continue
        comments = itertools.takewhile(lambda line: line.startswith("#"), text.splitlines())
        about = " ".join(line.removeprefix("# ") for line in comments if "@package" not in line)
        example = re.search(rf"\b{name}=([\w/]+)", about)
        value = example.group(1) if example else name.upper()
        return f"give {key}={value} for {file.parent.name}={file.stem}: {about}"
    return f"give {key}=VALUE"


def _known_keys() -> list[str]:
    """Last components of every key in the configuration files and groups."""
    names: set[str] = set()

    def collect(node: Any) -> None:
        if isinstance(node, dict):
            for key, value in node.items():
                names.add(str(key))
                collect(value)

    for file in CONF.rglob("*.yaml"):
        collect(OmegaConf.to_container(OmegaConf.load(file), resolve=False))
    return sorted(names)


def _nearest(word: str, known: Any) -> str:
    close = difflib.get_close_matches(word, [name for name in known if name != word], n=1)
    return f"; did you mean '{close[0]}'?" if close else "."


def _exit_on_user_error(action: Callable[[], Any]) -> None:
    try:
        action()
    except PokernetsError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        print("interrupted; what was written is kept, the same command continues", file=sys.stderr)
        sys.exit(130)
