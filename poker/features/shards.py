"""Shards of labelled states: the one definition that the job writing them and the training reading them share.

A data set is a directory of artifacts `shard-00000`, `shard-00001`, ...; those of leaf states hold `columns_of` n rows.
The manifest's config records the feature hash and the target, and a reader refuses a shard made with others; and the
names of the continuations. All shards of a data set share these, all other settings but their number (`shard`), and
what they were made from.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.artifacts import (
    Artifact,
    CorruptArtifactError,
    MismatchedArtifactError,
    MissingArtifactError,
    how_to_make,
    how_to_replace,
    open_artifact,
    refuses_by_name,
    write_artifact,
)
from poker.cards import NUM_CARDS
from poker.features import leaf
from poker.features.nolimit import NUM_SIZES, SPOTS
from poker.rules import MAX_PLAYERS, STREET_NAMES

KIND = "leaf_states"

ColumnTypes = Mapping[str, tuple[type[np.generic], tuple[int, ...]]]
"""Column -> (dtype, shape of one row)."""


def columns_of(continuations: int) -> ColumnTypes:
    """The columns of shards with labels for so many continuations."""
    return {
        "features": (np.float16, (leaf.SIZE,)),  # `leaf.NAMES`
        "labels": (np.float16, (continuations,)),  # `leaf.TARGET` of each continuation
        "label_sem": (np.float16, (continuations,)),  # standard errors of the labels, 0 where they are exact
        "seat": (np.uint8, ()),  # `own`, the player whose value it is
        "street": (np.uint8, ()),  # the round that has just ended
        "group": (np.int32, ()),  # such as the canonical board's index: never in training and validation both
    }


NO_CARD = 255
_CARDS = ("board", "held")
_INDEXES = {
    **dict.fromkeys(_CARDS, (0, NUM_CARDS)),
    "seat": (0, MAX_PLAYERS),
    "street": (0, len(STREET_NAMES)),
    "bets": (0, 3),
    "action": (0, 2 + NUM_SIZES),
    "spot": (0, math.prod(SPOTS)),
}
"""ColumnTypes whose values are indexes, with their ranges."""

STAMP = {"feature_hash": leaf.HASH, "target": leaf.TARGET}
"""Part of every shard's config, put there by `write_shard` and demanded by `open_shards`."""


def shard_path(root: str | Path, index: int) -> Path:
    """Path of shard `index` of the data set at `root`."""
    return Path(root) / f"shard-{index:05d}"


def write_shard(
    path: str | Path,
    columns: Mapping[str, NDArray[Any]],
    *,
    config: Mapping[str, Any],
    continuations: Sequence[str],
    **manifest: Any,
) -> Artifact:
    """Write one shard of leaf states atomically. `columns` must be those of `columns_of`."""
    names, wanted = list(continuations), columns_of(len(continuations))
    return write_rows(path, KIND, wanted, columns, config={**config, "continuations": names}, stamp=STAMP, **manifest)


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
    for name, (dtype, shape) in wanted.items():
        if columns[name].shape != (rows, *shape):
            raise ValueError(f"column '{name}' has shape {columns[name].shape}, not {(rows, *shape)}")
        arrays[name] = columns[name].astype(dtype, copy=False)
    counts = {**(counts or {}), "rows": rows}
    return write_artifact(path, kind, config={**config, **stamp}, arrays=arrays, made_from=made_from, counts=counts)


@refuses_by_name(KIND)
def open_shards(root: str | Path, verify: bool = True) -> list[Artifact]:
    """All shards of leaf states at `root`, as `open_all` checks them."""
    return open_all(root, KIND, STAMP, _columns_of, verify)


def _columns_of(shard: Artifact) -> ColumnTypes:
    names = shard.config.get("continuations")
    if not isinstance(names, list):
        problem = f"{shard.path} does not name its continuations"
        raise MismatchedArtifactError(problem, how_to_replace(KIND, shard.path))
    return columns_of(len(names))


def open_all(
    root: str | Path, kind: str, stamp: Mapping[str, Any], columns: Callable[[Artifact], ColumnTypes], verify: bool
) -> list[Artifact]:
    """All shards of the data set at `root`, in order; each complete, unaltered, of today's `stamp` and with its
    `columns`, all of one making."""
    paths = sorted(path for path in Path(root).glob("shard-*") if path.is_dir())
    if not paths:
        raise MissingArtifactError(f"no {kind} at {root} (no shard-* there)", how_to_make(kind, Path(root)))
    shards = [open_artifact(path, kind, config=stamp, verify=verify) for path in paths]
    wanted = _identity(shards[0])
    for shard in shards:
        own, made = columns(shard), _identity(shard)
        for key in {**wanted, **made}:
            if made.get(key) != wanted.get(key):
                raise MismatchedArtifactError(
                    f"{shard.path} was made with {key}={made.get(key)!r}, {shards[0].path} with {wanted.get(key)!r}: "
                    "keep data sets apart"
                )
        check_columns(shard, own, values=verify)
    return shards


def _identity(shard: Artifact) -> dict[str, Any]:
    """Settings and sources in which all shards of a data set agree."""
    config = {key: value for key, value in shard.config.items() if key != "shard"}
    return {**config, **{f"made_from.{role}": source for role, source in shard.made_from.items()}}


def check_columns(shard: Artifact, columns: ColumnTypes, values: bool = True) -> None:
    """Raises CorruptArtifactError unless the arrays are as `columns` say, with as many rows as were counted and, if
    `values` are to be read, nothing in them that is out of range for an index or not finite."""
    rows = shard.counts["rows"]
    if not isinstance(rows, int):
        raise CorruptArtifactError(f"{shard.path} counts no rows", how_to_replace(shard.kind, shard.path))
    for name, (dtype, shape) in columns.items():
        within = _INDEXES.get(name) if values else None
        values_read = shard.array(
            name, (rows, *shape), dtypes=(dtype,), within=within, or_value=NO_CARD if name in _CARDS else None
        )
        if values and issubclass(dtype, np.floating):
            _check_finite(shard, name, values_read)


def _check_finite(shard: Artifact, name: str, column: NDArray[Any]) -> None:
    rows = np.flatnonzero(~np.isfinite(column).reshape(len(column), -1).all(axis=1))
    if len(rows):
        others = f" and {len(rows) - 1:,} rows after it" if len(rows) > 1 else ""
        raise CorruptArtifactError(
            f"{shard.path}: row {rows[0]}{others} of '{name}' is not finite", how_to_replace(shard.kind, shard.path)
        )
