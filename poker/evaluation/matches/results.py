"""What a match found: results by table and agent, and their estimates.

Unit of every interval: the session (without memory, a deal), averaged over its seatings; mbb = thousandths of the big
blind per hand.
"""

import math
from array import array
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.evaluation.matches.table import Incident, Schedule, SessionRecord, Table
from poker.report.estimates import FEW_UNITS, Estimate, estimate
from poker.rules import Rules

_TIMES_KEPT = 20_000
_LEAST_SESSIONS = 100
SHORT = f"A table has fewer than {FEW_UNITS} deals, or {_LEAST_SESSIONS} sessions: its intervals may be too narrow."
_ROUNDING = 1e-12


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
        """Zero where the sums cannot tell it from zero."""
        if self.n < 2:
            return math.inf
        from_mean = self.squares - self.total**2 / self.n
        return math.sqrt(from_mean / (self.n - 1)) if from_mean > _ROUNDING * self.squares else 0.0


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
    unknown_in: dict[int, dict[str, str]] = field(default_factory=dict)
    commits: dict[str, int] = field(default_factory=dict)
    _seen: int = 0
    _look: int = 0

    @property
    def first_look(self) -> int:
        """Sessions below which intervals may be too narrow: those of `FEW_UNITS` deals, at least 100."""
        return max(_LEAST_SESSIONS, -(-FEW_UNITS // self.schedule.session))

    @property
    def is_short(self) -> bool:
        """Too few sessions to trust the intervals."""
        return sum(not self._is_surplus(session) for session in self.units) < self.first_look

    def check_stop(self, half_width: float) -> None:
        """Stops at the first look at which the interval of the first entry is no wider than that.

        Looks are after 400, 440, 484, ... deals counted from the first (see `first_look`), so where a match stops does
        not depend on the order in which its sessions were played.
        """
        self._look = self._look or self.first_look
        while self.stopped_at is None and all(session in self.units for session in range(self._seen, self._look)):
            failures = any(session < self._look for session in self.unknown_in)  # estimates to be revised
            units = self.aivat_units if self.aivat_units and not failures else self.units
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
        if record.unknown:
            self.unknown_in[session] = record.unknown
        if self._is_surplus(session):
            return
        self.hands += len(record.payoffs)
        for name, rows in (("chips", record.payoffs), ("aivat", record.aivat)):
            if rows:
                self.spread.setdefault(name, HandSpread()).add([row[0] * scale for row in rows])
        if record.commit:
            self.commits[record.commit] = self.commits.get(record.commit, 0) + len(record.payoffs)
        self.incidents += record.incidents
        for (entry, street), seconds in record.seconds.items():
            times = self.seconds.setdefault((self.table.players[entry], street), array("d"))
            times.extend(seconds[: max(0, _TIMES_KEPT - len(times))])

    @property
    def unknown(self) -> dict[str, str]:
        """Agents that failed or lost their policy somewhere, and why: in AIVAT they count as unknown everywhere."""
        found: dict[str, str] = {}
        for session, agents in sorted(self.unknown_in.items()):
            if not self._is_surplus(session):
                found = {**agents, **found}
        return found

    def sessions(self) -> list[int]:
        """Those that count."""
        return [session for session in sorted(self.units) if not self._is_surplus(session)]

    def revise(self, records: Mapping[int, SessionRecord]) -> None:
        """Takes the estimates of all sessions from these records."""
        scale = 1000.0 / max(self.schedule.rules.big_blind, 1)
        self.spread["aivat"] = HandSpread()
        for session in self.sessions():
            rows = records[session].aivat
            self.aivat_units[session] = (np.mean(rows, axis=0) * scale).tolist()
            self.spread["aivat"].add([row[0] * scale for row in rows])

    def _is_surplus(self, session: int) -> bool:
        """Played after the stop; kept on disk, but no part of the result."""
        return self.stopped_at is not None and session >= self.stopped_at

    def values(self, *, aivat: bool = False) -> NDArray[np.float64]:
        """[sessions, P] mbb per hand of each entry, in the order of the sessions; with `aivat` the estimates."""
        units = self.aivat_units if aivat else self.units
        rows = [units[session] for session in self.sessions() if session in units]
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
