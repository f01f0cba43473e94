"""What Ray costs beside processes of one machine, two workers each, in turns.

`python -m tests.bench.clusters ARTIFACTS > docs/results/clusters.json`, with nothing else running. Seconds of N and of
3 N tasks give those of a task, and the fixed ones (processes started, kernels loaded, artifacts opened). ARTIFACTS are
those of `make demo`.
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from poker.provenance import provenance
from tests.bench.startup import ROOT

REPEATS = 2
SMALL = 8
"""Shards, or hundreds of hands."""


def main(artifacts: Path) -> dict[str, Any]:
    """Seconds of each kind of work on each cluster, medians of the repeats, and ratios of Ray to local."""
    kinds: dict[str, Callable[[str, int], float]] = {
        "leaf_states": lambda cluster, size: _leaf_states(artifacts, cluster, size),
        "match": lambda cluster, size: _match(artifacts, cluster, 100 * size),
    }
    found: dict[str, Any] = {}
    for kind, seconds in kinds.items():
        taken: dict[str, list[tuple[float, float]]] = {"local": [], "ray": []}
        for _ in range(REPEATS):
            for cluster, times in taken.items():
                few, many = seconds(cluster, SMALL), seconds(cluster, 3 * SMALL)
                times.append((few, many))
                print(kind, cluster, few, many, file=sys.stderr)
        rows = {}
        for cluster, times in taken.items():
            few, many = (statistics.median(each) for each in zip(*times, strict=True))
            each = (many - few) / (2 * SMALL)
            rows[cluster] = {"each": each, "fixed": few - SMALL * each, "runs": times}
        found[kind] = {**rows, "ratio": rows["ray"]["each"] / rows["local"]["each"]}
    made = {key: value for key, value in provenance().items() if key in ("commit", "machine", "versions")}
    return {
        "what": "Ray beside processes of one machine, two workers each",
        "unit": "s of a shard, of 100 hands",
        "found": found,
        **made,
    }


CLUSTERS = {"local": ("cluster.processes=2",), "ray": ("cluster=ray", "cluster.workers=2")}


def _leaf_states(artifacts: Path, cluster: str, shards: int) -> float:
    job = ("-m", "data_gen", "job=leaf_states", f"job.shards={shards}", "job.output=states")
    return _seconds(*job, f"artifacts={artifacts.resolve()}", *CLUSTERS[cluster])


def _match(artifacts: Path, cluster: str, hands: int) -> float:
    match = (str(ROOT / "evaluate.py"), "evaluate=match", "agents=[blueprint,equity]", f"hands={hands}")
    return _seconds(*match, f"artifacts={artifacts.resolve()}", *CLUSTERS[cluster])


def _seconds(*arguments: str) -> float:
    """Wall time of a command in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        started = time.perf_counter()
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        subprocess.run([sys.executable, *arguments], cwd=folder, env=environment, check=True, capture_output=True)
        return time.perf_counter() - started


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1])), indent=1))
