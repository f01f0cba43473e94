"""Shards of leaf states: a row is a pair of hands at a state where a betting round is over, with its values.

The config names the continuations besides the stamp; `columns_of` says which columns there are.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.depth_limit import inputs
from poker.game.rules import MAX_PLAYERS, STREET_NAMES
from poker.run.commands import how_to_replace
from poker.store.artifacts import Artifact, MismatchedArtifactError, refuses_by_name
from poker.store.shards import Column, ColumnTypes, open_all, write_rows

KIND = "leaf_states"
STAMP = {"feature_hash": inputs.HASH, "target": inputs.TARGET}
"""Part of every shard's config, put there by `write_shard` and demanded by `open_shards`."""


def columns_of(continuations: int) -> ColumnTypes:
    """The columns of shards with labels for so many continuations."""
    return {
        "features": Column(np.float16, (inputs.SIZE,)),  # `inputs.NAMES`
        "labels": Column(np.float16, (continuations,)),  # `inputs.TARGET` of each continuation
        "label_sem": Column(np.float16, (continuations,)),  # standard errors of the labels, 0 where they are exact
        "seat": Column(np.uint8, within=(0, MAX_PLAYERS)),  # `own`, the player whose value it is
        "street": Column(np.uint8, within=(0, len(STREET_NAMES))),  # the round that has just ended
        "group": Column(np.int32),  # such as the canonical board's index: never in training and validation both
    }


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


@refuses_by_name(KIND)
def open_shards(root: str | Path) -> list[Artifact]:
    """All shards of leaf states at `root`, as `open_all` checks them."""
    return open_all(root, KIND, STAMP, _columns_of)


def _columns_of(shard: Artifact) -> ColumnTypes:
    names = shard.config.get("continuations")
    if not isinstance(names, list):
        problem = f"{shard.path} does not name its continuations"
        raise MismatchedArtifactError(problem, how_to_replace(KIND, shard.path))
    return columns_of(len(names))
