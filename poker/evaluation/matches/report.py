"""What a match says while it runs and at its end: live progress, tables on the console, and the files of the report."""

import hashlib
import json
import math
import time
from pathlib import Path
from types import TracebackType

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table as TextTable
from tensorboard.summary import Writer

from poker.artifacts import write_atomically
from poker.evaluation.matches.comparisons import contrasts, crosstable, over_tables
from poker.evaluation.matches.hand_store import UNKNOWN
from poker.evaluation.matches.page import crosstable_rows, match_page
from poker.evaluation.matches.record import match_record
from poker.evaluation.matches.results import SHORT, MatchResults, TableResults
from poker.evaluation.pages.html import tell_files
from poker.report.charts import Series, intervals_and_means, png

_SCALAR_SECONDS = 5.0
_FOLDER_NAME = 100
_NAMED_OPPONENTS = 3


class LiveReport:
    """Progress bars with rate, time left and the estimate so far, and TensorBoard scalars while a match runs."""

    def __init__(self, results: MatchResults, sessions: int, folder: Path, console: Console) -> None:
        size = results.tables[0].schedule.hands_per_session
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("hands  {task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[found]}"),
            console=console,
        )
        self._bars: dict[int, TaskID] = {}
        for result in results.tables:
            bar = self._progress.add_task(
                result.table.title, total=sessions * size, completed=result.hands, rate="", found=_headline(result)
            )
            self._bars[id(result)] = bar
        self._writer = Writer(str(_report_folder(results, folder)))
        self._started = time.monotonic()
        self._written: dict[int, float] = {}

    def __enter__(self) -> "LiveReport":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        self._writer.close()

    def update(self, result: TableResults) -> None:
        now = time.monotonic()
        bar = self._bars[id(result)]
        self._progress.update(bar, completed=result.hands)
        total = self._progress.tasks[bar].total or 0
        if now - self._written.get(id(result), 0.0) < _SCALAR_SECONDS and result.hands < total:
            return
        self._written[id(result)] = now
        rate = (result.hands - result.kept) / max(now - self._started, 1e-9)
        self._progress.update(bar, rate=f"{rate:,.0f}/s", found=_headline(result))
        for name, aivat in (("chips", False), *([("aivat", True)] if result.aivat_units else [])):
            for label, found in zip(result.table.labels, result.estimates(aivat=aivat), strict=True):
                tag = f"{result.table.title}/{label}/{name}".replace(" ", "_")
                self._writer.add_scalar(f"{tag}/mbb_per_hand", found.mean, step=result.hands)
                if math.isfinite(found.half_width):
                    self._writer.add_scalar(f"{tag}/half_width_95", found.half_width, step=result.hands)


def _headline(result: TableResults) -> str:
    """The estimate so far of the first entry, with the luck taken out where it can be."""
    if not result.units:
        return ""
    found = result.estimates(aivat=bool(result.aivat_units))[0]
    return f"{result.table.labels[0]} {found:+} mbb/hand" + (" (AIVAT)" if result.aivat_units else "")


def _chart(results: MatchResults) -> bytes:
    """Of heads-up tables the first agent, since the second has the same result with the other sign."""
    series = []
    for result in results.tables:
        labels, chips = result.table.labels, result.values()
        aivat = result.values(aivat=True) if result.aivat_units else None
        for entry, label in enumerate(labels[:1] if len(labels) == 2 else labels):
            told = len(labels) != 2 or label.endswith(f"@{labels[1]}")
            name = label if told else f"{label} vs {labels[1]}"
            behind = None if aivat is None else chips[:, entry]
            series.append(Series(name, chips[:, entry] if aivat is None else aivat[:, entry], behind))
    measures = "AIVAT blue, chips grey" if any(one.behind is not None for one in series) else ""
    count = "deals" if results.session == 1 else "sessions"
    return png(intervals_and_means(results.title, "mbb per hand", count, series, measures))


def _report_folder(results: MatchResults, folder: Path) -> Path:
    """Named after the agents; long names are cut and told apart by a checksum of all of them."""
    name = "-".join(results.settings)
    if len(name) > _FOLDER_NAME:
        name = f"{name[: _FOLDER_NAME - 9]}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return folder / name


