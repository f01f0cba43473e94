"""docs/papers.md: each figure of ours stands on a page of docs/results that its row links."""

import re

import pytest

from tests.killed import ROOT

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
