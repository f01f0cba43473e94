"""Launcher of the three entry points: from a command line to a composed configuration and a call.

Everything that runs is a `_target_` with typed keyword arguments, so no function outside this package sees a
configuration object, and a key that no part knows is refused here, by name, before anything is computed.
"""

import difflib
import hashlib
import inspect
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, NoReturn, Union, Unpack, get_args, get_origin, get_type_hints

import hydra
from hydra._internal.hydra import Hydra
from hydra.core.config_store import ConfigStore
from hydra.core.global_hydra import GlobalHydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException, InstantiationException, MissingConfigException, OverrideParseException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf, open_dict
from omegaconf.errors import ConfigAttributeError, ConfigKeyError, MissingMandatoryValue, OmegaConfBaseException

from conf.bundles import unbundle
from conf.help import COMMANDS, CONF, choices, experiments, help_of, nets, without_help
from poker.errors import PokernetsError
from poker.lock import Claims
from poker.provenance import configured

_FOLDER_LENGTH = 100
_CONSTANTS = re.compile(r"Interpolation key 'exploration\.(\w+)\.")
_PLAIN = (int, float, str, bool, NoneType)
_LISTS = (list, tuple, Sequence)
_KEPT = "what was written is kept, and the same command continues where it can"
_UNQUOTED = re.compile(r"[a-zA-Z0-9_./+-]*")
"""File names that Hydra's grammar takes as they are."""
_IN_A_SHELL = re.compile(r"[a-zA-Z0-9_.,/+~@:=\[\]-]*")


setattr(ConfigStore, "__deepcopy__", lambda store, memo: store)  # noqa: B010  copies of it are half of --help's time
_hydras_mode: Any = Hydra.get_mode


def _mode(its: Hydra, config_name: str | None, overrides: list[str]) -> Any:
    """Hydra's run mode; None, without composing the configuration once more, where no override can set it."""
    chooses = any(override.lstrip("+").startswith(("experiment=", "hydra.")) for override in overrides)
    return _hydras_mode(its, config_name, overrides) if chooses else None


setattr(Hydra, "get_mode", _mode)  # noqa: B010


class ConfigurationError(PokernetsError):
    """The command line asks for something that the configuration does not know."""


def launch(root: str, task: Callable[[DictConfig], Any]) -> None:
    """Run `task` with `conf/<root>.yaml` and the command line's overrides, once or for every job of a sweep.

    A user's error is one line and status 2. In a sweep the other jobs go on; those that failed are named at the end.
    Sweepers optimise the result of `task`, if it is a number, or its `metric`.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # lets errors out of hydra.main as they are
    failed: list[str] = []

    def job(config: DictConfig) -> Any:
        sweeping = HydraConfig.get().mode is RunMode.MULTIRUN
        for place in ("outputs", "runs") if sweeping else ():
            config[place] = f"{config[place]}/{_job_folder()}"
        try:
            result = task(config)
            return result if isinstance(result, float) else getattr(result, "metric", None)
        except PokernetsError as error:
            if not sweeping:
                _exit(_with_choices(str(error), config))
            failed.append(" ".join(HydraConfig.get().overrides.task))
            raise PokernetsError(f"{failed[-1]}: {error}") from error

    for argument in sys.argv[1:]:
        if argument.startswith("experiment="):
            command = experiments().get(argument.partition("=")[2], COMMANDS[root])
            if command != COMMANDS[root]:
                _exit(f"{argument} is run by: {command} {argument}")
    sys.argv[1:] = ["dry=true" if argument == "--dry" else _quoted(argument) for argument in sys.argv[1:]]
    flags = {argument for argument in sys.argv[1:] if argument.startswith("-")}
    try:
        if flags and flags <= {"--help", "-h"}:
            print(help_of(_composed(root, [argument for argument in sys.argv[1:] if argument not in flags])))
            return
        hydra.main(version_base="1.3", config_path=str(CONF), config_name=root)(job)()
    except InstantiationException:
        raise
    except (PokernetsError, HydraException, OmegaConfBaseException) as error:
        _exit("\n       ".join([_message(error), *[f"failed: {overrides}" for overrides in failed]]))
    except BrokenPipeError:  # `| head` has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that nobody may write to
        where = f"{error.filename}: " if error.filename else ""
        _exit(f"{where}{error.strerror or error}; {_KEPT}")
    except KeyboardInterrupt:
        print(f"interrupted; {_KEPT}", file=sys.stderr)
        sys.exit(130)


def _quoted(argument: str) -> str:
    """KEY=PATH for Hydra's grammar: a value that names a file or folder, or a new one in a folder, is quoted."""
    key, _, value = argument.partition("=")
    if key.startswith("-") or _UNQUOTED.fullmatch(value):
        return argument
    is_path = os.path.exists(value) or ("," not in value and os.path.isdir(os.path.dirname(value)))
    return f"{key}={QuotedString(value, Quote.double).with_quotes()}" if is_path else argument


