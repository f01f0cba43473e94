"""What a match says: estimates by table and agent, live progress, and the files of the report.

Unit of every interval: the session (without memory, a deal), averaged over its seatings; mbb = thousandths of the big
blind per hand. All tables play the same cards, so an agent's result over several tables is averaged deal by deal.
"""

import json
import math
import time
from array import array
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.table import Table as TextTable
from tensorboard.summary import Writer

from poker.artifacts import write_atomically
from poker.evaluation.chart import chart
from poker.evaluation.match_page import match_page
from poker.evaluation.provenance import provenance
from poker.evaluation.statistics import Estimate, estimate
from poker.evaluation.table import Incident, Schedule, SessionRecord, Table
from poker.rules import Rules

_SCALAR_SECONDS = 5.0
_TIMES_KEPT = 20_000
_FIRST_LOOK = 100


@dataclass
class HandSpread:
    """Standard deviation of single hands, from running sums."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    def add(self, values: list[float]) -> None:
        self.n += len(values)
        self.total += math.fsum(values)
        self.squares += math.fsum(value * value for value in values)

    @property
    def sd(self) -> float:
        if self.n < 2:
            return math.inf
        return math.sqrt(max(self.squares - self.total**2 / self.n, 0.0) / (self.n - 1))


class SessionMeans(MutableMapping[int, list[float]]):
    """Session -> mbb per hand of each entry [P], 8 bytes a number: long matches stay small in memory."""

    def __init__(self) -> None:
        self._rows = np.empty((0, 0))

    def __setitem__(self, session: int, means: list[float]) -> None:
        if session >= len(self._rows):
            rows = np.full((max(64, 2 * session), len(means)), np.nan)
            rows[: len(self._rows)] = self._rows.reshape(len(self._rows), len(means))
            self._rows = rows
        self._rows[session] = means

    def __getitem__(self, session: int) -> list[float]:
        if not 0 <= session < len(self._rows) or np.isnan(self._rows[session, 0]):
            raise KeyError(session)
        means: list[float] = self._rows[session].tolist()
        return means

    def __delitem__(self, session: int) -> None:
        self[session]
        self._rows[session] = np.nan

    def __iter__(self) -> Iterator[int]:
        return iter(np.flatnonzero(~np.isnan(self._rows[:, :1]).any(axis=1)).tolist() if self._rows.size else [])

    def __len__(self) -> int:
        return int((~np.isnan(self._rows[:, 0])).sum()) if self._rows.size else 0


@dataclass
class TableResults:
    """Hands of one table so far."""

    table: Table
    log: Path
    schedule: Schedule
    units: MutableMapping[int, list[float]] = field(default_factory=SessionMeans)
    aivat_units: MutableMapping[int, list[float]] = field(default_factory=SessionMeans)
    spread: dict[str, HandSpread] = field(default_factory=dict)
    incidents: list[Incident] = field(default_factory=list)
    seconds: dict[tuple[str, int], "array[float]"] = field(default_factory=dict)
    hands: int = 0
    kept: int = 0
    stopped_at: int | None = None
    _seen: int = 0
    _look: int = _FIRST_LOOK

    def check_stop(self, half_width: float) -> None:
        """Stops at the first look at which the interval of the first entry is no wider than that.

        Looks are at 100, 110, 121, ... sessions counted from the first, so where a match stops does not depend on the
        order in which its sessions were played.
        """
        while self.stopped_at is None and all(session in self.units for session in range(self._seen, self._look)):
            units = self.aivat_units or self.units
            found = estimate([units[session][0] for session in range(self._look)])
            if found.half_width <= half_width:
                self.stopped_at = self._look
                self.hands = self._look * self.schedule.hands_per_session
            self._seen, self._look = self._look, self._look + max(1, self._look // 10)

    def add(self, session: int, record: SessionRecord) -> None:
        scale = 1000.0 / max(self.schedule.rules.big_blind, 1)
        means = np.asarray(record.payoffs, dtype=np.float64).mean(axis=0) * scale
        self.units[session] = means.tolist()
        if record.aivat:
            self.aivat_units[session] = (np.mean(record.aivat, axis=0) * scale).tolist()
        if self._is_surplus(session):
            return
        self.hands += len(record.payoffs)
        for name, rows in (("chips", record.payoffs), ("aivat", record.aivat)):
            if rows:
                self.spread.setdefault(name, HandSpread()).add([row[0] * scale for row in rows])
        self.incidents += record.incidents
        for (entry, street), seconds in record.seconds.items():
            times = self.seconds.setdefault((self.table.players[entry], street), array("d"))
            times.extend(seconds[: max(0, _TIMES_KEPT - len(times))])

    def _is_surplus(self, session: int) -> bool:
        """Played after the stop; kept on disk, but no part of the result."""
        return self.stopped_at is not None and session >= self.stopped_at

    def values(self, *, aivat: bool = False) -> NDArray[np.float64]:
        """[sessions, P] mbb per hand of each entry, in the order of the sessions; with `aivat` the estimates."""
        units = self.aivat_units if aivat else self.units
        rows = [units[session] for session in sorted(units) if not self._is_surplus(session)]
        return np.array(rows, dtype=np.float64).reshape(len(rows), len(self.table.players))

    def estimates(self, *, aivat: bool = False) -> list[Estimate]:
        """[P] by entry."""
        return [estimate(column) for column in self.values(aivat=aivat).T]


@dataclass
class MatchResults:
    """All tables of a match; `settings` by agent name."""

    game: Rules
    seed: int
    session: int
    settings: dict[str, Any]
    tables: list[TableResults]
    seconds: float = 0.0
    processes: int = 1

    @property
    def title(self) -> str:
        return f"{self.game.name}, seed {self.seed}"

    def over_tables(self) -> dict[str, Estimate]:
        """By agent, its mean over all its places at the tables, deal by deal."""
        found = {}
        for name in self.settings:
            columns = [
                result.values()[:, entry]
                for result in self.tables
                for entry, player in enumerate(result.table.players)
                if player == name
            ]
            if columns:
                shortest = min(map(len, columns))
                found[name] = estimate(np.mean([column[:shortest] for column in columns], axis=0))
        return found

    def to_json(self) -> dict[str, Any]:
        played = sum(result.hands - result.kept for result in self.tables)
        return {
            "game": self.game.name,
            "definition": self.game.to_acpc(),
            "seed": self.seed,
            "session": self.session,
            "unit": "mbb/hand",
            "tables": [_table_json(result) for result in self.tables],
            "agents": {
                name: {**_estimate_json(found), "settings": self.settings[name]}
                for name, found in self.over_tables().items()
            },
            "hands_per_second": round(played / self.seconds, 3) if self.seconds else None,
            "processes": self.processes,
            **provenance(),
        }


def _table_json(result: TableResults) -> dict[str, Any]:
    players: list[dict[str, Any]] = [
        {"agent": label, **_estimate_json(found)}
        for label, found in zip(result.table.labels, result.estimates(), strict=True)
    ]
    if result.aivat_units:
        for player, found in zip(players, result.estimates(aivat=True), strict=True):
            player["aivat"] = _estimate_json(found)
    return {
        "players": players,
        "hands": result.hands,
        "sd_per_hand": {name: spread.sd for name, spread in result.spread.items() if spread.n > 1},
        "stopped_early": result.stopped_at is not None,
        "kept_from_earlier_runs": result.kept,
        "log": str(result.log),
        "incidents": [vars(incident) for incident in result.incidents],
        "decision_seconds": {
            f"{name}, street {street}": {
                "median": float(np.median(times)),
                "max": max(times),
                "n": len(times),
            }
            for (name, street), times in sorted(result.seconds.items())
        },
    }


def _estimate_json(found: Estimate) -> dict[str, Any]:
    finite = math.isfinite(found.half_width)
    return {
        "mean": found.mean,
        "half_width_95": found.half_width if finite else None,
        "sd_of_unit": found.sd if finite else None,
        "units": found.n,
    }


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
        for label, found in zip(result.table.labels, result.estimates(), strict=True):
            tag = f"{result.table.title}/{label}".replace(" ", "_")
            self._writer.add_scalar(f"{tag}/mbb_per_hand", found.mean, step=result.hands)
            if math.isfinite(found.half_width):
                self._writer.add_scalar(f"{tag}/half_width_95", found.half_width, step=result.hands)


def _headline(result: TableResults) -> str:
    return f"{result.table.labels[0]} {result.estimates()[0]:,} mbb/hand" if result.units else ""


def _report_folder(results: MatchResults, folder: Path) -> Path:
    return folder / "-".join(results.settings)[:100]


def write_report(results: MatchResults, folder: Path, console: Console) -> None:
    """`results.json`, `results.png`, `report.html` and the failures, then the tables on the console."""
    target = _report_folder(results, folder)
    target.mkdir(parents=True, exist_ok=True)
    record = results.to_json()
    write_atomically(target / "results.json", json.dumps(record, indent=1).encode() + b"\n")
    write_atomically(target / "results.png", chart(results.title, [_chart_rows(result) for result in results.tables]))
    page = match_page(results)
    page.record(record)
    page.write(target / "report.html")
    _print_tables(results, console)
    for result in results.tables:
        if result.incidents:
            _print_incidents(result, console)
    for what, path in (
        ("results", target / "results.json"),
        ("chart", target / "results.png"),
        ("report", target / "report.html"),
        ("TensorBoard", target),
        ("hand histories", folder / "hands"),
    ):
        console.print(f"{what}: {path}", soft_wrap=True, highlight=False)


def _chart_rows(result: TableResults) -> tuple[tuple[str, ...], NDArray[np.float64]]:
    return result.table.labels, result.values()


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
            less_luck = [f"{result.estimates(aivat=True)[entry]:,}" if result.aivat_units else "-"] * reduced
            trouble = [str(failures or "")] * troubled
            text.add_row(name, f"{found:,}", *less_luck, f"{result.hands:,}", f"{found.n:,}", *trouble)
    if len(results.tables) > 1:
        text.add_section()
        for name, found in sorted(results.over_tables().items(), key=lambda item: -item[1].mean):
            text.add_row(f"{name}, all tables", f"{found:,}", *[""] * reduced, "", f"{found.n:,}", *[""] * troubled)
    console.print(text)


def _print_incidents(result: TableResults, console: Console) -> None:
    for label in result.table.labels:
        mine = [incident for incident in result.incidents if incident.agent == label]
        if mine:
            first = mine[0]
            console.print(
                f"[red]{label} failed {len(mine)} times at {result.table.title}[/red] (it checked or folded instead);"
                f" first in hand {first.hand} after `{first.betting}`: {first.error}"
            )
