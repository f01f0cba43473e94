"""README is short, what it shows runs, and its links and those of the pages lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.killed import ROOT

README = (ROOT / "README.md").read_text()
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def test_it_is_short_and_begins_with_a_picture_and_commands() -> None:
    assert len(README.splitlines()) <= 100
    first = README.partition("## Why")[0]
    assert [text in first for text in ("docs/table.png", "make play", "pipx install 'pokernets[play]'")] == [True] * 3


def test_python_runs_as_written(capsys: pytest.CaptureFixture[str]) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    exec(compile(code, "README.md", "exec"), {})
    actions, folds = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"worth 43\.\d\d of 60 chips, exploitable for 0\.1\d", actions)
    assert re.fullmatch(r"with 2d2c the big blind folds \d+%", folds)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text())
    missing = [target for target in targets if not (page.parent / target).exists()]
    assert not missing
