"""Provenance in records, without paths of this machine."""

import json
from pathlib import Path

import pytest

from poker.provenance import configured, portable, provenance

RESULTS = Path(__file__).parents[1] / "docs" / "results"


def test_the_configuration_is_told_only_while_it_is_used() -> None:
    assert {"time", "commit", "machine", "versions"} == set(provenance())
    with configured({"hands": 3, "menu": {"flop": ["a"]}}):
        found = json.loads(json.dumps(provenance()))
        with configured({"hands": 4}):
            assert provenance()["configuration"] == {"hands": 4}
    assert found["configuration"] == {"hands": 3, "menu": {"flop": ["a"]}}
    assert found["command"].startswith("python ")
    assert "configuration" not in provenance()


def test_no_path_of_this_machine_is_told() -> None:
    with configured({"path": "/data/irc/a.tgz"}, {"runs": "/tmp/mine", "artifacts": "made"}):
        assert provenance()["configuration"] == {"path": "a.tgz"}
        told = portable(
            {
                "log": Path("/tmp/mine/match/x.log"),
                "command": "python evaluate.py runs=/tmp/mine path=/data/irc/a.tgz nodes=[/x/y,/x/z]",
                "error": f'File "{Path("made").absolute() / "net"}", line 3',
                "here": [str(Path("docs/x").absolute()), "docs/x", "mbb/hand", "https://a.org/b/c", "r300c/cr600/"],
                "hands": 3,
            }
        )
    assert told == {
        "log": "runs/match/x.log",
        "command": "python evaluate.py runs=runs path=a.tgz nodes=[y,z]",
        "error": 'File "artifacts/net", line 3',
        "here": ["docs/x", "docs/x", "mbb/hand", "https://a.org/b/c", "r300c/cr600/"],
        "hands": 3,
    }


@pytest.mark.parametrize("file", sorted(RESULTS.rglob("*.json")), ids=lambda file: f"{file.parent.name}-{file.stem}")
def test_no_result_of_ours_tells_a_path_of_a_machine(file: Path) -> None:
    lines = file.read_text().splitlines()
    assert [portable(line) for line in lines] == lines
