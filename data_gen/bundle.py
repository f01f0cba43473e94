"""`job=bundle`: pack everything that some agents need into one file (`poker.store.bundle`).

Agents that search need only a part of a blueprint: its betting tree, which names the entries of the leaf table, but not
its strategy. The bundle contains

- blueprint: the tree, and the strategy of the first round in 8 bits, from which charts are drawn. Agents that play or
  roll out the blueprint get the whole strategy exactly as it is stored; `job=blueprint` stores 8 bits, that is 255
  levels of probability.
- abstraction: its settings, from which it is made again, bit for bit, where it is first needed.
- leaf_table: values as float16, without their standard errors.
- everything else as it is.

Agents play from a bundle as from the artifacts, except that the values of leaf tables are rounded to float16, which has
11 bits. They can be rounded further: multiples of 1/128 of the pot, far below the standard errors, compress to two
thirds of the size.
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
from poker.run.errors import PokernetsError
from poker.solvers import blueprint
from poker.store.artifacts import Artifact, artifact_exists, open_artifact, write_artifact
from poker.store.bundle import CONTENTS, write_bundle
from poker.store.provenance import provenance


def run(
    *,
    artifacts: str,
    needs: Mapping[str, Sequence[str]],
    agents: Sequence[str] | None,
    table_step: float,
    megabytes: float,
    output: str,
) -> None:
    """Pack the artifacts that agents need into one file.

    Args:
        artifacts: folder of the artifacts.
        needs: for each agent that a bundle can serve, its artifacts below `artifacts`.
        agents: the agents; None for all whose artifacts exist.
        table_step: values of leaf tables are rounded to multiples of this many pots; 0 for no rounding.
        megabytes: largest size of the file.
        output: the bundle's file.

    Raises:
        PokernetsError: an agent is unknown, an artifact is missing, or the file would be too large. An existing file
            stays.
    """
    source, target = Path(artifacts), Path(output)
    names = dict.fromkeys(name for agent in _chosen(source, agents, needs) for name in needs[agent])
    packing = {name: open_artifact(source / name, None) for name in names}
    seats = [agent for agent, its in needs.items() if packing.keys() >= {*its}]
    abstractions = {name: packing.pop(name) for name in names if packing[name].kind == abstraction.KIND}
    contents: dict[str, Any] = {
        "seats": seats,
        "made_from": {name: artifact.fingerprint for name, artifact in packing.items()},
        "recipes": {name: {"config": of.config, "fingerprint": of.fingerprint} for name, of in abstractions.items()},
        "rounding": {"table": "float16", "table_step_pots": table_step},
    }
    if _packed_already(target, contents):
        print(f"bundle {target} is there, for {', '.join(seats)}", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        _pack(packing, Path(folder), table_step, whole=bool(abstractions))
        sizes = {name: sum(file.stat().st_size for file in (Path(folder) / name).iterdir()) for name in packing}
        print(f"to compress: {_sizes_text(sizes)} for {', '.join(seats)}", file=sys.stderr)
        packed = write_bundle(target, Path(folder), {**contents, "provenance": provenance()}, int(megabytes * 1e6))
    print(f"bundle {target}: {_sizes_text(packed, target.stat().st_size)}", file=sys.stderr)


def _sizes_text(sizes: Mapping[str, int], total: int | None = None) -> str:
    """Return the megabytes of the total, by default the sum, and of each part."""
    parts = ", ".join(f"{name} {size / 1e6:.1f} MB" for name, size in sizes.items())
    return f"{(sum(sizes.values()) if total is None else total) / 1e6:.1f} MB ({parts})"


def _chosen(source: Path, agents: Sequence[str] | None, needs: Mapping[str, Sequence[str]]) -> list[str]:
    if agents is None:
        there = [agent for agent, names in needs.items() if all(artifact_exists(source / name) for name in names)]
        if not there:
            wanted = ", ".join(needs["depth_limited"])
            raise PokernetsError(f"nothing to pack: {source} has no agent's artifacts; depth_limited needs {wanted}")
        return there
    unknown = [agent for agent in agents if agent not in needs]
    if unknown or not agents:
        raise PokernetsError(f"job.agents: unknown {', '.join(unknown) or 'nobody'}; choose from {', '.join(needs)}")
    return list(agents)


def _packed_already(target: Path, contents: dict[str, Any]) -> bool:
    try:
        with zipfile.ZipFile(target) as archive:
            packed = json.loads(archive.read(CONTENTS))
            return all(packed[key] == value for key, value in contents.items())
    except (OSError, KeyError, TypeError, ValueError, zipfile.BadZipFile):
        return False


def _pack(artifacts: dict[str, Artifact], folder: Path, table_step: float, *, whole: bool) -> None:
    trained = artifacts.get("blueprint")
    packed = {
        name: _pack_blueprint(artifact, folder / name, whole=whole)
        for name, artifact in artifacts.items()
        if artifact.kind == blueprint.KIND
    }
    for name, artifact in artifacts.items():
        if artifact.kind == leaf_table.KIND:
            assert trained is not None
            _pack_table(artifact, trained, packed["blueprint"], folder / name, table_step)
        elif artifact.kind != blueprint.KIND:
            shutil.copytree(artifact.path, folder / name)


def _pack_blueprint(artifact: Artifact, path: Path, *, whole: bool) -> Artifact:
    """Pack the `whole` blueprint, or only its tree with the strategy of the first round."""
    if whole:
        return _write(artifact, path, dict(artifact.arrays))
    first = blueprint.FirstRound.load(artifact.path)
    trees = {} if first.tree.from_rules else blueprint.tree_arrays(first.tree)
    config = {**artifact.config, "num_buckets": list(first.sampling.num_buckets), "bits": 8}
    return _write(artifact, path, {**trees, "strategy": first.quantised()}, config=config)


def _pack_table(artifact: Artifact, trained: Artifact, packed: Artifact, path: Path, step: float) -> None:
    whole = leaf_table.LeafTable.load(artifact.path, blueprint.FirstRound.load(trained.path))
    values = np.round(whole.values / step) * step if step else whole.values
    arrays = {"nodes": whole.nodes, "values": values.astype(np.float16)}
    _write(artifact, path, arrays, made_from={**artifact.made_from, "blueprint": packed.fingerprint})


def _write(artifact: Artifact, path: Path, arrays: dict[str, Any], **changed: dict[str, Any]) -> Artifact:
    """Write the artifact with these arrays, recording the original's fingerprint under its own kind."""
    manifest = {"config": artifact.config, "counts": artifact.counts, "made_from": artifact.made_from, **changed}
    manifest["made_from"] = {**manifest["made_from"], f"whole_{artifact.kind}": artifact.fingerprint}
    return write_artifact(path, artifact.kind, arrays=arrays, **manifest)