def _job_folder() -> str:
    """A name for what a job of a sweep makes; overrides that differ have different ones."""
    name = HydraConfig.get().job.override_dirname
    short = re.sub(r"[^\w.+-]+", "_", name)[:_FOLDER_LENGTH]
    return short if short == name else f"{short}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def _with_choices(message: str, config: DictConfig) -> str:
    """Complete the command that a message ends with by the scale, the game and the artifacts of this one; the scale is
    that of the folder where something is missing, if that names one. The same command keeps all that it was given."""
    ending = re.search(r"ake it with: (python (?:-m )?([\w.]+) (\w+)=(\w+)[^;]*)$", message)
    if ending is None:
        return message
    told, script, group, option = ending.groups()
    job = HydraConfig.get()
    given = [argument for argument in job.overrides.task if not argument.startswith(f"{group}=")]
    selected = job.runtime.choices
    if job.job.name == script.removesuffix(".py") and selected.get(group) == option:
        there = {"dry", *(word.partition("=")[0] for word in told.split())}
        given = [argument for argument in given if argument.partition("=")[0] not in there]
        return " ".join([message, *map(_typed, given)])
    folder = next((name for name in re.findall(r"\bartifacts/(\w+)/", message) if name in choices("scale")), None)
    has_game = script != "train.py"
    wanted = {"scale": folder or selected["scale"], **({"game": selected["game"]} if has_game else {})}
    found = [f"{group}={name}" for group, name in wanted.items() if {group: name} not in _defaults()]
    found += [_typed(argument) for argument in given if has_game and argument.startswith("game.")]
    elsewhere = folder is None and config.artifacts != f"artifacts/{selected['scale']}"
    return " ".join([message, *found, *([f"artifacts={config.artifacts}"] if elsewhere else [])])


def _typed(argument: str) -> str:
    """An override as it is typed in a shell."""
    return argument if _IN_A_SHELL.fullmatch(argument) else shlex.quote(argument)


def _defaults() -> list[Any]:
    """Defaults of a command that names no game and no scale."""
    base = OmegaConf.to_container(OmegaConf.load(CONF / "base.yaml"))
    assert isinstance(base, dict)
    return list(base["defaults"])


def _exit(message: str) -> NoReturn:
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def compose(root: str, overrides: list[str]) -> DictConfig:
    """The configuration that `overrides` select; every mistake is a `ConfigurationError` of one line."""
    try:
        config = _composed(root, overrides)
    except (HydraException, OmegaConfBaseException) as error:
        raise ConfigurationError(_message(error)) from error
    with open_dict(config):
        del config["hydra"]
    return config


def _composed(root: str, overrides: list[str]) -> DictConfig:
    """`compose` with the node `hydra` and with Hydra's errors."""
    GlobalHydra.instance().clear()
    with hydra.initialize_config_dir(version_base="1.3", config_dir=str(CONF)):
        return hydra.compose(root, overrides=overrides, return_hydra_config=True)


