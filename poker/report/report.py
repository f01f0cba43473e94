"""A report: sections, scalars and one record, written in all forms.

The console shows the result first. Only then are figures drawn, and matplotlib, Jinja and TensorBoard imported.
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
"""Smallest width of a column of words on a narrow console, in characters."""
_WORD = re.compile("[a-zA-Z]")


@dataclass(frozen=True, eq=False)
class Table:
    """Rows of cells: texts, numbers and estimates, or None for an empty cell.

    Attributes:
        columns: headings of the columns.
        heading: heading of the section on the page.
        note: text below the table.
        console: whether the console shows the table too; the page always does.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[object]]
    heading: str = ""
    note: str = ""
    console: bool = True

    @property
    def cells(self) -> list[list[str]]:
        """Texts of the cells."""
        return [[cell_text(cell) for cell in row] for row in self.rows]

    @property
    def is_text(self) -> list[bool]:
        """Whether each column contains words, which are left-aligned; always true for the first column."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.columns)
        return [
            place == 0 or any(isinstance(cell, str) and _WORD.search(cell) for cell in column)
            for place, column in enumerate(columns)
        ]

    def print(self, console: Console) -> None:
        """Print the table.

        Numbers are never cut. Headings and words are folded if there is little room. A table that needs more than the
        console's width is printed at its own width.
        """
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
    """A paragraph.

    Attributes:
        heading: heading of the section on the page.
        style: style on the console, such as `red`.
        console: whether the console shows the text too; the page always does.
    """

    text: str
    heading: str = ""
    style: str = ""
    console: bool = True

    def print(self, console: Console) -> None:
        """Print the paragraph."""
        console.print(escape(self.text), style=self.style or None, soft_wrap=True, highlight=False)


@dataclass(frozen=True, eq=False)
class Figure:
    """A picture on the page and in `<name>.png`, drawn when the report is written.

    Attributes:
        name: name of the file.
        draw: draws the picture.
        heading: heading of the section on the page.
        note: text below the picture.
    """

    name: str
    draw: "Callable[[], Chart | Image]"
    heading: str = ""
    note: str = ""


Section = Table | Text | Figure


@dataclass(frozen=True, eq=False)
class Report:
    """Results of a run.

    Attributes:
        title: title of the page.
        sections: tables, texts and figures in their order.
        record: results for `results.json`.
        scalars: scalars for TensorBoard, by name.
        files: further files that the run wrote, listed with the report's own.
        command: command that reproduces the run, shown unchanged; None for the command that started this process.
    """

    title: str
    sections: Sequence[Section]
    record: Mapping[str, Any]
    scalars: Mapping[str, Scalar] = field(default_factory=dict)
    files: Mapping[str, Path] = field(default_factory=dict)
    command: str | None = None

    def write(self, folder: Path, console: Console | None = None) -> dict[str, Any]:
        """Print tables and texts, and write all files.

        The files are `results.json`, a PNG for each figure, `report.html` and the scalars. Their paths are printed at
        the end.

        Args:
            folder: folder for the files.
            console: the console; None for standard output.

        Returns:
            The record with its provenance, as in `results.json`.
        """
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
        """Render one self-contained HTML page; all text is escaped.

        Args:
            record: the record with its provenance.
            pictures: PNG files by the names of the figures.
        """
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
    """Return a cell as text: estimates with intervals, floats with four figures, integers with grouped thousands.

    Args:
        value: the cell.
    """
    if isinstance(value, float):
        return number_text(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)
