from pathlib import Path

import numpy as np
import pytest

from poker.features.action_rows import COLUMNS, write_rows


def test_rows_out_of_the_order_of_time_are_refused(tmp_path: Path) -> None:
    columns = {name: np.zeros((3, *shape), dtype) for name, (dtype, shape) in COLUMNS.items()}
    columns["time"][:] = 5, 7, 6
    with pytest.raises(ValueError, match="in the order of time"):
        write_rows(tmp_path / "rows", columns, ["ann"], config={}, made_from={}, counts={})
    assert not list(tmp_path.iterdir())
