"""Pages of the Python interface build without a warning, and their links lead somewhere."""

import re
from pathlib import Path

import pytest

import pokernets
from tests.api_pages import MODULES, build

pytest.importorskip("pdoc")


def test_pages_build_and_their_links_lead_somewhere(tmp_path: Path) -> None:
    pages = {page: page.read_text() for page in build(tmp_path)}
    assert len(pages) == len(MODULES) + 1
    for page, text in pages.items():
        ids = set(re.findall(r'id="([^"]+)"', text))
        for link in re.findall(r'href="([^":]+)"', text):
            file, _, anchor = link.partition("#")
            target = (page.parent / file).resolve() if file else page
            assert target in pages, f"{page}: {link}"
            assert not anchor or anchor in (ids if target == page else set(re.findall(r'id="([^"]+)"', pages[target])))
    interface = pages[tmp_path / "pokernets.html"]
    assert [name for name in pokernets.__all__ if f'id="{name}"' not in interface] == []
