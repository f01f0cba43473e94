"""A report: sections, scalars and one record, written once in all forms.

The console has the result first: figures are drawn after that, and matplotlib, Jinja and TensorBoard are imported then.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from rich.cells import cell_len
from rich.markup import escape
from rich.table import Table as ConsoleTable

from poker.report.charts import png
from poker.report.estimates import number_text
from poker.report.scalars import Scalar, write_scalars
from poker.run.atomic import write_atomically
from poker.run.progress import Console
from poker.store.provenance import portable, provenance

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Chart
    from PIL.Image import Image


_NARROWEST = 16
"""Characters that a column of words keeps on a console where there is no room for all."""
_WORD = re.compile("[a-zA-Z]")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of cells: texts, numbers and estimates, None for an empty one. `console`: the page has it in any case."""

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    heading: str = ""
    note: str = ""
    console: bool = True

    @property
    def cells(self) -> list[list[str]]:
        return [[cell_text(cell) for cell in row] for row in self.rows]

    @property
    def is_text(self) -> list[bool]:
        """Whether each column holds words, which stand on the left. The first always counts as such."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [
            place == 0 or any(isinstance(cell, str) and _WORD.search(cell) for cell in column)
            for place, column in enumerate(columns)
        ]

    def print(self, console: Console) -> None:
        """Print the table. Numbers are never cut: where there is little room, headings and words are folded, and a
        table that needs more than the console has is printed as wide as it is."""
        cells, is_text = self.cells, self.is_text
        longest = [max(map(cell_len, column)) for column in zip(self.columns, *cells, strict=True)]
        narrowest = [
            min(_NARROWEST, most)
            if text
            else max(cell_len(word) for word in (*name.split(), *(row[place] for row in cells), ""))
            for place, (name, most, text) in enumerate(zip(self.columns, longest, is_text, strict=True))
        ]
        edges = 3 * len(longest) + 1
        fits, needed = sum(longest) + edges <= console.width, sum(narrowest) + edges
        width = needed if needed > console.width else None
        table = ConsoleTable(title=escape(self.heading) or None, title_justify="left", width=width)
        for name, most, least, text in zip(self.columns, longest, narrowest, is_text, strict=True):
            justify: Literal["left", "right"] = "left" if text else "right"
            fixed = None if text else most if fits else least
            table.add_column(escape(name), justify=justify, width=fixed, min_width=least, overflow="fold")
        for row in cells:
            table.add_row(*map(escape, row))
        console.print(table, crop=False)
        if self.note:
            console.print(escape(self.note), style="dim", highlight=False, soft_wrap=True)


@dataclass(frozen=True, eq=False)
class Text:
    """A paragraph; `style` is one of the console's, such as `red`."""

    text: str
    heading: str = ""
    style: str = ""
    console: bool = True

    def print(self, console: Console) -> None:
        console.print(escape(self.text), style=self.style or None, soft_wrap=True, highlight=False)


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture, drawn when the report is written: `<name>.png` beside it, and on the page."""

    name: str
    draw: "Callable[[], Chart | Image]"
    heading: str = ""
    note: str = ""


Section = Table | Text | Figure


@dataclass(frozen=True, eq=False)
class Report:
    """Results of a run. `files` are further files that it wrote, listed with the report's own; `command` reproduces the
    run where that is not the command that started this process, and is shown unchanged."""

    title: str
    sections: Sequence[Section]
    record: Mapping[str, Any]
    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    command: str | None = None

    def write(self, folder: Path, console: Console | None = None) -> dict[str, Any]:
        """Prints tables and texts; writes `results.json`, a PNG for each figure, `report.html` and the scalars to
        `folder`, and lists them. Returns the record with its provenance, as it was written."""
        console = console or Console()
        for section in self.sections:
            if isinstance(section, Table | Text) and section.console:
                section.print(console)
        record: dict[str, Any] = portable({**self.record, **provenance()})
        if self.command is not None:
            record["command"] = self.command
        write_atomically(folder / "results.json", json.dumps(record, indent=1).encode() + b"\n")
        pictures = {}
        for figure in self.sections:
            if isinstance(figure, Figure):
                pictures[figure.name] = png(figure.draw())
                write_atomically(folder / f"{figure.name}.png", pictures[figure.name])
        write_atomically(folder / "report.html", self.page(record, pictures).encode())
        written = {"results": folder / "results.json", "report": folder / "report.html"}
        if write_scalars(folder, self.scalars):
            written["TensorBoard"] = folder
        for what, path in {**written, **self.files}.items():  # in lines that can be copied whole
            console.print(f"{what}: {path}", soft_wrap=True, highlight=False, markup=False)
        return record

    def page(self, record: Mapping[str, Any], pictures: Mapping[str, bytes]) -> str:
        """One self-contained HTML page, `pictures` by the names of the figures; all text is escaped."""
        from base64 import b64encode  # noqa: PLC0415

        from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415

        environment = Environment(
            loader=FileSystemLoader(Path(__file__).parent), autoescape=True, undefined=StrictUndefined,
            trim_blocks=True, lstrip_blocks=True,
        )  # fmt: skip
        return environment.get_template("page.html.j2").render(
            title=self.title,
            sections=[(type(section).__name__, section) for section in self.sections],
            pictures={name: b64encode(picture).decode() for name, picture in pictures.items()},
            command=record.get("command") or "called from Python",
            commit=record.get("commit"),
            record=json.dumps(record, indent=1),
        )


def cell_text(value: object) -> str:
    """Estimates with their intervals, floats with four figures, integers with their thousands grouped."""
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)
