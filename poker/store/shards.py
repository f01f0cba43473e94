"""Shards of labelled rows: the one form that the jobs writing them and the training reading them share.

A data set is a directory of artifacts `shard-00000`, `shard-00001`, ... The manifest's config holds a stamp with
the hash of the features and the target, and a reader refuses a shard of another. All shards of a data set share their
settings but the number (`shard`), and what they were made from.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.run.commands import how_to_replace
from poker.store.artifacts import (
    Artifact,
    CorruptArtifactError,
    fingerprint_of,
)


class Column(NamedTuple):
    """A column of rows. Indexes are `within` (low, high), low <= index < high, or `missing`."""

    dtype: type[np.generic]
    shape: tuple[int, ...] = ()
    within: tuple[int, int] | None = None
    missing: int | None = None


ColumnTypes = Mapping[str, Column]


def hash_of(names: tuple[str, ...], version: int) -> str:
    """Sixteen hex digits that change with any name, their order, or the version of the definitions."""
    return fingerprint_of({"names": names, "version": version})[:16]


def shard_path(root: str | Path, index: int) -> Path:
    """Path of shard `index` of the data set at `root`."""
    return Path(root) / f"shard-{index:05d}"


def check_columns(shard: Artifact, columns: ColumnTypes) -> None:
    """Raise CorruptArtifactError unless the arrays are as `columns` say, with as many rows as were counted and nothing
    in them that is out of range for an index or not finite."""
    rows = shard.counts["rows"]
    if not isinstance(rows, int):
        raise CorruptArtifactError(f"{shard.path} counts no rows", how_to_replace(shard.kind, shard.path))
    for name, (dtype, shape, within, missing) in columns.items():
        array = shard.array(name, (rows, *shape), dtypes=(dtype,), within=within, or_value=missing)
        if issubclass(dtype, np.floating):
            _check_finite(shard, name, array)


def _check_finite(shard: Artifact, name: str, column: NDArray[Any]) -> None:
    rows = np.flatnonzero(~np.isfinite(column).reshape(len(column), -1).all(axis=1))
    if len(rows):
        others = f" and {len(rows) - 1:,} rows after it" if len(rows) > 1 else ""
        raise CorruptArtifactError(
            f"{shard.path}: row {rows[0]}{others} of '{name}' is not finite", how_to_replace(shard.kind, shard.path)
        )
