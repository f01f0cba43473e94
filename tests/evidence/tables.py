"""Tables of docs/results, rendered from the JSON beside them: `python -m tests.evidence.tables` renders all anew.

A README holds the table between a comment that says what is in it and another that ends it:

    <!-- table
    rows = ["agent.json:lineups"]
    columns."adversary" = "players.0.agent"
    columns."mbb/hand" = "players.0.aivat | estimate"
    -->
    ...
    <!-- end -->

`rows` are files with a path to a list, or to a mapping whose keys are at `@`. `where` keeps the rows in which a path
leads to one of the values listed, `having` those in which it leads somewhere, `single` those in which it leads to a
list of one. A cell is a path, which starts with `/` where keys have dots, and a format: `estimate` (a mean with its 95%
interval, which stands beside it), `percent`, or four figures.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from poker.report.estimates import Estimate, number_text
from tests.killed import ROOT

RESULTS = ROOT / "docs" / "results"
_TABLE = re.compile(r"(<!-- table\n(.*?)-->\n).*?(<!-- end -->)", re.DOTALL)


def rendered(page: Path) -> str:
    """The text of a page with its tables as the JSON has them."""
    return _TABLE.sub(lambda match: match[1] + table(page.parent, match[2]) + match[3], page.read_text())


def table(folder: Path, text: str) -> str:
    """Markdown of the table that a comment describes."""
    spec = tomllib.loads(text)
    columns: Mapping[str, str] = spec["columns"]
    rows = [row for source in spec["rows"] for row in _rows(folder, source)]
    for path, wanted in spec.get("where", {}).items():
        rows = [row for row in rows if _at(row, path) in wanted]
    if "having" in spec:
        rows = [row for row in rows if _at(row, spec["having"]) is not None]
    if "single" in spec:
        rows = [row for row in rows if len(_at(row, spec["single"])) == 1]
    cells = [[_cell(row, column) for column in columns.values()] for row in rows]
    assert cells, f"{folder}: no rows for {text}"
    ruler = ["---" if any(re.search("[a-z]{2}", row[i]) for row in cells) else "---:" for i in range(len(columns))]
    return "".join(f"| {' | '.join(line)} |\n" for line in ([*columns], ruler, *cells))


def _rows(folder: Path, source: str) -> Iterator[Mapping[str, Any]]:
    file, _, path = source.partition(":")
    value = _at(json.loads((folder / file).read_text()), path)
    if isinstance(value, list):
        yield from value
    elif any(isinstance(row, dict) for row in value.values()):
        yield from ({"@": key, **row} for key, row in value.items() if isinstance(row, dict))
    else:
        yield value


def _at(node: Any, path: str) -> Any:
    """The node that a path of keys and indices leads to, or None."""
    for key in filter(None, path.split("/" if "/" in path else ".")):
        try:
            node = node[int(key)] if isinstance(node, list) else node[key]
        except (KeyError, IndexError, TypeError):
            return None
    return node


def _cell(row: Mapping[str, Any], column: str) -> str:
    path, _, form = (part.strip() for part in column.partition("|"))
    value = _at(row, path)
    if value is None:
        return ""
    if form == "estimate":
        node = value if isinstance(value, dict) else {**row, "mean": value}
        if node["interval_95"] is None:  # nothing differs
            return number_text(node["mean"])
        low, high = node["interval_95"]
        return str(Estimate(node["mean"], (high - low) / 2, float("nan"), 2, (low + high) / 2 - node["mean"]))
    if form == "percent":
        return f"{value:.1%}"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return number_text(value) if isinstance(value, float) else str(value)


def main() -> None:
    for page in sorted(RESULTS.rglob("*.md")):
        page.write_text(rendered(page))


if __name__ == "__main__":
    main()
