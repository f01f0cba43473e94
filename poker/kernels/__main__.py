"""`python -m poker.kernels`: compiles all kernels on all cores into numba's cache; then no later command compiles."""

import importlib
import multiprocessing
import pkgutil
import time
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor, as_completed

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

import poker.kernels
from poker.kernels.registry import ENTRIES, compile_entries
from poker.machine import cores


def groups() -> list[list[tuple[str, str]]]:
    """Modules and signatures of all that there is to compile, by name, in tasks for one process.

    A task is what kernels of a module are compiled for first, or second, ...: what they share is compiled once. Long
    signatures come first, for they take longest.
    """
    for found in pkgutil.walk_packages(poker.kernels.__path__, "poker.kernels."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    by_module: dict[tuple[str, int], list[tuple[str, str]]] = defaultdict(list)
    for entry in ENTRIES:
        for number, signature in enumerate(entry.signatures):
            by_module[entry.name.rpartition(".")[0], number].append((entry.name, signature))
    return sorted(by_module.values(), key=lambda group: -sum(len(signature) for _, signature in group))


def main() -> None:
    todo = groups()
    columns = (TextColumn("kernels"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bars = Progress(*columns, TextColumn("{task.fields[found]}"), console=Console(stderr=True))
    processes = ProcessPoolExecutor(cores(), multiprocessing.get_context("spawn"))
    with bars as progress, processes:
        bar = progress.add_task("", total=sum(map(len, todo)), found="")
        started, done = time.perf_counter(), 0
        pending = {processes.submit(compile_entries, group): group for group in todo}
        for finished in as_completed(pending):
            finished.result()
            done += len(pending[finished])
            found = f"{done / (time.perf_counter() - started):.1f}/s  {pending[finished][-1][0]}"
            progress.update(bar, completed=done, found=found)


if __name__ == "__main__":
    main()
