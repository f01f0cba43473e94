"""Shards of labelled rows: the one form that the jobs writing them and the training reading them share.

A data set is a directory of artifacts `shard-00000`, `shard-00001`, ... The manifest's config holds a stamp with
the hash of the features and the target, and a reader refuses a shard of another. All shards of a data set share their
settings but the number (`shard`), and what they were made from.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.run.commands import how_to_make, how_to_replace
from poker.store.artifacts import (
    Artifact,
    CorruptArtifactError,
    MismatchedArtifactError,
    MissingArtifactError,
    fingerprint_of,
    open_artifact,
    write_artifact,
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


def write_rows(
    path: str | Path,
    kind: str,
    wanted: ColumnTypes,
    columns: Mapping[str, NDArray[Any]],
    *,
    config: Mapping[str, Any],
    stamp: Mapping[str, Any],
    made_from: Mapping[str, str] | None = None,
    counts: Mapping[str, Any] | None = None,
) -> Artifact:
    """Write one shard of a `kind` atomically; `columns` must be the `wanted` ones, wider floats are rounded."""
    if set(columns) != set(wanted):
        raise ValueError(f"a shard has the columns {sorted(wanted)}, not {sorted(columns)}")
    rows = len(columns["group"])
    arrays: dict[str, NDArray[Any]] = {}
    for name, column in wanted.items():
        if columns[name].shape != (rows, *column.shape):
            raise ValueError(f"column '{name}' has shape {columns[name].shape}, not {(rows, *column.shape)}")
        arrays[name] = columns[name].astype(column.dtype, copy=False)
    counts = {**(counts or {}), "rows": rows}
    return write_artifact(path, kind, config={**config, **stamp}, arrays=arrays, made_from=made_from, counts=counts)


def open_all(
    root: str | Path, kind: str, stamp: Mapping[str, Any], columns: Callable[[Artifact], ColumnTypes]
) -> list[Artifact]:
    """All shards of the data set at `root`, in order; each complete, unaltered, of today's `stamp` and with its
    `columns`, all of one making."""
    paths = sorted(path for path in Path(root).glob("shard-*") if path.is_dir())
    if not paths:
        raise MissingArtifactError(f"no {kind} at {root} (no shard-* there)", how_to_make(kind, Path(root)))
    shards = [open_artifact(path, kind, config=stamp) for path in paths]
    wanted = _identity(shards[0])
    for shard in shards:
        own, made = columns(shard), _identity(shard)
        for key in {**wanted, **made}:
            if made.get(key) != wanted.get(key):
                raise MismatchedArtifactError(
                    f"{shard.path} was made with {key}={made.get(key)!r}, {shards[0].path} with {wanted.get(key)!r}: "
                    "keep data sets apart"
                )
        check_columns(shard, own)
    return shards


def _identity(shard: Artifact) -> dict[str, Any]:
    """Settings and sources in which all shards of a data set agree."""
    config = {key: value for key, value in shard.config.items() if key != "shard"}
    return {**config, **{f"made_from.{role}": source for role, source in shard.made_from.items()}}


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
