"""The evidence in docs/results is what its JSON says, and every commit that it names is one of this repository."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.evidence.tables import RESULTS, rendered, table
from tests.killed import ROOT

PAGES = sorted(RESULTS.rglob("README.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_tables_are_those_of_the_json(page: Path) -> None:
    assert page.read_text() == rendered(page), "python -m tests.evidence.tables renders them anew"


def test_table(tmp_path: Path) -> None:
    won = {"mean": 12.3, "interval_95": [10.0, 14.6]}
    rows = [{"who": "alpha", "won": won, "n": 1200}, {"who": "beta", "won": won, "n": 3}]
    (tmp_path / "a.json").write_text(json.dumps({"list": rows, "map": {"x": {"v": 0.25}}}))
    spec = 'rows = ["a.json:list"]\nwhere.who = ["alpha"]\n[columns]\nwho = "who"\nwon = "won | estimate"\nn = "n"\n'
    assert table(tmp_path, spec) == "| who | won | n |\n| --- | ---: | ---: |\n| alpha | 12.3 ± 2.3 | 1,200 |\n"
    spec = 'rows = ["a.json:map"]\n[columns]\nkey = "@"\nshare = "v | percent"\nnone = "w"\n'
    assert table(tmp_path, spec).splitlines()[2] == "| x | 25.0% |  |"


def test_every_claim_has_its_command_and_is_in_the_index() -> None:
    index = (ROOT / "docs" / "results.md").read_text()
    for page in PAGES:
        assert "## Again" in page.read_text(), page
        assert f"(results/{page.parent.name}/README.md)" in index, page


def test_commits_resolve() -> None:
    log = subprocess.run(["git", "log", "--format=%H"], cwd=ROOT, capture_output=True, text=True, check=False)
    shallow = subprocess.run(
        ["git", "rev-parse", "--is-shallow-repository"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if log.returncode or shallow.stdout.strip() != "false":
        pytest.skip("no history of the repository here")
    history = log.stdout.split()
    for file in sorted(RESULTS.rglob("*.json")):
        record = json.loads(file.read_text())
        lost = [commit for commit in _commits(record) if not any(each.startswith(commit) for each in history)]
        noted = record.get("note", "") if isinstance(record, dict) else ""
        assert all(commit[:8] in noted for commit in lost), f"{file}: its note does not say that {lost} do not resolve"


def _commits(node: Any) -> Iterator[str]:
    """Every commit in a record, which may be that of hands played."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key in ("commit", "hands_by_commit"):
            yield from (commit.rstrip("+") for commit in ([value] if isinstance(value, str) else value))
        else:
            yield from _commits(value)
