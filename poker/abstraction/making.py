"""Computation of abstractions street by street, and again from the recipe in a bundle.

A killed run continues, because finished streets are stored beside the output (`<output>.streets/`) until all are done.
The result depends only on the method and the seed. It does not depend on threads, machines or interruptions, nor on the
stacks, blinds and bets of the game. An abstraction made for one game therefore also serves others with the same cards.
"""

import glob
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

from rich.progress import Progress

from poker.abstraction.buckets import KIND, make_abstraction, street_table
from poker.abstraction.methods import Building, Method, StreetTable, method_of, table_bytes
from poker.game.rules import STREET_NAMES
from poker.run.atomic import remove
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.parallel import Cluster, LocalCluster, print_cost
from poker.run.progress import progress_bars
from poker.store.artifacts import Artifact, ArtifactError, find_artifact, open_artifact, write_artifact

STREET_KIND = "abstraction_street"


def make(*, method: Method, seed: int, cluster: Cluster, output: str, others: str = "") -> None:
    """Compute an abstraction, unless it exists with the same settings.

    Args:
        method: how the buckets are computed.
        seed: seed of the clustering.
        cluster: where the work runs.
        output: directory of the artifact.
        others: glob pattern of other abstractions. One with the same settings is copied.

    Raises:
        ArtifactError: an artifact with other settings exists at `output`.
    """
    config: dict[str, Any] = {"method": method.settings, "seed": seed}
    if find_artifact(output, KIND, config=config) is not None:
        print(f"abstraction {output} is there", file=sys.stderr)
        return
    if (other := _find_copy(others, config)) is not None:
        print(f"abstraction {output}: copied from {other.path}, which has the same settings", file=sys.stderr)
        write_artifact(output, KIND, config=other.config, arrays=other.arrays, counts=other.counts)
        return
    started = time.perf_counter()
    parts = Path(f"{output}.streets")
    built: dict[int, StreetTable] = {}
    stored = {street: _stored_street(street, parts / STREET_NAMES[street], config) for street in method.order}
    seconds = sum(method.cpu_seconds(street) for street in method.order if stored[street] is None)
    megabytes = table_bytes(method.num_buckets) / 1e6
    print_cost(f"abstraction {output}", seconds, cluster.workers, cluster, megabytes, threads=cluster.one_machine)
    with progress_bars("") as bars:
        how = Building(seed, partial(_update_bar, bars), None if cluster.one_machine else cluster)
        for street in method.order:
            table = stored[street]
            if table is None:
                table = method.build(street, built, how)
                arrays = {"table": table.table, "vectors": table.vectors}
                counts = {"num_buckets": table.num_buckets}
                write_artifact(parts / STREET_NAMES[street], STREET_KIND, config=config, arrays=arrays, counts=counts)
            built[street] = table
    order = range(len(built))
    made = make_abstraction([built[s].table for s in order], [built[s].num_buckets for s in order])
    saved = made.save(output, config)
    remove(parts)
    sizes = ", ".join(f"{STREET_NAMES[s]} {saved.num_buckets[s]}" for s in order)
    print(f"abstraction {output}: buckets {sizes}; {time.perf_counter() - started:.0f} s", file=sys.stderr)


def make_again(recipe: Mapping[str, Any], output: Path) -> None:
    """Compute the abstraction that a bundle's recipe describes, on all cores.

    It is copied if another bundle has it. If another process is computing it, this one waits.

    Args:
        recipe: `config` and `fingerprint` of the abstraction.
        output: directory of the artifact.

    Raises:
        PokernetsError: the recipe is invalid, or the result has a different fingerprint.
    """
    with ExitStack() as lock:
        try:
            lock.enter_context(alone(output.parent, busy := f"another command is making {output}", output.name))
        except PokernetsError:
            print(f"{busy}: waiting for its end", file=sys.stderr)
            lock.enter_context(alone(output.parent, name=output.name))
        if find_artifact(output, KIND) is None:
            method, seed = _settings_of(recipe["config"])
            others = str(output.parent.parent / "*" / output.name)
            make(method=method, seed=seed, cluster=LocalCluster(), output=str(output), others=others)
    if open_artifact(output, KIND).fingerprint != recipe["fingerprint"]:
        raise PokernetsError(f"{output} is not the abstraction of the bundle's blueprint")


def _settings_of(config: Any) -> tuple[Method, int]:
    """Return the method and seed of a recipe; they are checked, because bundles may come from other people."""
    settings = config if isinstance(config, dict) else {}
    method, seed = settings.get("method"), settings.get("seed")
    if not isinstance(method, dict) or type(seed) is not int or seed < 0:
        raise PokernetsError(f"the stored recipe lacks an abstraction method or a seed: {str(config)[:200]}")
    return method_of(method), seed


def _find_copy(others: str, config: dict[str, Any]) -> Artifact | None:
    """Return an abstraction with these settings among those that match the pattern, or None."""
    for path in sorted(glob.glob(others)):
        with suppress(ArtifactError):
            return open_artifact(path, KIND, config=config)
    return None


def _stored_street(street: int, path: Path, config: dict[str, Any]) -> StreetTable | None:
    """Read a street that an earlier run finished; other settings are refused, so that nothing is overwritten."""
    part = find_artifact(path, STREET_KIND, config=config)
    if part is None:
        return None
    size = part.counts["num_buckets"]
    return StreetTable(street_table(part, "table", street, size), size, part.arrays["vectors"])


def _update_bar(bars: Progress, title: str, done: int, total: int) -> None:
    """Update the progress bar of one phase of the work."""
    bar = next((task.id for task in bars.tasks if task.description == title), None)
    if bar is None:
        bar = bars.add_task(title, total=total, found="")
    elapsed = bars.tasks[bar].elapsed or 0.0
    bars.update(bar, completed=done, total=total, found=f"{done / max(elapsed, 1e-9):,.0f}/s")