def chosen(config: DictConfig, group: str) -> DictConfig:
    """The node of a group that the command line must choose from, or an error that lists the options."""
    node = OmegaConf.select(config, group)
    if node is None:
        raise ConfigurationError(f"choose what to run: {group}=NAME, where NAME is {', '.join(choices(group))}")
    assert isinstance(node, DictConfig)
    return node


def task_of(group: str) -> Callable[[DictConfig], Any]:
    """Task that calls the node that the command line chooses from a group; records hold its settings."""

    def run(config: DictConfig) -> Any:
        for several, one in (("agents", "agent"), ("adversaries", "adversary")):
            if several in config:
                raise ConfigurationError(f"a file in {several}/ lacks its first line: # @package {one}.NAME")
        unbundle(config, writes=group != "evaluate")
        node = chosen(config, group)
        if group == "model":
            _check_net()
        node = resolve(node)
        from conf.early import refuse_parts, refuse_values  # noqa: PLC0415 (numpy)

        refuse_values(node)
        check(node)
        refuse_parts(node)
        if group != "model" and not node.get("dry"):
            from poker.kernels.ahead import compile_at_first_use  # noqa: PLC0415 (what --help does without)

            compile_at_first_use()
        makes = node.get("output") if group == "job" and not node.get("dry") else None  # nets are trained by several
        with (
            _claimed(makes),
            configured(node, {name: config[name] for name in ("artifacts", "outputs", "runs")}),
        ):
            return call(node)

    return run


@contextmanager
def _claimed(output: str | None) -> Iterator[None]:
    """Claim an output for this command inside the block. The claim lies beside the output, where every other command
    that makes it finds it; nothing is made in a folder that nobody may write to."""
    with ExitStack() as stack:
        place = None if output is None else Path(output).resolve()
        if place is not None and not (place.parent.exists() and not os.access(place.parent, os.W_OK)):
            claims = stack.enter_context(closing(Claims(place.parent / ".lock")))
            claims.take(place.name, f"another command makes {output} just now: wait for its end")
        yield


def _check_net() -> None:
    selected = HydraConfig.get().runtime.choices
    model, net = selected.get("model"), selected.get("net")
    known = nets()
    other = next((each for each in known if net in known[each]), model)
    if model in known and other != model:
        raise ConfigurationError(f"net={net} is for model={other}; model={model} takes {', '.join(known[model])}")


def required(what: str) -> NoReturn:
    """The resolver of values that only the user can give: `${required:"log=FILE, the log to play again"}`."""
    raise ConfigurationError(f"give {what}")


OmegaConf.register_new_resolver("required", required, replace=True)


def resolve(node: Any) -> Any:
    """Plain Python values of a configuration node, interpolations filled in; a missing value is named."""
    try:
        return without_help(OmegaConf.to_container(node, resolve=True, throw_on_missing=True))
    except OmegaConfBaseException as error:
        raise ConfigurationError(_message(error)) from error


def call(node: Any) -> Any:
    """Call the `_target_` of `node` with its keys as keyword arguments, nested `_target_`s built first."""
    values = resolve(node) if OmegaConf.is_config(node) else node
    check(values)
    try:
        ready = hydra.utils.instantiate(values, _partial_=True, _convert_="all")
    except InstantiationException as error:
        raise _of_user(error) or error from None
    return ready()


def check(node: Any) -> None:
    """Refuse unknown, missing and mistyped keys of plain values and of every `_target_` in them; builds nothing."""
    if isinstance(node, dict) and "_target_" in node:
        _check_keys(node, hydra.utils.get_object(node["_target_"]))
    for value in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        check(value)


def _check_keys(node: dict[str, Any], target: Any) -> None:
    accepted, name = _arguments(target), node["_target_"]
    keys = [str(key) for key in node if not str(key).startswith("_")]
    for key in keys:
        if key not in accepted.types and not accepted.any_others:
            raise ConfigurationError(f"{name} has no parameter '{key}'{_nearest(key, accepted.types)}")
    for key in accepted.needed:
        if key not in keys and not node.get("_partial_"):
            raise ConfigurationError(f"{name} needs a value for '{key}'")
    for key in keys:
        _check_plain_value(name, key, node[key], accepted.types.get(key, Any))


