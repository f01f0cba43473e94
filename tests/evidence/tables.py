"""Tables of docs/results, rendered from the JSON beside them: `python -m tests.evidence.tables` renders all pages.

A README has the table between a comment that describes it and a comment that ends it:

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

A second pair of comments, `<!-- played -->` and `<!-- end -->` before the commands, encloses the commits and artifacts
of each JSON file, and whether the artifacts belong to the bundle in this tree.
"""

import json
import re
import tomllib
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from poker.report.estimates import Estimate, number_text
from tests.killed import ROOT

RESULTS = ROOT / "docs" / "results"
BUNDLE = ROOT / "models" / "trained" / "laptop.bundle"
_IMPLIED = "abstraction"
"""Is not in a bundle, and follows from the blueprint."""
_TABLE = re.compile(r"(<!-- table\n(.*?)-->\n).*?(<!-- end -->)", re.DOTALL)


_PLAYED = re.compile(r"(<!-- played -->\n).*?(<!-- end -->)", re.DOTALL)


def rendered(page: Path) -> str:
    """The text of a page with its tables, and what played, as the JSON has them."""
    text = page.read_text()
    if "<!-- played -->" not in text:
        text = text.replace("\n## Reproduce", "\n<!-- played -->\n<!-- end -->\n\n## Reproduce", 1)
    text = _TABLE.sub(lambda match: match[1] + table(page.parent, match[2]) + match[3], text)
    return _PLAYED.sub(lambda match: match[1] + played(page.parent) + match[2], text)


@cache
def bundle() -> frozenset[str]:
    """Fingerprints of the artifacts in the bundle of this tree, and of those that it was packed from."""
    with zipfile.ZipFile(BUNDLE) as archive:
        contents = json.loads(archive.read("bundle.json"))
    packed = {artifact["fingerprint"] for artifact in contents["artifacts"].values()}
    return frozenset(packed.union(contents["made_from"].values()))


def played(folder: Path) -> str:
    """Sentences that name the commits and artifacts of each JSON file of a page."""
    files: dict[str, list[str]] = defaultdict(list)
    for file in sorted(folder.glob("*.json")):
        record = json.loads(file.read_text())
        note = record.get("note", "") if isinstance(record, dict) else ""
        short = dict.fromkeys(commit[:8] for commit in commits(record))
        names = [f"`{name}`{' (rewritten)' * (name in note)}" for name in short]
        files[_artifacts(record)].append(f"{file.name} ({', '.join(names) or 'no commit'})")
    return "".join(f"Measured with {what}: {', '.join(names)}.\n" for what, names in sorted(files.items()))


def _artifacts(record: Any) -> str:
    """Describe the artifacts of a record, relative to the bundle."""
    fingerprints = record.get("artifacts") if isinstance(record, dict) else None
    if fingerprints is None:
        return "unrecorded artifacts"
    if not fingerprints:
        return "no artifacts"
    by_name = {Path(path).name: sha for path, sha in fingerprints.items() if Path(path).name != _IMPLIED}
    others = [f"{name} `{sha[:8]}`" for name, sha in sorted(by_name.items()) if sha not in bundle()]
    return f"other artifacts ({', '.join(others)})" if others else f"the bundle {BUNDLE.name}"


def commits(node: Any) -> Iterator[str]:
    """Every commit in a record, which may be that of hands played."""
    for key, value in node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ():
        if key in ("commit", "hands_by_commit"):
            yield from (commit.rstrip("+") for commit in ([value] if isinstance(value, str) else value or ()))
        else:
            yield from commits(value)


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
    return number_text(value) if isinstance(value, float) else str(value).replace("|", "\\|")


def main() -> None:
    for page in sorted(RESULTS.rglob("*.md")):
        page.write_text(rendered(page))


if __name__ == "__main__":
    main()
