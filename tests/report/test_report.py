"""Reports: one table in all forms, well-formed and self-contained pages, files that are told."""

import io
import json
from html.parser import HTMLParser
from pathlib import Path

import pytest
from matplotlib.figure import Figure as Drawing

from poker.report import Figure, Report, Section, Table, Text
from poker.report.charts import intervals
from poker.report.estimates import Estimate
from poker.report.report import cell_text
from poker.report.scalars import Scalar
from poker.run.progress import Console
from poker.store.provenance import configured
from tests.report.test_scalars import read_scalars

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


def console() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=100), out


def page(*sections: Section) -> str:
    return Report("a < b", sections, {}).page({"seed": 7, "commit": "abc", "command": "python evaluate.py"}, {})


def test_the_page_fits_a_phone() -> None:
    checker = page(Table(("a", "b"), [("c", "d")]))
    assert '<meta name="viewport" content="width=device-width">' in checker
    assert '<div class="wide"><table>' in checker
    assert "<details><summary>results.json" in checker


def test_one_table_is_written_in_all_forms(tmp_path: Path) -> None:
    order: list[str] = []

    def draw() -> Drawing:
        order.append(f"drawn after {out.getvalue().count('depth_limited')}")
        return intervals("a title", "mbb", {"agents": [("depth_limited", result)]})

    result = Estimate(1234.5, 200.0, 900.0, 81)
    sections: list[Section] = [
        Figure("chart", draw, "Intervals", "of all agents"),
        Table(("agent", "mbb/hand", "why"), [("depth_limited", result, "[b]old")], "Results & more", "95% intervals"),
        Table(("hidden",), [("a row",)], console=False),
        Text("one agent failed", style="red"),
    ]
    screen, out = console()
    with configured({"hands": 3, "out": str(tmp_path / "deep")}, {"runs": str(tmp_path)}):
        scalars: dict[str, Scalar] = {"mbb": [(40, 1000.0), (81, result)], "one": 1.0}
        told_record, files = {"log": tmp_path / "hands" / "x.log"}, {"hands": tmp_path / "hands"}
        record = Report("A match", sections, told_record, scalars, files).write(tmp_path / "a", screen)
    assert order == ["drawn after 1"]
    text = out.getvalue()
    assert "1,234 ± 200" in text
    assert "[b]old" in text
    assert "one agent failed" in text
    assert "a row" not in text
    for what, name in (("results", "results.json"), ("report", "report.html"), ("TensorBoard", ".")):
        assert f"{what}: {tmp_path / 'a' / name}" in text
    assert f"hands: {tmp_path / 'hands'}" in text
    assert json.loads((tmp_path / "a" / "results.json").read_text()) == record
    assert record["log"] == "runs/hands/x.log"
    assert record["configuration"] == {"hands": 3, "out": "runs/deep"}
    html = (tmp_path / "a" / "report.html").read_text()
    assert check(html).count["img"] == 1
    assert '<td>depth_limited</td><td>1,234 ± 200</td><td class="text">[b]old</td>' in html
    assert html.index("Intervals") < html.index("Results &amp; more") < html.index("one agent failed")
    assert str(tmp_path) not in html
    assert (tmp_path / "a" / "chart.png").read_bytes().startswith(b"\x89PNG")
    scalars = {"strength/mbb": [(40, 1000.0), (81, 1234.5)], "uncertainty/mbb": [(81, 200.0)]}
    assert read_scalars(tmp_path / "a") == scalars


def test_text_is_escaped_and_the_record_is_there() -> None:
    text = page(Table(("name", "value"), [("<script>", 1234.5)], "x & y", "a note"), Table(("empty",), []))
    check(text)
    assert "<script>" not in text
    assert "a &lt; b" in text
    assert "x &amp; y" in text
    assert "1,234" in text
    assert "&#34;seed&#34;: 7" in text
    assert "at commit abc" in text
    assert "<pre>python evaluate.py</pre>" in text


def test_cells() -> None:
    assert [cell_text(value) for value in (3, 12345, 0.12345, 123456.0, None, True, "a")] == [
        "3", "12,345", "0.1235", "123,456", "", "True", "a",
    ]  # fmt: skip


def test_words_stand_on_the_left_and_numbers_on_the_right() -> None:
    table = Table(("name", "share", "value", "why"), [(1, "12.5%", 3.0, "asked for"), (2, "-", None, "")])
    assert table.is_text == [True, False, False, True]


@pytest.mark.parametrize("width", [40, 80, 110])
def test_no_number_is_cut_on_a_narrow_console(width: int) -> None:
    """A ring table of [POKI]: names stand where there is little room too."""
    out = io.StringIO()
    results = [Estimate(-0.0123 * place, 0.5, 1.0, 90) for place in range(5)]
    columns = ("agent", "all", *(f"from {style} players" for style in ("loose", "tight", "passive", "aggressive")))
    Table(columns, [("poki_generic", *results), ("poki_net", *results)]).print(Console(file=out, width=width))
    lines = out.getvalue().splitlines()
    for name in ("poki_generic", "poki_net"):
        [line] = [line for line in lines if name in line]
        assert all(str(number) in line for number in results)
    assert len({len(line) for line in lines}) == 1
    if width == 110:
        assert len(lines[0]) <= width
