"""Ahead-of-time compilation of all kernels, on all cores, into numba's cache on disk.

A stamp beside the cache records what its files depend on, and the size and modification time of each file. If nothing
has changed there is nothing to do, and numba, which takes seconds to import, is not even imported.
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
"""CPU seconds to compile all kernels on a Zen 5 core."""


def is_compiled() -> bool:
    """Return whether the stamp is complete and nothing has changed since it was written."""
    try:
        stamp = json.loads(_stamp_file().read_text())
        return bool(stamp["depends_on"] == _dependencies() and stamp["cache"] == _states(stamp["cache"]))
    except (OSError, ValueError, KeyError, TypeError):
        return False


def compile_missing() -> None:
    """Compile the kernels that are not compiled yet, or report that all are."""
    if is_compiled():
        print("all kernels are compiled for this machine", file=sys.stderr)
    else:
        compile_all()


def needs_compiling() -> bool:
    """Return whether a command should compile all kernels before it starts.

    In a clone, whose owner edits kernels, this is the case only the first time. In an installation it is the case
    whenever a kernel is missing or out of date.
    """
    return not (_stamp_file().exists() and (IN_CLONE or is_compiled()))


def compile_at_first_use() -> None:
    """Compile all kernels if `needs_compiling` and a stamp can be written."""
    if needs_compiling():
        with suppress(OSError):
            _stamp_file().parent.mkdir(parents=True, exist_ok=True)
            _stamp_file().touch()
            compile_all()


@cache
def compile_apart() -> None:
    """Compile missing kernels of an installation in a separate process, with a progress bar on stderr.

    The process is separate because its workers must not run the user's script again.
    """
    if needs_compiling():
        subprocess.run([sys.executable, "-m", kernels.__name__], check=False)


def compile_all() -> None:
    """Compile the kernels that numba's cache lacks, with a progress bar on stderr.

    The stamp is written once all kernels have been read back from the cache.
    """
    from poker.run.progress import progress_bars  # noqa: PLC0415 (not needed to check the stamp)

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
            missing = _compile_all("loading the kernels", todo, bars)
    if not missing:
        _write_stamp(depends_on, _cache_files())


def _compile_all(title: str, todo: list[list[tuple[str, str]]], bars: "Progress") -> int:
    """Compile in new processes; return how many kernels the cache lacked."""
    from poker.run.parallel import process_pool  # noqa: PLC0415

    bar = bars.add_task(title, total=sum(map(len, todo)), found="")
    with process_pool(cores()) as processes:
        pending = {processes.submit(_compile, group): len(group) for group in todo}
        for done in as_completed(pending):
            bars.advance(bar, pending[done])
        return sum(task.result() for task in pending)


def _write_stamp(depends_on: dict[str, Any], cache: list[str]) -> None:
    with suppress(OSError):  # without write access the kernels are checked again next time
        _stamp_file().parent.mkdir(parents=True, exist_ok=True)
        _stamp_file().write_text(json.dumps({"depends_on": depends_on, "cache": _states(cache)}))


def groups() -> list[list[tuple[str, str]]]:
    """Return the names and signatures of all kernels, grouped into tasks for one process each.

    A task has the first signature of all kernels of a module, or the second, and so on, so that shared code is compiled
    once. Tasks with long signatures come first, because they take longest.
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
    """Compile one task; return how many kernels the cache lacked."""
    from poker.kernels.registry import compile_entry  # noqa: PLC0415

    return sum(compile_entry(name, signature) for name, signature in group)


def _stamp_file() -> Path:
    """Return the path of the stamp, in numba's cache folder if it is set, beside the kernels or in the user's cache."""
    chosen, beside = os.environ.get("NUMBA_CACHE_DIR"), _SOURCES / "__pycache__"
    if chosen:
        folder = Path(chosen)
    elif os.access(beside if beside.exists() else _SOURCES, os.W_OK):
        folder = beside
    else:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "pokernets"
    return folder / f"kernels.{sys.implementation.cache_tag}.json"


def _dependencies() -> dict[str, Any]:
    """Return the versions, processor and settings that numba's cache depends on, as JSON values."""
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
    """Return the indices and compiled code of all modules of kernels."""
    from poker.kernels.registry import ENTRIES  # noqa: PLC0415

    folders = {Path(entry.dispatcher.stats.cache_path) for entry in ENTRIES}
    return sorted(str(file) for folder in folders for file in folder.glob("*.nb[ic]"))


def _states(files: Iterable[str]) -> dict[str, list[int]]:
    """Return the size and modification time in nanoseconds of each file.

    Raises:
        OSError: a file does not exist.
    """
    states = {file: os.stat(file) for file in files}
    return {file: [state.st_size, state.st_mtime_ns] for file, state in states.items()}
