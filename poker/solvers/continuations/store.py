"""Continuation sets on disk: values and strategies of both seats as one artifact."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.artifacts import open_artifact, refuses_by_name, write_artifact
from poker.solvers.continuations.generation import ContinuationSet, Step
from poker.solvers.continuations.leaf_play import BLUEPRINT, Play, Pure

KIND = "continuation_sets"


def save_sets(
    path: str | Path,
    sets: Sequence[ContinuationSet],
    config: Mapping[str, Any],
    counts: Mapping[str, Any],
    made_from: Mapping[str, str] | None = None,
) -> None:
    """The sets of opponents 0 and 1 of one game; generated strategies are written where they were kept."""
    arrays: dict[str, NDArray[Any]] = {"clusters": sets[0].clusters}
    for found in sets:
        arrays[f"values_{found.opponent}"] = found.values
        for k, play in enumerate(found.strategies):
            if isinstance(play, Pure):
                arrays[f"strategy_{found.opponent}_{k}"] = play.actions
    leaves = [list(leaf) for leaf in sets[0].leaves]
    steps = {str(found.opponent): [asdict(step) for step in found.steps] for found in sets}
    counts = {**counts, "leaves": leaves, "steps": steps}
    write_artifact(path, KIND, config=config, arrays=arrays, counts=counts, made_from=made_from)


@refuses_by_name(KIND)
def load_set(path: str | Path, opponent: int) -> ContinuationSet:
    """The set of one opponent; arrays are memory-mapped."""
    artifact = open_artifact(path, KIND)
    arrays, counts = artifact.arrays, artifact.counts
    values = arrays[f"values_{opponent}"]
    names = [f"strategy_{opponent}_{k}" for k in range(1, values.shape[1])]
    kept: list[Play] = [Pure(arrays[name]) for name in names if name in arrays]
    return ContinuationSet(
        opponent,
        tuple(tuple(leaf) for leaf in counts["leaves"]),
        np.array(arrays["clusters"]),
        values,
        tuple(Step(**step) for step in counts["steps"][str(opponent)]),
        (BLUEPRINT, *kept) if kept else (),
    )
