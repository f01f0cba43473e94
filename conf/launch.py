"""Launcher of the three entry points: from a command line to a composed configuration and a call.

Everything that runs is a `_target_` with typed keyword arguments, so no function outside this package sees a
configuration object, and a key that no part knows is refused here, by name, before anything is computed.
"""

import errno
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, nullcontext
from io import TextIOWrapper
from pathlib import Path
from typing import Any, NoReturn

import hydra
from hydra.core.hydra_config import HydraConfig
from hydra.core.override_parser.types import Quote, QuotedString
from hydra.errors import HydraException, InstantiationException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from conf import sweeps
from conf.arguments import command_line, flags_and_settings, without_guesses
from conf.compose import call, chosen, composed, message_of, refuse_unnamed_options, resolve
from conf.help import CONF, experiments, help_of, nets
from conf.signatures import ConfigurationError, check, check_ranges
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError, of_user_code, printable
from poker.run.lock import Claims
from poker.store.provenance import configured

_ALL_HELP = "--help-all"
_KEPT = "what was written is kept, and the same command continues where it can"
_FREE_SPACE = "free space there, or write to another disk with outputs=DIR and runs=DIR; "
_UNQUOTED = re.compile(r"[a-zA-Z0-9_./+-]*")
"""File names that Hydra's grammar takes as they are."""


def launch(root: str, task: Callable[[DictConfig], Any]) -> None:
    """Run `task` with `conf/<root>.yaml` and the command line's overrides, once or for every job of a sweep.

    A user's error is one line and status 2. In a sweep the other jobs go on; those that failed are named at the end.
    Sweepers optimise the result of `task`, if it is a number, or its `metric`.
    """
    os.environ["HYDRA_FULL_ERROR"] = "1"  # lets errors out of hydra.main as they are
    if isinstance(sys.stdout, TextIOWrapper):  # a terminal in ASCII has no ±
        sys.stdout.reconfigure(errors="replace")
    failed: list[str] = []
    jobs: list[sweeps.Job] = []

    def job(config: DictConfig) -> Any:
        sweeping = HydraConfig.get().mode is RunMode.MULTIRUN
        try:
            with sweeps.own_folder(config) if sweeping else nullcontext():
                result = task(config)
            metric = result if isinstance(result, float) else getattr(result, "metric", None)
            if not sweeping and (failure := getattr(result, "failure", "")):
                _exit(failure, status=1)
            if sweeping:
                jobs.append(sweeps.ended(config, root, metric))
            return metric
        except PokernetsError as error:
            if not sweeping:
                _exit(str(error))
            failed.append(" ".join(HydraConfig.get().overrides.task))
            raise PokernetsError(f"{failed[-1]}: {error}") from error

    for argument in sys.argv[1:]:
        if argument.startswith("experiment="):
            command = experiments().get(argument.partition("=")[2], COMMANDS[root])
            if command != COMMANDS[root]:
                _exit(f"{argument} is run by: {command} {argument}")
    sys.argv[1:] = [_quoted(argument) for argument in sys.argv[1:]]
    flags, settings = flags_and_settings(sys.argv[1:])
    sys.argv[1:] = [*flags, *settings]
    try:
        if flags and {*flags} <= {"--help", "-h", _ALL_HELP}:
            print(help_of(composed(root, settings), root, everything=_ALL_HELP in flags))
            return
        refuse_unnamed_options(settings)
        try:
            hydra.main(version_base="1.3", config_path=str(CONF), config_name=root)(job)()
        finally:
            if jobs:
                print(sweeps.table(jobs), file=sys.stderr)
    except InstantiationException as error:
        _exit_with_place(error)
    except (PokernetsError, HydraException, OmegaConfBaseException) as error:
        _exit("\n       ".join([message_of(error), *[f"failed: {overrides}" for overrides in failed]]))
    except BrokenPipeError:  # `| head` has enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:  # a full disk, a folder that nobody may write to
        where = f"{error.filename}: " if error.filename else ""
        remedy = _FREE_SPACE if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else ""
        _exit(f"{where}{error.strerror or error}; {remedy}{_KEPT}")
    except Exception as error:
        _exit_with_place(error)
    except KeyboardInterrupt:
        print("interrupted; run the same command to go on: what was written is kept", file=sys.stderr)
        sys.exit(130)


def _quoted(argument: str) -> str:
    """KEY=PATH for Hydra's grammar: a value that names a file or folder, or a new one in a folder, is quoted."""
    key, _, value = argument.partition("=")
    if key.startswith("-") or _UNQUOTED.fullmatch(value):
        return without_guesses(argument)
    is_path = os.path.exists(value) or ("," not in value and os.path.isdir(os.path.dirname(value)))
    return f"{key}={QuotedString(value, Quote.double).with_quotes()}" if is_path else without_guesses(argument)


def _exit_with_place(error: Exception) -> NoReturn:
    """End with one line for an error in the user's own agent, net or evaluator; raise any other."""
    if line := of_user_code(error):
        _exit(line, status=1)
    raise error


def _exit(message: str, status: int = 2) -> NoReturn:
    print(f"error: {printable(message)}", file=sys.stderr)
    sys.exit(status)


def task_of(group: str) -> Callable[[DictConfig], Any]:
    """Task that calls the node that the command line chooses from a group; records hold its settings."""

    def run(config: DictConfig) -> Any:
        for several, one in (("agents", "agent"), ("adversaries", "adversary")):
            if several in config:
                raise ConfigurationError(f"a file in {several}/ lacks its first line: # @package {one}.NAME")
        node = chosen(config, group)
        if group == "model":
            _check_net(config)
            check_ranges(OmegaConf.to_container(node, resolve=True))  # before torch is imported, which takes seconds
        node = resolve(node)
        check(node)
        if group != "model":
            from poker.kernels.ahead import compile_at_first_use  # noqa: PLC0415 (what --help does without)

            compile_at_first_use()
        makes = node.get("output") if group == "job" else None  # nets are trained by several
        with (
            _claimed(makes),
            configured(node, _folders(config), command_line()),
        ):
            return call(node)

    return run


def _folders(config: DictConfig) -> dict[str, str]:
    """Folders that records name by their setting; a bundle, which is where commands that only read would write, keeps
    its own name."""
    places = {name: str(config[name]) for name in ("artifacts", "outputs", "runs")}
    return {name: place for name, place in places.items() if not Path(place).is_file()}


@contextmanager
def _claimed(output: str | None) -> Iterator[None]:
    """Claim an output for this command inside the block. The claim lies beside the output, where every other command
    that makes it finds it; nothing is made in a folder that nobody may write to."""
    with ExitStack() as stack:
        place = None if output is None else Path(output).parent.resolve() / Path(output).name  # of a link, its own
        if place is not None and not (place.parent.exists() and not os.access(place.parent, os.W_OK)):
            claims = stack.enter_context(closing(Claims(place.parent / ".lock")))
            claims.take(place.name, f"another command makes {output} just now: wait for its end")
        yield


def _check_net(config: DictConfig) -> None:
    selected = HydraConfig.get().runtime.choices
    model = str(selected["model"])
    if "for_model" in config and config.for_model != model:
        taken = ", ".join(nets().get(model, ["no net"]))
        raise ConfigurationError(f"net={selected['net']} is for model={config.for_model}; model={model} takes {taken}")
