"""`job=bundle`: one file with what agents play with (`poker.store.bundle`), made from the artifacts of a directory.

Agents that solve need little of a blueprint: its betting tree, which says what each entry of the leaf table stands for,
and not its strategy. Packed are

- blueprint: the tree, and the strategy of the first round in 8 bits, which charts are drawn from; for agents that play
  it or roll it out all of it, in as many levels of probability as one likes;
- abstraction: its settings, from which it is made again, to the bit, where it is needed first;
- leaf_table: values as float16, without their standard errors;
- everything else as it is.

So a bundle plays as the artifacts do but for the levels and the rounding of the table to float16, 11 bits of every
value, or coarser: values rounded to multiples of 1/128 of the pot, far below their standard errors, pack to two thirds.
"""

import json
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from poker.abstraction import buckets as abstraction
from poker.depth_limit.leaves import leaf_table
from poker.run.atomic import MANIFEST
from poker.run.errors import PokernetsError
from poker.solvers import blueprint
from poker.store.artifacts import Artifact, open_artifact, write_artifact
from poker.store.bundle import CONTENTS, write_bundle
from poker.store.provenance import provenance

_LEVELS = (3, 5, 15, 17, 51, 85, 255)
"""Numbers of equal steps from 0 to 1 that 8 bits hold exactly."""


def run(
    *,
    artifacts: str,
    needs: Mapping[str, Sequence[str]],
    agents: Sequence[str] | None,
    table_step: float,
    strategy_levels: int,
    megabytes: float,
    dry: bool,
    output: str,
) -> None:
    """Pack what `agents` need (None: all that the artifacts at hand can seat) into the file `output`.

    `needs` are artifacts, as places below `artifacts`, by each agent that a bundle can seat.

    Values of leaf tables are rounded to multiples of `table_step` pots first, if it is not 0, and probabilities of
    whole blueprints to multiples of 1 / `strategy_levels`, a divisor of 255. Refused, leaving what is there, when the
    file would have more than `megabytes`.
    """
    if strategy_levels not in _LEVELS:
        raise PokernetsError(f"`job.strategy_levels` can be {', '.join(map(str, _LEVELS))}, not {strategy_levels}")
    source, target = Path(artifacts), Path(output)
    names = dict.fromkeys(name for agent in _chosen(source, agents, needs) for name in needs[agent])
    packing = {name: open_artifact(source / name, None) for name in names}
    seats = [agent for agent, its in needs.items() if packing.keys() >= {*its}]
    abstractions = {name: packing.pop(name) for name in names if packing[name].kind == abstraction.KIND}
    contents: dict[str, Any] = {
        "seats": seats,
        "made_from": {name: artifact.fingerprint for name, artifact in packing.items()},
        "recipes": {name: {"config": of.config, "fingerprint": of.fingerprint} for name, of in abstractions.items()},
        "rounding": {"strategy_levels": strategy_levels, "table": "float16", "table_step_pots": table_step},
    }
    levels = strategy_levels if abstractions else None
    if _packed_already(target, contents):
        print(f"bundle {target} is there, for {', '.join(seats)}", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        _pack(packing, Path(folder), table_step, levels)
        sizes = {name: sum(file.stat().st_size for file in (Path(folder) / name).iterdir()) for name in packing}
        print(f"to compress: {_sizes_text(sizes)} for {', '.join(seats)}", file=sys.stderr)
        if dry:
            return
        packed = write_bundle(target, Path(folder), {**contents, "provenance": provenance()}, int(megabytes * 1e6))
    print(f"bundle {target}: {_sizes_text(packed, target.stat().st_size)}", file=sys.stderr)


def _sizes_text(sizes: Mapping[str, int], total: int | None = None) -> str:
    """Megabytes of the `total`, by default the sum, and of each part."""
    parts = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items())
    return f"{(sum(sizes.values()) if total is None else total) / 1e6:.1f} MB ({parts})"


def _chosen(source: Path, agents: Sequence[str] | None, needs: Mapping[str, Sequence[str]]) -> list[str]:
    if agents is None:
        there = [agent for agent, names in needs.items() if all((source / name / MANIFEST).exists() for name in names)]
        if not there:
            wanted = ", ".join(needs["depth_limited"])
            raise PokernetsError(f"nothing to pack: {source} seats no agent; depth_limited needs {wanted} there")
        return there
    unknown = [agent for agent in agents if agent not in needs]
    if unknown or not agents:
        raise PokernetsError(f"no bundle seats {', '.join(unknown) or 'nobody'}; job.agents can be {', '.join(needs)}")
    return list(agents)


def _packed_already(target: Path, contents: dict[str, Any]) -> bool:
    try:
        with zipfile.ZipFile(target) as archive:
            packed = json.loads(archive.read(CONTENTS))
            return all(packed[key] == value for key, value in contents.items())
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile):
        return False


def _pack(artifacts: dict[str, Artifact], folder: Path, table_step: float, levels: int | None) -> None:
    trained = artifacts.get("blueprint")
    packed = {
        name: _pack_blueprint(artifact, folder / name, levels)
        for name, artifact in artifacts.items()
        if artifact.kind == blueprint.KIND
    }
    for name, artifact in artifacts.items():
        if artifact.kind == leaf_table.KIND:
            assert trained is not None
            _pack_table(artifact, trained, packed["blueprint"], folder / name, table_step)
        elif artifact.kind != blueprint.KIND:
            shutil.copytree(artifact.path, folder / name)


def _pack_blueprint(artifact: Artifact, path: Path, levels: int | None) -> Artifact:
    """All of the blueprint in so many levels of probability, or of its first round alone."""
    first = blueprint.FirstRound.load(artifact.path)
    trees = {} if first.tree.from_rules else blueprint.tree_arrays(first.tree)
    num_buckets = list(artifact.config["num_buckets"] if levels else first.sampling.num_buckets)
    strategy = blueprint.in_levels(artifact, levels) if levels else first.quantised()
    return _write(
        artifact,
        path,
        {**trees, "strategy": strategy},
        config={**artifact.config, "num_buckets": num_buckets, "bits": 8},
    )


def _pack_table(artifact: Artifact, trained: Artifact, packed: Artifact, path: Path, step: float) -> None:
    whole = leaf_table.LeafTable.load(artifact.path, blueprint.FirstRound.load(trained.path))
    values = np.round(whole.values / step) * step if step else whole.values
    arrays = {"nodes": whole.nodes, "values": values.astype(np.float16)}
    _write(artifact, path, arrays, made_from={**artifact.made_from, "blueprint": packed.fingerprint})


def _write(artifact: Artifact, path: Path, arrays: dict[str, Any], **changed: dict[str, Any]) -> Artifact:
    """The artifact with these arrays; its origin is noted under its own kind."""
    manifest = {"config": artifact.config, "counts": artifact.counts, "made_from": artifact.made_from, **changed}
    manifest["made_from"] = {**manifest["made_from"], f"whole_{artifact.kind}": artifact.fingerprint}
    return write_artifact(path, artifact.kind, arrays=arrays, **manifest)
