"""Observed decisions of hold'em as rows: the one definition for the job that writes them and for training.

An artifact contains `COLUMNS` of n rows, one row per decision, and `names` [players] as text. Hands are in the order of
time, and decisions in the order of play. So the earlier rows of a hand are the earlier decisions of that hand. A hand's
index, its players' names and its time always stay together.
"""

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.game.cards import NO_CARD, NUM_CARDS
from poker.game.rules import MAX_PLAYERS, STREET_NAMES
from poker.opponents.inputs import limit
from poker.opponents.inputs.no_limit import NUM_SIZES, SPOTS
from poker.run.commands import how_to_replace
from poker.store.artifacts import Artifact, MismatchedArtifactError, open_artifact, refuses_by_name, write_artifact
from poker.store.shards import Column, ColumnTypes, check_columns

KIND = "opponent_actions"
STAMP = {"feature_hash": limit.HASH}
MAX_BOARD = 5
COLUMNS: ColumnTypes = {
    "features": Column(np.float32, (limit.SIZE,)),  # `limit.NAMES`, before the decision; also for preflop rows
    "action": Column(np.uint8, within=(0, 2 + NUM_SIZES)),  # 0 fold, 1 check or call, 2 raise; in no-limit 2 + size
    "street": Column(np.uint8, within=(0, len(STREET_NAMES))),
    "bets": Column(np.uint8, within=(0, 3)),  # 0, 1 or 2 (and more) bets to call
    "player": Column(np.int32),  # row of `names`
    "seat": Column(np.uint8, within=(0, MAX_PLAYERS)),  # position; 0 is the first blind
    "board": Column(np.uint8, (MAX_BOARD,), (0, NUM_CARDS), NO_CARD),  # cards on the table, NO_CARD beyond them
    # index into `poker.opponents.inputs.no_limit.SPOTS`; 0 in limit
    "spot": Column(np.uint16, within=(0, math.prod(SPOTS))),
    "hand": Column(np.int32),  # 0, 1, ... without gaps
    "time": Column(np.int64),  # time of the hand, never decreasing
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
    """Write the rows atomically.

    Args:
        path: folder of the new artifact.
        columns: arrays [n, ...] by the names of `COLUMNS`, in the order of time.
        names: players' names.
        config: settings to store.
        made_from: fingerprints of the sources.
        counts: further counts to store.
        files: further files to store, by name.

    Returns:
        The artifact.

    Raises:
        ValueError: the rows are not in the order of time.
    """
    if not _is_ordered(columns):
        raise ValueError(f"{path}: rows must be in chronological order, because training splits them by time")
    rows = len(columns["action"])
    arrays: dict[str, NDArray[Any]] = {NAMES: np.array(names, dtype=np.str_)}
    for name, column in COLUMNS.items():
        arrays[name] = np.asarray(columns[name], dtype=column.dtype).reshape(rows, *column.shape)
    config, counts = {**config, **STAMP}, {**counts, "rows": rows, "players": len(names)}
    return write_artifact(path, KIND, config=config, arrays=arrays, files=files, made_from=made_from, counts=counts)


@refuses_by_name(KIND)
def open_rows(path: str | Path) -> Artifact:
    """Open the rows at a path, and check that they are complete, unaltered and compatible with the current inputs.

    Args:
        path: folder of the artifact.

    Returns:
        The artifact.

    Raises:
        MismatchedArtifactError: the inputs have changed since, or the hands are not in the order of time.
        CorruptArtifactError: an array is missing or has a wrong shape or value.
    """
    artifact = open_artifact(path, KIND, config=STAMP)
    check_columns(artifact, COLUMNS)
    names = artifact.array(NAMES, (artifact.counts["players"],))
    artifact.array("player", within=(0, len(names)))
    if not _is_ordered(artifact.arrays):
        problem = f"{path}: hands are not in chronological order"
        raise MismatchedArtifactError(problem, how_to_replace(KIND, artifact.path))
    return artifact


def _is_ordered(columns: Mapping[str, NDArray[Any]]) -> bool:
    return bool((np.diff(columns["time"]) >= 0).all())
