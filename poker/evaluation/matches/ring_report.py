"""The report of a ring game: a record, a page with a picture, TensorBoard scalars, and tables on the console."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table as TextTable

from poker.artifacts import fingerprint_of, write_atomically
from poker.evaluation.matches.page import add_first_decisions
from poker.evaluation.matches.ring_results import RingResults
from poker.evaluation.pages.html import Page, tell_files
from poker.report.charts import Row, intervals, png
from poker.report.estimates import Estimate, estimate
from poker.report.scalars import write_scalars

_SHOWN_FAILURES = 100


def write_ring_report(results: RingResults, log: Path, folder: Path, console: Console) -> None:
    """`ring-<game>-<fingerprint>` with the endings .json, .png and .html, named by what was played, and a folder of
    that name with TensorBoard scalars; `log` holds the hands."""
    record = results.to_json()
    settings = {name: spec.settings for name, spec in results.specs.items()}
    identity = fingerprint_of([results.table.players, settings, record["seed"], record["session"]])
    stem = folder / f"ring-{results.schedule.rules.name}-{identity[:10]}"
    title = f"Ring game of {results.schedule.rules.name}, seed {results.schedule.seed}"
    picture = png(intervals(title, "small bets per hand", _panels(results)))
    page = _page(results, title, picture, log)
    page.record(record)
    write_atomically(stem.with_suffix(".json"), json.dumps(record, indent=1).encode() + b"\n")
    write_atomically(stem.with_suffix(".png"), picture)
    page.write(stem.with_suffix(".html"))
    write_scalars(stem, dict(_scalars(results)))
    _print(results, console)
    tell_files(
        console,
        (
            ("results", stem.with_suffix(".json")),
            ("chart", stem.with_suffix(".png")),
            ("report", stem.with_suffix(".html")),
            ("TensorBoard", stem),
            ("hand histories", log),
        ),
    )


def _panels(results: RingResults) -> dict[str, list[Row]]:
    panels = {"agents": [(name, estimate(results.result([name]))) for name in results.specs]}
    contrasts = [(_against(first, second), found) for first, second, found in results.compared()]
    return panels | ({"contrasts": contrasts} if contrasts else {})


def _size(results: RingResults) -> str:
    return f"{results.hands:,} hands, {len(results.deals()):,} deals"


def _against(first: list[str], second: list[str]) -> str:
    return f"{'+'.join(first)} less {'+'.join(second)}"


def _page(results: RingResults, title: str, picture: bytes, log: Path) -> Page:
    page = Page(title)
    page.heading("Results", f"small bets per hand of a place, 95% {results.caveat}; {_size(results)}")
    means = {name: results.result([name]) for name in results.specs}
    page.table(
        ("agent", "places", "small bets per hand", "with the interval over sessions"),
        [
            (name, len(results.places(name)), str(estimate(mean)), str(results.over_sessions(mean)))
            for name, mean in means.items()
        ],
    )
    if results.contrasts:
        page.heading("Contrasts", "mean result of the first group less that of the second, small bets per hand")
        page.table(
            ("groups", "difference"),
            [(_against(first, second), str(found)) for first, second, found in results.compared()],
        )
    page.png(picture, "results with their intervals")
    page.heading("By seat", "small bets per hand, from the small blind (of two players: the big blind) to the button")
    seats = [f"seat {seat + 1}" for seat in range(len(results.table.players))]
    page.table(("agent", *seats), [(name, *map(str, results.by_seat(name))) for name in results.specs])
    by_class = results.by_class()
    kinds = list(dict.fromkeys(kind for row in by_class.values() for kind in row))
    page.heading(
        "Won from each class of opponents",
        "small bets per hand of a place; losses of a hand go to its winners in proportion to what they win",
    )
    page.table(("agent", *kinds), [(name, *(str(row[kind]) for kind in kinds)) for name, row in by_class.items()])
    _add_decisions(page, results)
    if results.incidents:
        page.heading("Failures", "agents checked or folded instead")
        page.table(("failure",), [(text,) for text in results.incidents[:_SHOWN_FAILURES]])
    add_first_decisions(page, results.schedule.rules, [log])
    return page


def _add_decisions(page: Page, results: RingResults) -> None:
    rows = [
        (name, street, len(times), *(1e3 * float(np.quantile(times, share)) for share in (0.5, 0.95, 1.0)))
        for (name, street), times in sorted(results.decisions.items())
    ]
    if rows:
        page.heading("Time for a decision", "milliseconds, of the hands that were played now")
        page.table(("agent", "street", "decisions", "median", "95%", "longest"), rows)


def _scalars(results: RingResults) -> Iterator[tuple[str, Estimate]]:
    by_class = results.by_class()
    for name in results.specs:
        yield f"{name}/sb_per_hand", estimate(results.result([name]))
        for seat, found in enumerate(results.by_seat(name)):
            yield f"{name}/seat_{seat + 1}", found
        for kind, found in by_class[name].items():
            yield f"{name}/from_{kind}", found
    for first, second, found in results.compared():
        yield f"contrasts/{_against(first, second)}", found


def _print(results: RingResults, console: Console) -> None:
    by_class = results.by_class()
    kinds = sorted({kind for row in by_class.values() for kind in row})
    text = TextTable(title=f"{results.schedule.rules.name}: small bets per hand with 95% intervals")
    for heading in ("agent", "sb/hand", *(f"from {kind}" for kind in kinds)):
        text.add_column(heading, justify="left" if heading == "agent" else "right")
    for name in results.specs:
        found = estimate(results.result([name]))
        text.add_row(name, str(found), *(str(by_class[name][kind]) for kind in kinds))
    text.caption = f"{_size(results)}; {results.caveat}"
    console.print(text)
    for first, second, found in results.compared():
        console.print(f"{_against(first, second)}: {found!s} sb/hand", highlight=False)
    if results.incidents:
        count = len(results.incidents)
        console.print(f"[red]{count} failures of agents (they checked or folded instead)[/red]: {results.incidents[0]}")
