"""One self-contained HTML page: tables, pictures and the full record of a result; nothing is loaded from elsewhere."""

import base64
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from poker.artifacts import write_atomically
from poker.cards import class_text
from poker.provenance import command_line
from poker.report.estimates import Estimate

_STYLE = """
body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;color:#222}
h1{font-size:1.5rem}h2{font-size:1.15rem;margin-top:2rem}
table{border-collapse:collapse}td,th{padding:.25rem .7rem;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}th{border-bottom:2px solid #888}
img,svg{max-width:100%;height:auto}pre{background:#f5f5f5;padding:.8rem;overflow:auto;font-size:13px}
.note{color:#666}figure{display:inline-block;margin:.5rem 1.5rem .5rem 0}figcaption{font-size:13px}
"""
_ACTION_COLOURS = ("#6b9bd1", "#7cb97c", "#d9705f")
_CELL = 24
_GRID = 13


class Page:
    """Collects blocks in order; all text is escaped."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._blocks: list[str] = []

    def heading(self, text: str, note: str = "") -> None:
        self._blocks.append(f"<h2>{html.escape(text)}</h2>")
        if note:
            self._blocks.append(f'<p class="note">{html.escape(note)}</p>')

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        head = "".join(f"<th>{html.escape(str(name))}</th>" for name in columns)
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell_text(cell))}</td>" for cell in row) + "</tr>" for row in rows
        )
        self._blocks.append(f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")

    def png(self, picture: bytes, caption: str) -> None:
        data = base64.b64encode(picture).decode()
        alt = html.escape(caption, quote=True)
        self._blocks.append(f'<p><img alt="{alt}" src="data:image/png;base64,{data}"></p>')

    def figure(self, svg: str, caption: str) -> None:
        self._blocks.append(f"<figure>{svg}<figcaption>{html.escape(caption)}</figcaption></figure>")

    def record(self, record: Mapping[str, Any]) -> None:
        """How to run it again, and everything that was recorded."""
        self.heading("How to run it again")
        self._blocks.append(f"<pre>{html.escape(str(record.get('command') or command_line()))}</pre>")
        commit = record.get("commit")
        if commit:
            self._blocks.append(f'<p class="note">at commit {html.escape(str(commit))}</p>')
        self.heading("Configuration and record")
        text = html.escape(json.dumps(record, indent=1, default=str))
        self._blocks.append(f"<details open><summary>results.json</summary><pre>{text}</pre></details>")

    def text(self) -> str:
        title = html.escape(self._title)
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f"<style>{_STYLE}</style></head><body><h1>{title}</h1>\n" + "\n".join(self._blocks) + "\n</body></html>\n"
        )

    def write(self, path: Path) -> None:
        write_atomically(path, self.text().encode())


def cell_text(value: object) -> str:
    """Estimates with their intervals, floats with four figures, the rest as it is."""
    if isinstance(value, Estimate):
        return f"{value:+}"
    if isinstance(value, float):
        return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return "" if value is None else str(value)


def range_picture(shares: NDArray[np.float64]) -> str:
    """SVG of the 13 x 13 classes of two cards, suited above the diagonal, from shares [169, 3] of fold, call and raise.

    The colours of a cell (blue, green, red) are as wide as the shares; classes with shares of 0 stay empty.
    """
    cells = []
    for preflop_class in range(_GRID * _GRID):
        high, low = divmod(preflop_class, _GRID)  # suited classes have high > low
        x, y = (_GRID - 1 - low) * _CELL, (_GRID - 1 - high) * _CELL
        left = float(x)
        for share, colour in zip(shares[preflop_class], _ACTION_COLOURS, strict=True):
            if share > 0:
                width = float(share) * _CELL
                cells.append(f'<rect x="{left:.1f}" y="{y}" width="{width:.1f}" height="{_CELL}" fill="{colour}"/>')
                left += width
        name = class_text(preflop_class)
        cells.append(f'<text x="{x + _CELL / 2}" y="{y + 15}" font-size="8.5" text-anchor="middle">{name}</text>')
    size = _GRID * _CELL
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{size}" height="{size}" viewBox="0 0 {size} {size}">'
        f'<rect width="{size}" height="{size}" fill="#f2f2f2"/>{"".join(cells)}</svg>'
    )


def tell_files(console: Console, files: Iterable[tuple[str, Path]]) -> None:
    """What was written, and where, in lines that can be copied whole."""
    for what, path in files:
        console.print(f"{what}: {path}", soft_wrap=True, highlight=False)
