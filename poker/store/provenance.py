"""Where results come from: command, configuration, code, machine and versions, recorded beside every result."""

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
"""The command and the configuration that records hold."""
_FOLDERS: ContextVar[Mapping[str, str]] = ContextVar("folders")
SECRETS = ("token",)
"""Settings that let others in, which no record holds."""
_ABSOLUTE_PATH = re.compile(r"(?<![\w./:])(?:/[^\s/:,;'\"\[\](){}]+){2,}")


@contextmanager
def configured(
    configuration: Mapping[str, Any], folders: Mapping[str, str] | None = None, command: str = ""
) -> Iterator[None]:
    """Let `provenance` include these settings (plain values, as resolved) and the command line inside the block.

    `folders` maps the names `runs` and `artifacts` to where they lie; `portable` puts the names in their place.
    """
    settings = {"command": command, "configuration": _without_secrets(configuration)}
    token, previous = _SETTINGS.set(settings), _FOLDERS.set(folders or {})
    try:
        yield
    finally:
        _SETTINGS.reset(token)
        _FOLDERS.reset(previous)


def _without_secrets(node: Any) -> Any:
    """Settings without those that let others in."""
    if isinstance(node, Mapping):
        return {key: None if key in SECRETS else _without_secrets(value) for key, value in node.items()}
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


def provenance() -> dict[str, Any]:
    """Time, commit (with `+` when files differ from it, None outside git), machine and package versions.

    Inside `configured` also `command`, `configuration` and `artifacts`: the fingerprints of those that this names.
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
    """Fingerprints of the artifacts that plain settings name, by their paths as `portable` has them."""
    return {portable(path): fingerprint for path, fingerprint in artifacts_in(settings).items()}


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
