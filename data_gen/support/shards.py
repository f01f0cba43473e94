"""The loop of jobs that write shards, each a function of the seed, its index and the settings alone."""

import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

from data_gen.support.progress import JobProgress
from poker.run.parallel import Cluster, Given, Work
from poker.store.shards import shard_path


class ShardJob(Protocol):
    """How the shards of `output` are made; small enough to be sent to a worker, where `inputs` must be. `unit` is what
    their rows are."""

    title: ClassVar[str]
    unit: ClassVar[str]

    @property
    def output(self) -> str: ...

    @property
    def inputs(self) -> tuple[Path, ...]: ...

    def is_there(self, index: int) -> bool: ...

    def make_shard(self, index: int) -> tuple[int, Mapping[str, float]]:
        """Write one shard; returns its rows, and measures of it."""

    def print_cost(self, what: str, missing: int, cluster: Cluster) -> None:
        """Print the cost of the shards that are `missing`."""


def make_shards(job: ShardJob, shards: int, cluster: Cluster, dry: bool, runs: str) -> None:
    """Make the shards that are missing of the first `shards`; with `dry` print what that takes."""
    missing = [index for index in range(shards) if not job.is_there(index)]
    done, rows = shards - len(missing), 0
    there = f"{job.title} {job.output}: {done} of {shards} shards are there"
    if not missing:
        print(there, file=sys.stderr)
        return
    job.print_cost(f"{there}, {len(missing)} to make", len(missing), cluster)
    if dry:
        return
    started = time.perf_counter()
    with JobProgress(job.title, total=shards, done=done, logs=runs) as progress:
        work = Work(Given(job.make_shard), inputs=job.inputs, output=partial(shard_path, job.output))
        for count, measures in cluster.run(work, missing):
            done, rows = done + 1, rows + count
            rate = rows / (time.perf_counter() - started)
            progress.update(done, step=done, **{f"{job.unit}_per_second": rate, **measures})
