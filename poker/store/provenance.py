"""Provenance of results: command, configuration, code, machine and versions, stored beside every result."""

import os
import platform
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from poker.store.artifacts import artifacts_in

_PACKAGES = ("pokernets", "numpy", "numba", "torch")
_SETTINGS: ContextVar[Mapping[str, Any]] = ContextVar("settings")
"""The command and the configuration that records include."""
_FOLDERS: ContextVar[Mapping[str, str]] = ContextVar("folders")
SECRETS = ("token",)
"""Settings with secrets, which no record includes."""
_ABSOLUTE_PATH = re.compile(r"(?<![\w./:])(?:/[^\s/:,;'\"\[\](){}]+){2,}")


@contextmanager
def configured(
    configuration: Mapping[str, Any], folders: Mapping[str, str] | None = None, command: str = ""
) -> Iterator[None]:
    """Make `provenance` include settings and the command line inside the block.

    Args:
        configuration: resolved settings, as plain values.
        folders: paths of the folders `runs` and `artifacts`, which `portable` replaces by these names.
        command: the command line.
    """
    settings = {"command": command, "configuration": _without_secrets(configuration)}
    token, previous = _SETTINGS.set(settings), _FOLDERS.set(folders or {})
    try:
        yield
    finally:
        _SETTINGS.reset(token)
        _FOLDERS.reset(previous)


def _without_secrets(node: Any) -> Any:
    """Return the settings with every secret set to None."""
    if isinstance(node, Mapping):
        return {key: None if key in SECRETS else _without_secrets(value) for key, value in node.items()}
    return [_without_secrets(value) for value in node] if isinstance(node, list | tuple) else node


def portable(value: Any) -> Any:
    """Return a record without absolute paths of this machine, wherever they stand in a text.

    Paths below `runs` and `artifacts` begin with these names, and paths below the current folder become relative to it.
    Other paths are cut to their last part.

    Args:
        value: plain values and paths, in any nesting.
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


def provenance() -> dict[str, Any]:
    """Return the time, commit, machine and package versions.

    The commit ends in `+` if tracked files differ from it, and is None outside git. Inside `configured` the record also
    has `command`, `configuration` and the fingerprints of the `artifacts` that the configuration names.
    """
    settings = _SETTINGS.get({})
    return {
        **portable(settings),
        **({"artifacts": fingerprints(settings["configuration"])} if settings else {}),
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


def fingerprints(settings: Any) -> dict[str, str]:
    """Return the fingerprints of the artifacts that plain settings name, by their `portable` paths."""
    return {portable(path): fingerprint for path, fingerprint in artifacts_in(settings).items()}


def commit() -> str | None:
    """Return the commit of this code, with `+` if tracked files differ from it; None outside git."""
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
