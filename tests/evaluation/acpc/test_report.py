"""Reports of hands that were played at a dealer or read from a log."""

import json
from pathlib import Path

from rich.console import Console

from poker.evaluation.acpc.report import write_hands_report
from poker.provenance import configured
from tests.games import load_rules
from tests.report.scalars import read_scalars


def test_a_report_has_scalars_and_the_configuration(tmp_path: Path) -> None:
    stem = tmp_path / "leduc" / "a.match"
    with configured({"hands": 3}):
        found = write_hands_report(
            stem,
            "a match",
            load_rules("leduc"),
            {"ann": [500.0, 1000.0, 0.0], "bob": [-500.0, -1000.0, 0.0]},
            {},
            unit="hand",
            console=Console(quiet=True),
        )
    scalars = read_scalars(stem)
    assert scalars["ann/mbb_per_hand"] == [(3, 500.0)]
    assert scalars["bob/mbb_per_hand/half_width_95"][0][1] > 0
    assert found["ann"].mean == 500.0
    record = json.loads((tmp_path / "leduc" / "a.match.json").read_text())
    assert record["configuration"] == {"hands": 3}
    assert "data:image/png" in (tmp_path / "leduc" / "a.match.html").read_text()
