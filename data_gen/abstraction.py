"""`job=abstraction`: sort the hands of every street of hold'em into buckets, by any method of conf/abstraction.

A finished street is kept beside the output (`<output>.streets/`) until all are there, so a killed run continues with
the street it was at. The result depends on method and seed alone, not on threads or interruptions.
"""

import shutil
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from data_gen.progress import JobProgress
from poker.abstraction.buckets import KIND, CardAbstraction, make_abstraction
from poker.abstraction.methods import Method, StreetTable
from poker.artifacts import ArtifactError, find_artifact, write_artifact

STREETS = ("preflop", "flop", "turn", "river")
STREET_KIND = "abstraction_street"


def run(*, method: Method, seed: int, output: str) -> CardAbstraction:
    """Make the abstraction at `output`, or reuse it if it was made with the same settings."""
    config: dict[str, Any] = {"method": method.settings, "seed": seed}
    if find_artifact(output, KIND, config=config) is not None:
        print(f"abstraction {output} is there", file=sys.stderr)
        return CardAbstraction.load(output)
    started = time.perf_counter()
    parts = Path(f"{output}.streets")
    built: dict[int, StreetTable] = {}
    with _Phases() as phases:
        for street in method.order:
            path = parts / STREETS[street]
            stored = _stored_street(path, config)
            if stored is None:
                stored = method.build(street, built, seed, phases.update)
                arrays = {"table": stored.table, "vectors": stored.vectors}
                counts = {"num_buckets": stored.num_buckets}
                write_artifact(path, STREET_KIND, config=config, arrays=arrays, counts=counts)
            built[street] = stored
    order = range(len(built))
    made = make_abstraction([built[s].table for s in order], [built[s].num_buckets for s in order])
    saved = made.save(output, config)
    shutil.rmtree(parts, ignore_errors=True)
    sizes = ", ".join(f"{STREETS[s]} {saved.num_buckets[s]}" for s in order)
    print(f"abstraction {output}: buckets {sizes}; {time.perf_counter() - started:.0f} s", file=sys.stderr)
    return saved


def _stored_street(path: Path, config: dict[str, Any]) -> StreetTable | None:
    """A street that an earlier run with the same settings finished; anything else there is made anew."""
    try:
        found = find_artifact(path, STREET_KIND, config=config)
    except ArtifactError:
        return None
    if found is None:
        return None
    return StreetTable(found.arrays["table"], found.counts["num_buckets"], found.arrays["vectors"])


class _Phases:
    """Shows one progress bar for each phase of the work, with its rate."""

    def __init__(self) -> None:
        self._bars = ExitStack()
        self._progress: JobProgress | None = None
        self._title = ""
        self._started = 0.0

    def __enter__(self) -> "_Phases":
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.close()

    def update(self, title: str, done: int, total: int) -> None:
        if self._progress is None or title != self._title:
            self._bars.close()
            self._title, self._started = title, time.perf_counter()
            self._progress = self._bars.enter_context(JobProgress(title, total=total))
        rate = done / max(time.perf_counter() - self._started, 1e-9)
        self._progress.update(done, step=done, per_second=rate)
