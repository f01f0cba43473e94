"""Files of lines on a full disk."""

import resource
from pathlib import Path

import pytest

from poker.store.lines import JsonLines


def test_a_write_that_stops_halfway_leaves_the_file_as_before(tmp_path: Path) -> None:
    rows = JsonLines(tmp_path / "rows.jsonl")
    rows.append([1, 2])
    before = rows.path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 10, hard))
    try:
        with pytest.raises(OSError, match="No space left on device"):
            rows.append(["longer than ten bytes"])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert rows.path.read_bytes() == before
