"""What the entry points share: errors in one line, checked settings, and what records say of a run."""

import errno
import functools
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import TextIOWrapper
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException
from hydra.types import RunMode
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from poker.run.commands import PROGRAM, RUNS_PROGRAM
from poker.run.errors import PokernetsError, of_user_code, printable
from poker.store.provenance import SECRETS, configured

P = ParamSpec("P")
T = TypeVar("T")

_FULL_ERROR = "HYDRA_FULL_ERROR"
_KEPT = "what was written is kept, and the same command continues where it can"
_FREE_SPACE = "free space there, or write to another disk with outputs=DIR and runs=DIR; "


def one_line_errors(main: Callable[P, T]) -> Callable[P, T]:
    """Decorator that ends the command with one line and an exit status where the user can mend the error.

    It stands on both sides of `hydra.main`: outside for errors of Hydra itself, and inside because Hydra adds lines of
    its own to errors that leave the task. In a sweep an error leaves the task, so that Hydra goes on with the other
    jobs. The status is 2, after Ctrl+C 130. Other errors are faults of the program, and show where they were raised;
    with HYDRA_FULL_ERROR=1 all do.
    """

    @functools.wraps(main)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        if isinstance(sys.stdout, TextIOWrapper):  # a terminal in ASCII has no ±
            sys.stdout.reconfigure(errors="replace")
        verbose = os.environ.get(_FULL_ERROR) == "1"
        os.environ[_FULL_ERROR] = "1"  # Hydra passes errors on instead of printing them
        try:
            return main(*args, **kwargs)
        except KeyboardInterrupt:
            print("interrupted; run the same command to go on: what was written is kept", file=sys.stderr)
            sys.exit(130)
        except BrokenPipeError:  # `| head` has read enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)
        except Exception as error:
            message = message_of(error)
            if verbose or not message or (HydraConfig.initialized() and HydraConfig.get().mode is RunMode.MULTIRUN):
                raise
            print(f"error: {printable(message)}", file=sys.stderr)
            sys.exit(2)
        finally:
            os.environ[_FULL_ERROR] = str(int(verbose))

    return run


def message_of(error: BaseException) -> str:
    """One line about an error that the user can mend; empty for faults of the program."""
    causes, cause = [error], error.__cause__ or error.__context__
    while cause is not None:
        causes.append(cause)
        cause = cause.__cause__ or cause.__context__
    for cause in causes:
        if isinstance(cause, PokernetsError):
            return str(cause)
        if isinstance(cause, OSError):  # a full disk, a folder that nobody may write to
            place = f"{cause.filename}: " if cause.filename else ""
            remedy = _FREE_SPACE if cause.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) else ""
            return f"{place}{cause.strerror or cause}; {remedy}{_KEPT}"
    if line := of_user_code(error):
        return line
    if isinstance(error, HydraException | OmegaConfBaseException):
        return " ".join(f"{error} {error.__cause__ or ''}".split())
    return ""


@contextmanager
def recorded(config: DictConfig, node: DictConfig) -> Iterator[None]:
    """Let records made inside the block hold the command line and the settings of `node`, a part of `config`."""
    settings = OmegaConf.to_container(node, resolve=True, throw_on_missing=True)
    assert isinstance(settings, dict)
    folders = {name: str(config[name]) for name in ("artifacts", "outputs", "runs")}
    named = {
        name: folder for name, folder in folders.items() if not Path(folder).is_file()
    }  # a bundle has its own name
    with configured({str(key): value for key, value in settings.items()}, named, command_line()):
        yield


def command_line() -> str:
    """The command line that started this process, as it was typed, without secrets."""
    if RUNS_PROGRAM:  # `pokernets VERB` runs an entry point with other arguments
        words = sys.orig_argv
        typed = next((words[at + 1 :] for at, word in enumerate(words) if Path(word).name == PROGRAM), sys.argv[1:])
        return shlex.join([PROGRAM, *_without_secrets(typed)])
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = [Path(sys.argv[0]).name] if spec is None else ["-m", spec.name.removesuffix(".__main__")]
    return shlex.join(["python", *program, *_without_secrets(sys.argv[1:])])


def _without_secrets(arguments: list[str]) -> list[str]:
    return [argument for argument in arguments if argument.partition("=")[0].lstrip("+") not in SECRETS]
