"""The evidence in docs/results is what its JSON says, its commits are of this repository, and papers.md quotes it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.evidence.tables import RESULTS, bundle, commits, played, rendered, table
from tests.killed import ROOT

PAGES = sorted(RESULTS.rglob("README.md"))
SINCE = "2026-11-27T03"
"""Time from which on every record holds the fingerprints of what played."""


@pytest.fixture
def history() -> list[str]:
    """All commits of the repository."""
    log = _git("log", "--format=%H")
    if log.returncode or _git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
        pytest.skip("no history of the repository here")
    return log.stdout.split()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.parent.name)
def test_tables_equal_the_json(page: Path) -> None:
    assert page.read_text() == rendered(page), "python -m tests.evidence.tables renders them anew"


def test_table(tmp_path: Path) -> None:
    won = {"mean": 12.3, "interval_95": [10.0, 14.6]}
    rows = [{"who": "alpha", "won": won, "n": 1200}, {"who": "beta", "won": won, "n": 3}]
    (tmp_path / "a.json").write_text(json.dumps({"list": rows, "map": {"x": {"v": 0.25}}}))
    spec = 'rows = ["a.json:list"]\nwhere.who = ["alpha"]\n[columns]\nwho = "who"\nwon = "won | estimate"\nn = "n"\n'
    assert table(tmp_path, spec) == "| who | won | n |\n| --- | ---: | ---: |\n| alpha | 12.3 ± 2.3 | 1,200 |\n"
    spec = 'rows = ["a.json:map"]\n[columns]\nkey = "@"\nshare = "v | percent"\nnone = "w"\n'
    assert table(tmp_path, spec).splitlines()[2] == "| x | 25.0% |  |"


def test_every_page_names_the_agents_that_it_measured(tmp_path: Path) -> None:
    """In a rendered sentence, which a new bundle changes: pages that are not of it say so before the tests pass."""
    assert all(page.read_text().count("\n<!-- played -->\nMeasured with ") == 1 for page in PAGES)
    packed = min(bundle())
    (tmp_path / "a.json").write_text(json.dumps({"commit": "0" * 40, "artifacts": {"artifacts/leaf_net": packed}}))
    lost = {"commit": "1" * 40, "hands_by_commit": {"2" * 40: 3}, "note": "22222222 does not resolve"}
    (tmp_path / "b.json").write_text(json.dumps(lost))
    (tmp_path / "c.json").write_text(json.dumps({"commit": None, "artifacts": {"leaf_net": "f" * 64}}))
    (tmp_path / "d.json").write_text(json.dumps({"artifacts": {}}))
    assert played(tmp_path).splitlines() == [
        "Measured with no artifacts: d.json (no commit).",
        "Measured with other artifacts (leaf_net `ffffffff`): c.json (no commit).",
        "Measured with the bundle laptop.bundle: a.json (`00000000`).",
        "Measured with unrecorded artifacts: b.json (`11111111`, `22222222` (rewritten)).",
    ]


def test_records_have_fingerprints_of_the_artifacts() -> None:
    for file in sorted(RESULTS.rglob("*.json")):
        record = json.loads(file.read_text())
        if isinstance(record, dict) and record.get("time", "") >= SINCE:
            assert "artifacts" in record, f"{file}: a record of today names the artifacts that played, {{}} for none"


def test_every_claim_has_its_command_and_is_in_the_index() -> None:
    index = (ROOT / "docs" / "results.md").read_text()
    for page in PAGES:
        assert "## Reproduce" in page.read_text(), page
        assert f"(results/{page.parent.name}/README.md)" in index, page


@pytest.mark.usefixtures("history")
def test_scripts_of_tests_exist_or_stand_beside_their_commit() -> None:
    """Each `python -m tests...` of a page is a file, or one of a commit that the same paragraph names."""
    for page in (ROOT / "docs").rglob("*.md"):
        for paragraph in page.read_text().split("\n\n"):
            for name in re.findall(r"python\s+-m\s+(tests[.\w]+)", paragraph):
                files = [name.replace(".", "/") + end for end in (".py", "/__main__.py")]
                places = [f"{commit}:{file}" for commit in re.findall(r"\b[0-9a-f]{8}\b", paragraph) for file in files]
                assert any((ROOT / file).exists() for file in files) or any(
                    _git("cat-file", "-e", place).returncode == 0 for place in places
                ), f"{page}: {name}"


def _git(*command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["git", *command], cwd=ROOT, capture_output=True, text=True, check=False)


def test_commits_resolve(history: list[str]) -> None:
    for file in sorted(RESULTS.rglob("*.json")):
        record = json.loads(file.read_text())
        lost = [commit for commit in commits(record) if not any(each.startswith(commit) for each in history)]
        noted = record.get("note", "") if isinstance(record, dict) else ""
        assert all(commit[:8] in noted for commit in lost), f"{file}: its note does not say that {lost} do not resolve"


DOCS = ROOT / "docs"
ROWS = [
    line.strip("| ").split(" | ") for line in (DOCS / "papers.md").read_text().splitlines() if line.startswith("| ")
]
_NO_FIGURE = re.compile(r"\]\([^)]*\)|`[^`]*`|Baby Tartanian8|[Ff]igure 2\b")
_FIGURE = re.compile(r"\d(?:[\d,.]*\d)?(?:e-\d+)?")


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_figures_stand_on_the_linked_pages(row: list[str]) -> None:
    assert len(row) == 5
    pages = {DOCS / page for cell in row for page in re.findall(r"\((results/[^)]+)\)", cell)}
    linked = {figure for page in pages for figure in _FIGURE.findall(page.read_text())}
    assert set(_FIGURE.findall(_NO_FIGURE.sub("", " ".join(row[-2:])))) <= linked
