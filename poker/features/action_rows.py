"""Observed decisions of hold'em as rows: the one definition that the job writing them and the training share.

An artifact holds `COLUMNS` of n rows, one row a decision in turn, hands in the order of time and decisions in the order
of play, so that what happened in a hand before a row are the rows of that hand before it; and `names` [players], text.
A hand's index, its players' names and its time never part.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.artifacts import (
    Artifact,
    MismatchedArtifactError,
    how_to_replace,
    open_artifact,
    refuses_by_name,
    write_artifact,
)
from poker.features import opponent
from poker.features.shards import ColumnTypes, check_columns

KIND = "opponent_actions"
STAMP = {"feature_hash": opponent.HASH}
MAX_BOARD = 5
COLUMNS: ColumnTypes = {
    "features": (np.float32, (opponent.SIZE,)),  # `opponent.NAMES`, before the decision; also for preflop rows
    "action": (np.uint8, ()),  # 0 fold, 1 check or call, 2 bet or raise; in no-limit 2 + its size class
    "street": (np.uint8, ()),
    "bets": (np.uint8, ()),  # 0, 1 or 2 (and more) bets to call
    "player": (np.int32, ()),  # row of `names`
    "seat": (np.uint8, ()),  # position, 0 the first blind
    "board": (np.uint8, (MAX_BOARD,)),  # cards on the table, NO_CARD beyond them
    "held": (np.uint8, (2,)),  # the player's cards, NO_CARD where they are not known
    "spot": (np.uint16, ()),  # of `poker.features.nolimit.SPOTS`; 0 in limit
    "hand": (np.int32, ()),  # 0, 1, ... without gaps
    "time": (np.int64, ()),  # of the hand, never falling
}
NAMES = "names"


def write_rows(
    path: str | Path,
    columns: Mapping[str, NDArray[Any]],
    names: list[str],
    *,
    config: Mapping[str, Any],
    made_from: Mapping[str, str],
    counts: Mapping[str, Any],
    files: Mapping[str, bytes] | None = None,
) -> Artifact:
    """Write the rows atomically; `columns` must be exactly those of `COLUMNS`, in the order of time."""
    if not _is_ordered(columns):
        raise ValueError(f"{path}: rows must be in the order of time, for what learns from them splits them by it")
    rows = len(columns["action"])
    arrays: dict[str, NDArray[Any]] = {NAMES: np.array(names, dtype=np.str_)}
    for name, (dtype, shape) in COLUMNS.items():
        arrays[name] = np.asarray(columns[name], dtype=dtype).reshape(rows, *shape)
    config, counts = {**config, **STAMP}, {**counts, "rows": rows, "players": len(names)}
    return write_artifact(path, KIND, config=config, arrays=arrays, files=files, made_from=made_from, counts=counts)


@refuses_by_name(KIND)
def open_rows(path: str | Path) -> Artifact:
    """The rows at `path`, complete, unaltered, of today's inputs and in the order of time."""
    artifact = open_artifact(path, KIND, config=STAMP)
    check_columns(artifact, COLUMNS)
    names = artifact.array(NAMES, (artifact.counts["players"],))
    artifact.array("player", within=(0, len(names)))
    if not _is_ordered(artifact.arrays):
        raise MismatchedArtifactError(
            f"{path}: hands are not in the order of time, as those of several months once were",
            how_to_replace(KIND, artifact.path),
        )
    return artifact


def _is_ordered(columns: Mapping[str, NDArray[Any]]) -> bool:
    return bool((np.diff(columns["time"]) >= 0).all())
