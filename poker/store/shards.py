"""Shards of labelled rows, the format that data jobs write and training reads.

A data set is a directory of artifacts `shard-00000`, `shard-00001`, ... The configuration in each manifest has a hash
of the feature and target definitions, and a reader refuses a shard with another hash. All shards of a data set share
their sources and all settings except the number `shard`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.run.commands import how_to_replace
from poker.store.artifacts import Artifact, CorruptArtifactError, fingerprint_of


class Column(NamedTuple):
    """Type and range of a column of rows.

    Attributes:
        dtype: type of the values.
        shape: shape of one row's value.
        within: (low, high) if the values are indexes, low <= index < high.
        missing: an index outside `within` that stands for a missing value; None if there is none.
    """

    dtype: type[np.generic]
    shape: tuple[int, ...] = ()
    within: tuple[int, int] | None = None
    missing: int | None = None


ColumnTypes = Mapping[str, Column]


def hash_of(names: tuple[str, ...], version: int) -> str:
    """Return 16 hex digits that change with the names, their order and the version of the definitions."""
    return fingerprint_of({"names": names, "version": version})[:16]


def shard_path(root: str | Path, index: int) -> Path:
    """Return the path of shard `index` of the data set at `root`."""
    return Path(root) / f"shard-{index:05d}"


def check_columns(shard: Artifact, columns: ColumnTypes) -> None:
    """Check the types, shapes and values of a shard's arrays.

    Args:
        shard: an open shard.
        columns: the expected columns; each array must be [rows, ...] with `Column.shape`.

    Raises:
        CorruptArtifactError: an array has another type or number of rows, an index out of range, or a value that is not
            finite.
    """
    rows = shard.counts["rows"]
    if not isinstance(rows, int):
        raise CorruptArtifactError(f"{shard.path} has no number of rows", how_to_replace(shard.kind, shard.path))
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
