"""Rows are in chronological order, when they are written and when they are read."""

from pathlib import Path

import numpy as np
import pytest

from poker.opponents.inputs.rows import COLUMNS, KIND, NAMES, STAMP, open_rows, write_rows
from poker.store.artifacts import MismatchedArtifactError, write_artifact


def test_rows_out_of_the_order_of_time_are_refused(tmp_path: Path) -> None:
    columns = {name: np.zeros((3, *shape), dtype) for name, (dtype, shape, *_) in COLUMNS.items()}
    columns["time"][:] = 5, 7, 6
    with pytest.raises(ValueError, match="in chronological order"):
        write_rows(tmp_path / "rows", columns, ["ann"], config={}, made_from={}, counts={})
    assert not list(tmp_path.iterdir())
    arrays = {**columns, NAMES: np.array(["ann"])}  # as they were once written
    write_artifact(tmp_path / "rows", KIND, config=STAMP, arrays=arrays, made_from={}, counts={"rows": 3, "players": 1})
    with pytest.raises(MismatchedArtifactError, match="not in chronological order"):
        open_rows(tmp_path / "rows")
