"""Where results come from: command, configuration, code, machine and versions, recorded beside every result."""

import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poker.commands import PROGRAM, RUNS_PROGRAM

_PACKAGES = ("pokernets", "numpy", "numba", "torch")
_CONFIGURATION: ContextVar[Mapping[str, Any] | None] = ContextVar("configuration", default=None)
_FOLDERS: ContextVar[Mapping[str, str]] = ContextVar("folders")
_SECRETS = ("token",)
_ABSOLUTE_PATH = re.compile(r"(?<![\w./:])(?:/[^\s/:,;'\"\[\](){}]+){2,}")


@contextmanager
def configured(configuration: Mapping[str, Any], folders: Mapping[str, str] | None = None) -> Iterator[None]:
    """Let `provenance` include these settings (plain values, as resolved) and the command line inside the block.

    `folders` maps the names `runs` and `artifacts` to where they lie; `portable` puts the names in their place.
    """
    token, previous = _CONFIGURATION.set(_without_secrets(configuration)), _FOLDERS.set(folders or {})
    try:
        yield
    finally:
        _CONFIGURATION.reset(token)
        _FOLDERS.reset(previous)


def _without_secrets(node: Any) -> Any:
    """Settings without those that let others in."""
    if isinstance(node, Mapping):
        return {key: None if key in _SECRETS else _without_secrets(value) for key, value in node.items()}
    return [_without_secrets(value) for value in node] if isinstance(node, list | tuple) else node


def portable(value: Any) -> Any:
    """A record (plain values and paths) without absolute paths of this machine, in whatever text they stand.

    Paths below `runs` and `artifacts` begin with these names, those below the current folder are relative to it, and of
    others only the last part is left.
    """
    if isinstance(value, Mapping):
        return {key: portable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [portable(item) for item in value]
    if isinstance(value, str | Path):
        return _ABSOLUTE_PATH.sub(_portable_path, str(value))
    return value


def _portable_path(match: re.Match[str]) -> str:
    path = Path(match[0])
    for name, folder in (*_FOLDERS.get({}).items(), ("", ".")):
        if path.is_relative_to(Path(folder).absolute()):
            return str(name / path.relative_to(Path(folder).absolute()))
    return path.name


def command_line() -> str:
    """The command line that started this process, without secrets, as it was typed: `pokernets VERB` puts others into
    `sys.argv`."""
    if RUNS_PROGRAM:
        names = [Path(word).name for word in sys.orig_argv]
        typed = sys.orig_argv[names.index(PROGRAM) + 1 :] if PROGRAM in names else sys.argv[1:]
        return shlex.join([PROGRAM, *_public(typed)])
    spec = getattr(sys.modules["__main__"], "__spec__", None)
    program = [Path(sys.argv[0]).name] if spec is None else ["-m", spec.name.removesuffix(".__main__")]
    return shlex.join(["python", *program, *_public(sys.argv[1:])])


def _public(arguments: Sequence[str]) -> list[str]:
    return [argument for argument in arguments if argument.partition("=")[0].lstrip("+") not in _SECRETS]


def provenance() -> dict[str, Any]:
    """Time, commit (with `+` when files differ from it, None outside git), machine and package versions.

    Inside `configured` also `command` and `configuration`.
    """
    configuration = _CONFIGURATION.get()
    settings = {} if configuration is None else portable({"command": command_line(), "configuration": configuration})
    return {
        **settings,
        "time": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "python": platform.python_version(),
        },
        "versions": {name: version for name in _PACKAGES if (version := _version(name))},
    }


def commit() -> str | None:
    """The commit of this code, with `+` when files differ from it; None outside git."""
    head = _git("rev-parse", "HEAD")
    if head is None:
        return None
    return head + ("+" if _git("status", "--porcelain", "--untracked-files=no") else "")


def _git(*arguments: str) -> str | None:
    command = ["git", "-C", str(Path(__file__).parent), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()


def _version(package: str) -> str | None:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 (imports how mails are read)

    try:
        return version(package)
    except PackageNotFoundError:
        return None