def write_report(results: MatchResults, folder: Path, console: Console) -> None:
    """`results.json`, `results.png`, `report.html` and the failures, then the tables on the console."""
    target = _report_folder(results, folder)
    target.mkdir(parents=True, exist_ok=True)
    record = match_record(results)
    write_atomically(target / "results.json", json.dumps(record, indent=1).encode() + b"\n")
    picture = _chart(results)
    write_atomically(target / "results.png", picture)
    page = match_page(results, picture)
    page.record(record)
    page.write(target / "report.html")
    _print_tables(results, console)
    for result in results.tables:
        if result.incidents:
            _print_incidents(result, console)
        for label, why in result.unknown.items():
            console.print(f"{label} counts as unknown in AIVAT at {result.table.title}: {escape(why)}", highlight=False)
    _print_other_commits(results, record["commit"], console)
    tell_files(
        console,
        (
            ("results", target / "results.json"),
            ("chart", target / "results.png"),
            ("report", target / "report.html"),
            ("TensorBoard", target),
            ("hand histories", folder / "hands"),
        ),
    )


def _print_tables(results: MatchResults, console: Console) -> None:
    text = TextTable(title=f"{results.title}: mbb/hand with 95% intervals")
    text.add_column("result of")
    reduced = any(result.aivat_units for result in results.tables)
    troubled = any(result.incidents for result in results.tables)
    for heading in (
        "chips",
        *["AIVAT"] * reduced,
        "hands",
        "deals" if results.session == 1 else "sessions",
        *["failures"] * troubled,
    ):
        text.add_column(heading, justify="right", no_wrap=True)
    for result in results.tables:
        pairs = list(zip(result.table.labels, result.estimates(), strict=True))
        heads_up = len(pairs) == 2
        for label, found in pairs[:1] if heads_up else pairs:
            failures = sum(heads_up or incident.agent == label for incident in result.incidents)
            name = result.table.title if heads_up else f"{label} at {result.table.title}"
            entry = result.table.labels.index(label)
            less_luck = [f"{result.estimates(aivat=True)[entry]:+}" if result.aivat_units else "-"] * reduced
            trouble = [str(failures or "")] * troubled
            text.add_row(name, f"{found:+}", *less_luck, f"{result.hands:,}", f"{found.n:,}", *trouble)
    if len(results.tables) > 1:
        chips, aivat = (over_tables(results.tables, aivat=flag) for flag in (False, True))
        text.add_section()
        for name, found in sorted(chips.items(), key=lambda item: -aivat.get(item[0], item[1]).mean):
            less_luck = [f"{aivat[name]:+}" if name in aivat else "-"] * reduced
            text.add_row(f"{name}, all tables", f"{found:+}", *less_luck, "", f"{found.n:,}", *[""] * troubled)
    console.print(text)
    if any(result.is_short for result in results.tables):
        console.print(f"[yellow]{SHORT}[/yellow]")
    _print_comparisons(results, console)


def _print_comparisons(results: MatchResults, console: Console) -> None:
    """Differences against all common opponents; those by opponent are in the other reports."""
    rows = crosstable_rows(crosstable(results.tables))
    if len(rows) > 2:
        text = TextTable(title="row against column, AIVAT where known (else chips, marked c), mbb/hand")
        for heading in ("", *(row[0] for row in rows)):
            text.add_column(heading, justify="right" if heading else "left", overflow="fold")
        for row in rows:
            text.add_row(*row)
        console.print(text)
    found = contrasts(results.tables)
    overall = {(item.first, item.second): item for item in reversed(found)}
    if overall:
        text = TextTable(title="differences on the same cards against the same opponents, mbb/hand")
        for heading in ("difference", "against", "by", "mbb/hand", "deals" if results.session == 1 else "sessions"):
            text.add_column(heading, justify="right" if heading in ("mbb/hand", "deals", "sessions") else "left")
        for item in reversed(overall.values()):
            by = "AIVAT" if item.aivat else "chips"
            many = len(item.against) > _NAMED_OPPONENTS
            against = f"{len(item.against)} opponents" if many else ", ".join(item.against)
            text.add_row(f"{item.first} less {item.second}", against, by, f"{item.found:+}", f"{item.found.n:,}")
        console.print(text)


def _print_other_commits(results: MatchResults, commit: str | None, console: Console) -> None:
    other: dict[str, int] = {}
    for result in results.tables:
        for name, hands in result.commits.items():
            if name != (commit or UNKNOWN):
                other[name] = other.get(name, 0) + hands
    if other:
        hands_by = ", ".join(f"{hands:,} by {name}" for name, hands in other.items())
        console.print(f"[yellow]hands of other commits count[/yellow]: {hands_by}; `fresh=true` plays all anew")


def _print_incidents(result: TableResults, console: Console) -> None:
    for label in result.table.labels:
        mine = [incident for incident in result.incidents if incident.agent == label]
        if mine:
            first = mine[0]
            console.print(
                f"[red]{label} failed {len(mine)} times at {result.table.title}[/red] (it checked or folded instead);"
                f" first in hand {first.hand} after `{first.betting}`: {escape(first.error)}"
            )
