"""Shards of leaf states: a row is a pair of hands at a state where a betting round is over, with its values.

The config lists the continuations besides the `STAMP`; `columns_of` lists the columns.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.depth_limit import inputs
from poker.game.rules import MAX_PLAYERS, STREET_NAMES
from poker.run.commands import how_to_make, how_to_replace
from poker.store.artifacts import (
    Artifact,
    MismatchedArtifactError,
    MissingArtifactError,
    open_artifact,
    refuses_by_name,
    write_artifact,
)
from poker.store.shards import Column, ColumnTypes, check_columns

KIND = "leaf_states"
STAMP = {"feature_hash": inputs.HASH, "target": inputs.TARGET}
"""Part of every shard's config: `write_shard` adds it and `open_shards` requires it."""


def columns_of(continuations: int) -> ColumnTypes:
    """Return the columns of a shard.

    Args:
        continuations: number of continuations K, which is the number of labels per row.
    """
    return {
        "features": Column(np.float16, (inputs.SIZE,)),  # `inputs.NAMES`
        "labels": Column(np.float16, (continuations,)),  # `inputs.TARGET` of each continuation
        "label_sem": Column(np.float16, (continuations,)),  # standard errors of the labels, 0 where they are exact
        "seat": Column(np.uint8, within=(0, MAX_PLAYERS)),  # `own`, the player whose value is predicted
        "street": Column(np.uint8, within=(0, len(STREET_NAMES))),  # the round that has just ended
        "group": Column(np.int32),  # such as the canonical board's index: never in training and validation both
    }


def write_shard(
    path: str | Path,
    columns: Mapping[str, NDArray[Any]],
    *,
    config: Mapping[str, Any],
    continuations: Sequence[str],
    made_from: Mapping[str, str] | None = None,
    counts: Mapping[str, Any] | None = None,
) -> Artifact:
    """Write one shard of leaf states atomically.

    Args:
        path: directory of the shard.
        columns: arrays [rows, ...] by the names of `columns_of`; wider floats are rounded.
        config: settings that produced the rows.
        continuations: names of the K continuations.
        made_from: fingerprints of the artifacts that were used.
        counts: additional counts for the manifest.

    Raises:
        ValueError: a column is missing, unknown or has the wrong shape.
    """
    types = columns_of(len(continuations))
    if set(columns) != set(types):
        raise ValueError(f"a shard has the columns {sorted(types)}, not {sorted(columns)}")
    rows = len(columns["group"])
    arrays: dict[str, NDArray[Any]] = {}
    for name, column in types.items():
        if columns[name].shape != (rows, *column.shape):
            raise ValueError(f"column '{name}' has shape {columns[name].shape}, not {(rows, *column.shape)}")
        arrays[name] = columns[name].astype(column.dtype, copy=False)
    config, counts = {**config, "continuations": list(continuations), **STAMP}, {**(counts or {}), "rows": rows}
    return write_artifact(path, KIND, config=config, arrays=arrays, made_from=made_from, counts=counts)


@refuses_by_name(KIND)
def open_shards(root: str | Path) -> list[Artifact]:
    """Open all shards of leaf states in a directory, in order.

    Args:
        root: the directory.

    Raises:
        MissingArtifactError: there is no shard.
        MismatchedArtifactError: shards are incomplete or were made with different settings.
        ArtifactError: a shard is damaged or has other columns.
    """
    paths = sorted(path for path in Path(root).glob("shard-*") if path.is_dir())
    if not paths:
        raise MissingArtifactError(f"no {KIND} at {root} (no shard-* there)", how_to_make(KIND, Path(root)))
    shards = [open_artifact(path, KIND, config=STAMP) for path in paths]
    first = _identity(shards[0])
    for shard in shards:
        names, identity = shard.config.get("continuations"), _identity(shard)
        if not isinstance(names, list):
            problem = f"{shard.path} does not name its continuations"
            raise MismatchedArtifactError(problem, how_to_replace(KIND, shard.path))
        for key in {**first, **identity}:
            if identity.get(key) != first.get(key):
                raise MismatchedArtifactError(
                    f"{shard.path} was made with {key}={identity.get(key)!r}, {shards[0].path} with"
                    f" {first.get(key)!r}: store data sets in separate folders"
                )
        check_columns(shard, columns_of(len(names)))
    return shards


def _identity(shard: Artifact) -> dict[str, Any]:
    """Return the settings and sources that all shards of a data set must share."""
    config = {key: value for key, value in shard.config.items() if key != "shard"}
    return {**config, **{f"made_from.{role}": source for role, source in shard.made_from.items()}}
