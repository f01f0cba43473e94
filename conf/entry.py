"""Shared parts of the entry points: errors in one line, checked settings, and the provenance of a run."""

import functools
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from hydra.utils import instantiate
from omegaconf import DictConfig, OmegaConf

from conf.checks import check, check_names
from conf.compose import message_of
from conf.sweeps import is_sweep
from poker.kernels.ahead import compile_at_first_use
from poker.run.child import end_with_starter
from poker.run.commands import PROGRAM, RUNS_PROGRAM
from poker.run.errors import PokernetsError, printable
from poker.store.provenance import SECRETS, configured

P = ParamSpec("P")
T = TypeVar("T")

_FULL_ERROR = "HYDRA_FULL_ERROR"
_VERBOSE = os.environ.get(_FULL_ERROR) == "1"


def one_line_errors(main: Callable[P, T]) -> Callable[P, T]:
    """Decorate an entry point to print errors that the user can fix as one line.

    It stands on both sides of `hydra.main`: outside for errors of Hydra itself, and inside because Hydra adds lines of
    its own to errors that leave the task. In a sweep an error leaves the task, so that Hydra continues with the other
    jobs. Other errors are bugs and show their traceback, as do all errors with HYDRA_FULL_ERROR=1.

    Args:
        main: the entry point.

    Returns:
        the decorated entry point.

    Raises:
        SystemExit: by the decorated entry point, with status 2 after an error, 130 after Ctrl+C, and 143 if Lightning
            ends a training after SIGTERM.
    """

    @functools.wraps(main)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        end_with_starter()
        nowhere = Path(os.devnull).open  # for streams that are closed, as by `>&-`
        if sys.stdin is None:
            sys.stdin = nowhere()
        if sys.stdout is None:
            sys.stdout = nowhere("w")
        if sys.stderr is None:
            sys.stderr = nowhere("w")
        if isinstance(sys.stdout, TextIOWrapper):  # an ASCII terminal cannot print ±
            sys.stdout.reconfigure(errors="replace")
        before = os.environ.get(_FULL_ERROR, "0")
        os.environ[_FULL_ERROR] = "1"  # Hydra passes errors on instead of printing them
        try:
            return main(*args, **kwargs)
        except (KeyboardInterrupt, SystemExit) as error:
            status = 143 if type(error).__name__ == "SIGTERMException" else 130  # its import would take seconds
            of_lightning = status == 143 or isinstance(error.__context__, KeyboardInterrupt)
            if isinstance(error, SystemExit) and (not of_lightning or error.code == 130):
                raise
            print("interrupted; run the same command to continue", file=sys.stderr)
            sys.exit(status)
        except BrokenPipeError:  # for example `| head` closed the pipe
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except Exception as error:
            message = message_of(error)
            if _VERBOSE or not message or is_sweep():
                raise
            print(f"error: {printable(message)}", file=sys.stderr)
            sys.exit(2)
        finally:
            os.environ[_FULL_ERROR] = before

    return run


def run(config: DictConfig, node: DictConfig) -> Any:
    """Check the settings of `node`, a part of `config`, and call its `_target_` with them.

    Results written by the call include these settings and the command line in their provenance.

    Raises:
        PokernetsError: a setting is missing, unknown, of a wrong type or out of range.
        HydraException: a part of the node cannot be built.
    """
    for several, one in (("agents", "agent"), ("adversaries", "adversary")):
        if several in config:
            raise PokernetsError(f"a file in {several}/ lacks its first line: # @package {one}.NAME")
    check_names("adversary", config.get("adversary", {}))
    settings = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    check(settings)
    compile_at_first_use()
    call = instantiate(node, _partial_=True, _convert_="all")
    try:
        inspect.signature(call.func).bind(**call.keywords)
    except TypeError as error:
        raise PokernetsError(f"{node._target_}: {error}") from None
    with recorded(config, settings):
        return call()


@contextmanager
def recorded(config: DictConfig, settings: Any) -> Iterator[None]:
    """Include plain `settings`, a part of `config`, and the command line in results written inside the block."""
    places = {name: str(config[name]) for name in ("artifacts", "outputs", "runs")}
    folders = {name: place for name, place in places.items() if not Path(place).is_file()}  # a bundle has its own name
    with configured(settings, folders, command_line()):
        yield


def command_line() -> str:
    """Return the command line that started this process, as it was typed, without secrets."""
    words = [word for word in sys.orig_argv if word.partition("=")[0].lstrip("+") not in SECRETS]
    if not RUNS_PROGRAM:
        return shlex.join(["python", *words[1:]])
    typed = next((words[at + 1 :] for at, word in enumerate(words) if Path(word).name == PROGRAM), sys.argv[1:])
    return shlex.join([PROGRAM, *typed])
