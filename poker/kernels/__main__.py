"""`python -m poker.kernels`: compiles all kernels on all cores into numba's cache; then no later command compiles."""

import importlib
import inspect
import multiprocessing
import os
import pkgutil
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn, TimeRemainingColumn
from rich.text import Text

import poker.kernels
from poker.kernels.registry import ENTRIES, compile_entry


class _Rate(ProgressColumn):
    """Kernels a second."""

    def render(self, task: Task) -> Text:
        return Text(f"{task.finished_speed or task.speed or 0.0:.1f}/s")


def entries() -> list[tuple[str, str]]:
    """Module and signature of all that there is to compile, by name; long files first, which take longest."""
    for found in pkgutil.walk_packages(poker.kernels.__path__, "poker.kernels."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    pairs = [(entry, signature) for entry in ENTRIES for signature in entry.signatures]
    pairs.sort(key=lambda pair: -len(inspect.getsource(inspect.getmodule(pair[0].dispatcher.py_func))))  # type: ignore[arg-type]
    return [(entry.name, signature) for entry, signature in pairs]


def main() -> None:
    todo = entries()
    columns = (
        TextColumn("kernels"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[last]}"),
    )
    processes = ProcessPoolExecutor(len(os.sched_getaffinity(0)), multiprocessing.get_context("spawn"))
    with Progress(*columns, console=Console(stderr=True)) as progress, processes:
        bar = progress.add_task("", total=len(todo), last="")
        pending = {processes.submit(compile_entry, *task): task[0].removeprefix("poker.kernels.") for task in todo}
        for done in as_completed(pending):
            done.result()
            progress.update(bar, advance=1, last=pending[done])


if __name__ == "__main__":
    main()
