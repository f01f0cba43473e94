"""Small data sets of leaf states whose labels are a known function of the features."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.depth_limit import inputs
from poker.depth_limit.shards import write_shard
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.shards import shard_path

NOISE = 0.05


def truth(features: NDArray[np.float32]) -> NDArray[np.float32]:
    """[n, 34] -> [n, 4]: smooth, bounded, not linear."""
    weights = np.random.default_rng(7).normal(size=(inputs.SIZE, 4)).astype(np.float32) / 6
    return (np.tanh(features @ weights) + 0.3 * np.sin(3 * features[:, :4])).astype(np.float32)


def write_leaf_states(
    root: Path, rows: int, shards: int = 2, groups: int = 400, seed: int = 0, broken: tuple[str, int] | None = None
) -> None:
    """`shards` shards of `rows` rows; the groups of a shard lie together, as a job would write them. `broken` is a
    column and the row of it that is no number."""
    generator = np.random.default_rng(seed)
    for index in range(shards):
        features = generator.random((rows, inputs.SIZE), dtype=np.float32).astype(np.float16)
        noise = generator.normal(scale=NOISE, size=(rows, 4))
        columns: dict[str, NDArray[Any]] = {
            "features": features,
            "labels": truth(features.astype(np.float32)) + noise,
            "label_sem": np.full((rows, 4), NOISE),
            "seat": np.arange(rows) % 2,
            "street": generator.integers(0, 2, rows),
            "group": np.sort(generator.integers(0, groups, rows)),
        }
        if broken is not None:
            columns[broken[0]][broken[1], 0] = np.nan
        write_shard(shard_path(root, index), columns, config={"seed": seed}, continuations=CONTINUATIONS)
