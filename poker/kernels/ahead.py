"""All kernels compiled ahead, on all cores, into numba's cache on disk; then no later command compiles.

A stamp beside the cache holds what its files depend on and which they are, by size and time of change. While all of
that is as it was, nothing is to be done, and numba, which takes seconds, is not even imported.
"""

import importlib
import json
import os
import pkgutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable
from concurrent.futures import as_completed
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from poker import kernels
from poker.run.commands import IN_CLONE
from poker.run.machine import cores

if TYPE_CHECKING:
    from rich.progress import Progress

_SOURCES = Path(kernels.__file__).parent
_CPU_SECONDS = 80
"""To compile all, on a Zen 5 core."""


def is_compiled() -> bool:
    """Whether the stamp says that there is nothing to compile, and nothing has changed since."""
    try:
        stamp = json.loads(_stamp_file().read_text())
        return bool(stamp["depends_on"] == _dependencies() and stamp["cache"] == _states(stamp["cache"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def compile_missing() -> None:
    """Compile what is not compiled yet, or say that all is."""
    if is_compiled():
        print("all kernels are compiled for this machine", file=sys.stderr)
    else:
        compile_all()


def needs_compiling() -> bool:
    """Whether a command compiles all kernels before it starts: in a clone, whose owner edits kernels, if that was never
    begun; in an installation, if anything is missing or out of date."""
    return not (_stamp_file().exists() and (IN_CLONE or is_compiled()))


def compile_at_first_use() -> None:
    """Compile all kernels if that `needs_compiling` and a stamp can be written."""
    if needs_compiling():
        with suppress(OSError):
            _stamp_file().parent.mkdir(parents=True, exist_ok=True)
            _stamp_file().touch()
            compile_all()


@cache
def compile_apart() -> None:
    """Compile the kernels where an installation lacks them, with a bar on stderr, in a process of its own: those that
    it starts must not run the user's script again."""
    if needs_compiling():
        subprocess.run([sys.executable, "-m", kernels.__name__], check=False)


def compile_all() -> None:
    """Compile what numba's cache lacks, with a bar on stderr; write the stamp once all was read from there."""
    from poker.run.progress import progress_bars  # noqa: PLC0415 (what a look at the stamp does without)

    depends_on = _dependencies()
    todo = groups()
    seconds = max(5, round(_CPU_SECONDS / cores(), -1))
    print(
        "numba compiles the kernels, which deal, play and solve, for this machine: once after an installation,"
        f" about {seconds:.0f} s on {cores()} cores; what is compiled already takes no time",
        file=sys.stderr,
    )
    with progress_bars("") as bars:
        missing = _compile_all("compiling kernels", todo, bars)
        if missing:  # processes that write to one index at once may lose each other's entries
            missing = _compile_all("reading them back", todo, bars)
    if not missing:
        _write_stamp(depends_on, _cache_files())


def _compile_all(title: str, todo: list[list[tuple[str, str]]], bars: "Progress") -> int:
    """Compile in new processes; how many the cache lacked."""
    from poker.run.parallel import process_pool  # noqa: PLC0415

    bar = bars.add_task(title, total=sum(map(len, todo)), found="")
    with process_pool(cores()) as processes:
        pending = {processes.submit(_compile, group): len(group) for group in todo}
        for done in as_completed(pending):
            bars.advance(bar, pending[done])
        return sum(task.result() for task in pending)


def _write_stamp(depends_on: dict[str, Any], cache: list[str]) -> None:
    with suppress(OSError):  # a folder that nobody may write to: looked through anew the next time
        _stamp_file().parent.mkdir(parents=True, exist_ok=True)
        _stamp_file().write_text(json.dumps({"depends_on": depends_on, "cache": _states(cache)}))


def groups() -> list[list[tuple[str, str]]]:
    """Modules and signatures of all that there is to compile, by name, in tasks for one process.

    A task is what kernels of a module are compiled for first, or second, ...: what they share is compiled once. Long
    signatures come first, for they take longest.
    """
    from poker.kernels.registry import ENTRIES  # noqa: PLC0415 (imports numba)

    for module in pkgutil.walk_packages(kernels.__path__, f"{kernels.__name__}."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    by_module: dict[tuple[str, int], list[tuple[str, str]]] = defaultdict(list)
    for entry in ENTRIES:
        for number, signature in enumerate(entry.signatures):
            by_module[entry.name.rpartition(".")[0], number].append((entry.name, signature))
    return sorted(by_module.values(), key=lambda group: -sum(len(signature) for _, signature in group))


def _compile(group: list[tuple[str, str]]) -> int:
    """How many the cache lacked."""
    from poker.kernels.registry import compile_entry  # noqa: PLC0415

    return sum(compile_entry(name, signature) for name, signature in group)


def _stamp_file() -> Path:
    """In numba's own folder for caches, if one is set, else beside the kernels, or where the user keeps caches."""
    chosen, beside = os.environ.get("NUMBA_CACHE_DIR"), _SOURCES / "__pycache__"
    if chosen:
        folder = Path(chosen)
    elif os.access(beside if beside.exists() else _SOURCES, os.W_OK):
        folder = beside
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pokernets"
    return folder / f"kernels.{sys.implementation.cache_tag}.json"


def _dependencies() -> dict[str, Any]:
    """Versions, processor and settings by which numba chooses and trusts its cache; plain JSON values."""
    from llvmlite import binding  # noqa: PLC0415

    chosen = {name: value for name, value in os.environ.items() if name.startswith("NUMBA_")}
    settings = Path(".numba_config.yaml")
    return {
        "numba": version("numba"),
        "llvmlite": version("llvmlite"),
        "cpu": [binding.get_host_cpu_name(), binding.get_host_cpu_features().flatten()],
        "settings": [chosen, settings.read_text() if settings.exists() else None],
        "sources": _states(sorted(map(str, _SOURCES.rglob("*.py")))),
    }


def _cache_files() -> list[str]:
    """Indices and compiled code of all modules of kernels."""
    from poker.kernels.registry import ENTRIES  # noqa: PLC0415

    folders = {Path(entry.dispatcher.stats.cache_path) for entry in ENTRIES}
    return sorted(str(file) for folder in folders for file in folder.glob("*.nb[ic]"))


def _states(files: Iterable[str]) -> dict[str, list[int]]:
    """Size and time of change in nanoseconds of each; OSError where one is gone."""
    states = {file: os.stat(file) for file in files}
    return {file: [state.st_size, state.st_mtime_ns] for file, state in states.items()}
