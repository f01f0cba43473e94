"""Cost of work on one process, on two and on two workers of Ray, and an extrapolation to many.

`python -m tests.bench.clusters ARTIFACTS > docs/results/costs/clusters.json`, with nothing else running. Seconds of N
and of 3 N tasks give those of a task, and the fixed ones (processes started, kernels loaded, artifacts opened); CPU
seconds of the process that hands the tasks out give what it can serve at most. ARTIFACTS are those of `make demo`.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.bench.record import record
from tests.bench.startup import ROOT

REPEATS = 2
SMALL = 4
"""Tasks of the shorter of two runs."""
CLUSTERS = {
    "one": ("cluster.processes=1",),
    "local": ("cluster.processes=2",),
    "ray": ("cluster=ray", "cluster.workers=2"),
}
MANY = 16, 64, 256
"""Workers to extrapolate to."""
PART = 200_000
"""Iterations of a part of a blueprint's round."""
GIGABIT = 10
"""Gigabits a second of the driver's network, for the extrapolation."""


@dataclass(frozen=True)
class Kind:
    """Work to measure: `arguments(tasks, workers)` is a command for so many tasks, each of `amount` units and `bytes`
    that the driver sends or receives; with `each_worker` a task holds `amount` for every worker."""

    unit: str
    amount: int
    arguments: Callable[[int, int], tuple[str, ...]]
    bytes: int = 0
    each_worker: bool = False


def kinds(artifacts: Path) -> dict[str, Kind]:
    """The kinds of work measured, by name."""
    there = f"artifacts={artifacts.resolve()}"
    table = sum(file.stat().st_size for file in (artifacts / "blueprint.checkpoint").glob("*.npy"))
    states = ("-m", "data_gen", "job=leaf_states", "job.output=states", there)
    match = (str(ROOT / "evaluate.py"), "evaluate=match", "agents=[blueprint,equity]", there)
    blueprint = ("-m", "data_gen", "job=blueprint", "job.seconds=null", "job.output=blueprint", there)
    rounds = f"job.rounds.iterations={PART}"
    return {
        "leaf_states": Kind("rows", 16_384, lambda tasks, _: (*states, f"job.shards={tasks}")),
        "match": Kind("hands", 100, lambda tasks, _: (*match, f"hands={100 * tasks}")),
        "blueprint": Kind(
            "iterations",
            PART,
            lambda tasks, workers: (
                *blueprint,
                rounds,
                f"job.rounds.parts={workers}",
                f"job.iterations={tasks * workers * PART}",
            ),
            bytes=2 * table,
            each_worker=True,
        ),
    }


def main(artifacts: Path) -> dict[str, Any]:
    """Measure each kind of work: seconds a task by cluster (medians of the repeats), rates, rates of many workers."""
    content: dict[str, Any] = {}
    for name, kind in kinds(artifacts).items():
        rows: dict[str, Any] = {}
        for cluster, overrides in CLUSTERS.items():
            workers = 1 if cluster == "one" else 2
            runs = []
            for _ in range(REPEATS):
                runs.append([_taken(*kind.arguments(tasks, workers), *overrides) for tasks in (SMALL, 3 * SMALL)])
                print(name, cluster, runs[-1], file=sys.stderr)
            few, many = ([statistics.median(run[size][part] for run in runs) for part in (0, 1)] for size in (0, 1))
            each, driver = ((more - less) / (2 * SMALL) for less, more in zip(few, many, strict=True))
            amount = kind.amount * (workers if kind.each_worker else 1)
            rows[cluster] = {
                "seconds_a_task": each,
                "fixed_seconds": few[0] - SMALL * each,
                "driver_cpu_seconds_a_task": max(0.0, driver),
                f"{kind.unit}_a_second": amount / each,
                "runs": runs,
            }
        rates = {cluster: row[f"{kind.unit}_a_second"] for cluster, row in rows.items()}
        content[name] = {
            **rows,
            "bytes_of_a_task": kind.bytes,
            "second_worker": rates["local"] / rates["one"],
            "ray_over_local": rates["local"] / rates["ray"],
            f"estimated_{kind.unit}_a_second": {workers: _many(kind, rows["ray"], workers) for workers in MANY},
        }
    return record(
        played=artifacts,
        what="one process, two, two workers of Ray, and by extrapolation many. A task is a shard of leaf states, "
        f"100 hands of blueprint against equity, a round of parts of {PART:,} iterations each",
        model="n workers do n times what one of two of Ray's does, but no more than the driver can serve: its CPU "
        f"time of a task on one core, and bytes at {GIGABIT} Gbit/s; in rounds, where all wait for the driver, the two "
        "come after one another",
        found=content,
    )


def _many(kind: Kind, ray: dict[str, Any], workers: int) -> float:
    """Units a second of many `workers`, by the model."""
    network = kind.bytes / (GIGABIT * 1e9 / 8)
    seconds, driver = float(ray["seconds_a_task"]), float(ray["driver_cpu_seconds_a_task"])
    if kind.each_worker:  # a round: parts at a time, then the driver with each of them
        return workers * kind.amount / (seconds - driver + workers * (driver / 2 + network))
    return kind.amount / max(2 * seconds / workers, driver, network)


def _taken(*arguments: str) -> tuple[float, float]:
    """Wall time of a command in a folder of its own, and CPU seconds of its first process."""
    with tempfile.TemporaryDirectory() as folder:
        started, cpu = time.perf_counter(), 0.0
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        command, none = [sys.executable, *arguments], subprocess.DEVNULL
        with subprocess.Popen(command, cwd=folder, env=environment, stdout=none, stderr=none) as process:
            while process.poll() is None:
                cpu = max(cpu, _cpu_seconds(process.pid))
                time.sleep(0.02)
        assert process.returncode == 0, arguments
        return time.perf_counter() - started, cpu


def _cpu_seconds(process: int) -> float:
    """CPU seconds of the process's threads, without its children."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.clusters")
    parser.add_argument("artifacts", type=Path)
    print(json.dumps(main(parser.parse_args().artifacts), indent=1))