class _Arguments(NamedTuple):
    """Types by keyword, the keywords that must be given, and whether any others are taken."""

    types: dict[str, Any]
    needed: list[str]
    any_others: bool


def _arguments(target: Any) -> _Arguments:
    """Arguments of `target`. The type of `**` says what it takes: `Unpack` of names and types, or `Annotated` with the
    class or function that is given them."""
    hints = get_type_hints(target.__init__ if inspect.isclass(target) else target, include_extras=True)
    found = _Arguments({}, [], any_others=False)
    for key, parameter in inspect.signature(target).parameters.items():
        hint = hints.get(key, Any)
        if parameter.kind is not parameter.VAR_KEYWORD:
            found.types[key] = hint
            found.needed.extend([key] if parameter.default is parameter.empty else [])
            continue
        if get_origin(hint) is Unpack:
            [named] = get_args(hint)
            passed, needed = get_type_hints(named), [*named.__required_keys__]
        elif get_origin(hint) is Annotated:
            passed, needed = _arguments(hint.__metadata__[0]).types, []
        else:
            return found._replace(any_others=True)
        found = found._replace(types={**passed, **found.types}, needed=found.needed + needed)
    return found


def _check_plain_value(name: str, key: str, value: Any, hint: Any) -> None:
    """Refuse text where a number is wanted, a number where a list is, negative seeds and the like; parameters of other
    types check their values themselves."""
    parts = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    allowed = {list if get_origin(part) in _LISTS else part for part in parts}
    if not allowed <= {*_PLAIN, list} or (list in allowed and isinstance(value, dict)):
        return
    if type(value) not in (allowed | {int} if float in allowed else allowed):
        wanted = " or ".join(sorted("null" if kind is NoneType else kind.__name__ for kind in allowed))
        raise ConfigurationError(f"{name}: '{key}' must be {wanted}, not {value!r}")
    if isinstance(value, int) and value < 0 and key.endswith("seed"):
        raise ConfigurationError(f"{name}: '{key}' must be at least 0, not {value}")


def _message(error: BaseException) -> str:
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
        return f"there is no {group}={option}{_nearest(option, options)} It can be: {', '.join(options)}"
    cause = error.__cause__
    if isinstance(cause, ConfigAttributeError | ConfigKeyError) and cause.parent_node is not None:
        key, known = str(cause.key), [str(key) for key in cause.parent_node]
        if key in _parameters(cause.parent_node):
            return f"there is no setting '{cause.full_key}' to change; +{cause.full_key}=VALUE adds it"
        if key == cause.full_key:
            known += [folder.name for folder in CONF.iterdir() if folder.is_dir()]
        return f"there is no setting '{cause.full_key}'{_nearest(key, known)} --help lists all settings"
    if missing := _CONSTANTS.search(str(error)):
        return (
            f"solver={missing[1]} has constants of some games only: give exploration=GAME with those of another"
            f" ({', '.join(choices('exploration'))}), or solver.ceiling=, solver.potential= and the like"
        )
    if isinstance(error, MissingMandatoryValue):
        return f"give {error.full_key}=VALUE"
    return " ".join(f"{error} {cause or ''}".split())


def _parameters(node: Any) -> Iterable[str]:
    """Parameters of the class or function that a configuration node calls."""
    if not isinstance(node, DictConfig) or "_target_" not in node:
        return ()
    return _arguments(hydra.utils.get_object(node["_target_"])).types


def _of_user(error: BaseException | None) -> PokernetsError | None:
    """The user's error that led to this one."""
    while error is not None and not isinstance(error, PokernetsError):
        error = error.__cause__ or error.__context__
    return error


def _nearest(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, known, n=1)
    return f"; did you mean '{close[0]}'?" if close else "."
