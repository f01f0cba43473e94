"""Reports: well-formed, self-contained, with the figures of the result in them."""

import re
from html.parser import HTMLParser

import numpy as np

from poker.cards import PREFLOP_CLASS, hand_index
from poker.evaluation.pages.html import Page, cell_text, range_picture
from poker.report.estimates import Estimate
from poker.rules import RANK_CHARS

VOID = {"meta", "img"}


class Checker(HTMLParser):
    """Fails on tags that do not match; collects what a browser would load."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.loaded: list[str] = []
        self.count: dict[str, int] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.count[tag] = self.count.get(tag, 0) + 1

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def check(text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    assert not checker.open
    assert all(source.startswith("data:image/png;base64,") for source in checker.loaded)
    return checker


def test_text_is_escaped_and_the_record_is_there() -> None:
    page = Page("a < b")
    page.heading("x & y", "note")
    page.table(("name", "value"), [("<script>", 1234.5), ("mean", Estimate(-12.34, 5.0, 9.0, 4))])
    page.record({"seed": 7, "commit": "abc", "command": "python evaluate.py evaluate=match"})
    text = page.text()
    check(text)
    assert "<script>" not in text
    assert "a &lt; b" in text
    assert "1,234" in text
    assert "-12.3 ± 5.0" in text
    assert "&quot;seed&quot;: 7" in text
    assert "at commit abc" in text
    assert "<pre>python evaluate.py evaluate=match</pre>" in text


def test_cells() -> None:
    assert [cell_text(value) for value in (3, 12345, 0.12345, 123456.0, None, True)] == [
        "3", "12,345", "0.1235", "123,456", "", "True",
    ]  # fmt: skip


def test_range_picture_places_hands() -> None:
    shares = np.zeros((169, 3))
    aces, suited, offsuit = (PREFLOP_CLASS[hand_index(*cards)] for cards in ((51, 50), (51, 47), (51, 46)))
    shares[aces], shares[suited], shares[offsuit] = (0, 0, 1), (0.5, 0.5, 0), (1, 0, 0)
    picture = range_picture(shares)
    rects = re.findall(r'<rect x="([\d.]+)" y="(\d+)" width="([\d.]+)"[^>]*fill="(#\w+)"', picture)
    assert sorted(rects) == [
        ("0.0", "0", "24.0", "#d9705f"),
        ("0.0", "24", "24.0", "#6b9bd1"),  # AKo, below the diagonal
        ("24.0", "0", "12.0", "#6b9bd1"),  # AKs, above it
        ("36.0", "0", "12.0", "#7cb97c"),
    ]
    assert picture.count("<text") == 169
    assert all(f">{rank}{rank}<" in picture for rank in RANK_CHARS)
