"""Hands of one line-up, on disk: an ACPC log that grows while a match runs, so that a killed match continues.

A line counts once it ends in a newline, and a session once all its hands are there; what a kill left unfinished is
dropped. When a match is over its logs are put in order, so that the same match gives the same bytes. Sessions are
comparable for one line-up, game, seed, session length and time for decisions; a JSON file beside the log records these,
and the file names hold their fingerprint. Further files of JSON lines keep failures of agents, and which commit of this
program played which sessions: hands of another commit count, and results name it.
"""

import glob
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

from poker.artifacts import MANIFEST, file_sha256, fingerprint_of, write_atomically
from poker.errors import PokernetsError
from poker.play.hand import Incident
from poker.play.lineup import LineUp, Rotation
from poker.play.session import SessionRecord
from poker.provenance import commit

UNKNOWN = "unknown"
"""Commit of hands that were played outside git."""


class HandStore:
    """Context manager. `kept` holds payoffs and incidents of the sessions that earlier runs played.

    With `aivat` these are the sessions whose hands have estimates, which are kept as JSON lines in a file of their own
    for every value function: `values` are the settings of one that is not the default. Sessions without them are
    `unestimated`, with their lines.
    """

    def __init__(
        self,
        folder: Path,
        rotation: Rotation,
        lineup: LineUp,
        settings: dict[str, Any],
        *,
        aivat: bool = False,
        decision_seconds: float | None = None,
        values: dict[str, Any] | None = None,
    ) -> None:
        self._rotation = rotation
        self._lineup = lineup
        self._record = {
            "table": list(lineup.players),
            "game": rotation.rules.to_acpc(),
            "seed": rotation.seed,
            "session": rotation.session,
            "agents": settings,
            "artifacts": _artifacts(settings),
        }
        if decision_seconds is not None:
            self._record["decision_seconds"] = decision_seconds
        stem = f"{'-'.join(lineup.players)[:80]}-{fingerprint_of(self._record)[:10]}"
        self.path = folder / f"{stem}.log"
        self._record_path = folder / f"{stem}.json"
        self._failures_path = folder / f"{stem}.failures.jsonl"
        self._all_estimates = f"{glob.escape(stem)}*.aivat.jsonl"
        mark = "" if values is None else f".{fingerprint_of([values, _artifacts(values)])[:10]}"
        self._aivat_path = folder / f"{stem}{mark}.aivat.jsonl"
        self._commits_path = folder / f"{stem}.commits.jsonl"
        self._aivat = aivat
        self._commit: str | None = None
        self.kept: dict[int, SessionRecord] = {}
        self.unestimated: dict[int, SessionRecord] = {}
        self._file: TextIO | None = None

    def __enter__(self) -> "HandStore":
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if not self._record_path.exists():
            write_atomically(self._record_path, json.dumps(self._record, indent=1).encode() + b"\n")
        for path in (self._failures_path, self._commits_path, self._aivat_path):
            _cut_unfinished_line(path)
        lines = self._read()
        self._write_sorted(lines)
        self._file = self.path.open("a", encoding="ascii")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
        if kind is None:
            self._write_sorted(self._lines())
            self._write_commits()
            if self._aivat_path.exists():
                rows = [[number, *row] for number, row in sorted(self._estimates().items())]
                write_atomically(self._aivat_path, "".join(f"{json.dumps(row)}\n" for row in rows).encode())

    def discard(self) -> None:
        """Forgets the hands of earlier runs."""
        self.path.unlink(missing_ok=True)
        estimates = self.path.parent.glob(self._all_estimates)
        for path in (self._failures_path, self._commits_path, *estimates):
            path.unlink(missing_ok=True)

    def add(self, session: int, record: SessionRecord) -> None:
        """Appends the hands of a session in one write, and notes in the record who played them."""
        assert self._file is not None
        if self._commit is None:
            self._commit = commit() or UNKNOWN
        record.commit = self._commit
        _append(self._commits_path, [[session, session, self._commit]])
        _append(self._failures_path, [vars(incident) for incident in record.incidents])
        self.revise(record)
        self._file.write("".join(f"{line}\n" for line in record.lines))
        self._file.flush()

    def revise(self, record: SessionRecord) -> None:
        """Appends the estimates of a session; they count instead of earlier ones."""
        if record.aivat:
            rows = [
                [self._number(line), chips, record.unknown]
                for line, chips in zip(record.lines, record.aivat, strict=True)
            ]
            _append(self._aivat_path, rows)

    def records(self) -> dict[int, SessionRecord]:
        """All sessions kept or added so far, with their lines."""
        lines = self._read()
        for session, record in self.kept.items():
            record.lines = [lines[number] for number in self._numbers(session)]
        return self.kept

    def _lines(self) -> dict[int, str]:
        """By hand number, of all complete sessions."""
        if not self.path.exists():
            return {}
        text = self.path.read_bytes().decode("ascii", errors="replace")
        whole = text[: text.rfind("\n") + 1]
        lines = {self._number(line): line for line in whole.splitlines() if not line.startswith("#")}
        size = self._rotation.hands_per_session
        first = {number // size * size for number in lines}
        complete = [start for start in sorted(first) if all(start + i in lines for i in range(size))]
        return {start + i: lines[start + i] for start in complete for i in range(size)}

    def _read(self) -> dict[int, str]:
        """The lines; fills `kept` and `unestimated`."""
        lines = self._lines()
        size = self._rotation.hands_per_session
        complete = [start for start in lines if start % size == 0]
        estimates = self._estimates() if self._aivat else {}
        failures = self._failures()
        self.kept, self.unestimated = {}, {}
        commits = self._commits()
        for start in complete:
            session = start // size
            numbers = self._numbers(session)
            record = SessionRecord(payoffs=[self._by_entry(lines[number]) for number in numbers])
            record.commit = commits.get(session, UNKNOWN)
            if self._aivat and not all(number in estimates for number in numbers):
                record.lines = [lines[number] for number in numbers]
                self.unestimated[session] = record
                continue
            if self._aivat:
                record.aivat = [estimates[number][0] for number in numbers]
                record.unknown = estimates[start][1]
            self.kept[session] = record
        for incident in failures:
            session = incident.hand // size
            found = self.kept.get(session) or self.unestimated.get(session)
            if found is not None and incident not in found.incidents:
                found.incidents.append(incident)
        return lines

    def _numbers(self, session: int) -> list[int]:
        """Hands of the session in the order of its record."""
        seatings, size = len(self._rotation.seatings), self._rotation.hands_per_session
        return [session * size + i * seatings + seat for seat in range(seatings) for i in range(size // seatings)]

    def _estimates(self) -> dict[int, tuple[list[float], dict[str, str]]]:
        """By hand number: estimates by entry, and the agents that count as unknown in them."""
        return {number: (chips, unknown) for number, chips, unknown in _json_lines(self._aivat_path)}

    def _commits(self) -> dict[int, str]:
        """By session; what was played again counts as the later commit's."""
        rows = _json_lines(self._commits_path)
        return {session: sys.intern(commit) for first, last, commit in rows for session in range(first, last + 1)}

    def _write_commits(self) -> None:
        """Lines of runs of sessions: first, last, commit."""
        runs: list[list[Any]] = []
        for session, name in sorted(self._commits().items()):
            if runs and runs[-1][1:] == [session - 1, name]:
                runs[-1][1] = session
            else:
                runs.append([session, session, name])
        if runs:
            write_atomically(self._commits_path, "".join(f"{json.dumps(run)}\n" for run in runs).encode())

    def _failures(self) -> list[Incident]:
        return [Incident(**row) for row in _json_lines(self._failures_path)]

    def _write_sorted(self, lines: dict[int, str]) -> None:
        header = f"# {self._rotation.rules.name}: {self._lineup.title}, seed {self._rotation.seed}\n"
        body = "".join(f"{lines[number]}\n" for number in sorted(lines))
        write_atomically(self.path, (header + body).encode())

    def _number(self, line: str) -> int:
        fields = line.split(":")
        if len(fields) != 6 or fields[0] != "STATE" or not fields[1].isdecimal():
            raise PokernetsError(f"{self.path} holds a line that is no hand: `{line[:80]}`; move the file away")
        return int(fields[1])

    def _by_entry(self, line: str) -> list[int]:
        *_, payoffs, names = line.split(":")
        by_name = dict(zip(names.split("|"), payoffs.split("|"), strict=True))
        return [int(by_name[label]) for label in self._lineup.labels]


def _json_lines(path: Path) -> Iterator[Any]:
    """All but a line that a kill cut short; none if there is no such file."""
    if not path.exists():
        return
    try:
        with path.open(encoding="utf-8", errors="replace") as file:
            for line in file:
                if line.endswith("\n"):
                    yield json.loads(line)
    except json.JSONDecodeError as error:
        raise PokernetsError(f"{path} holds a line that is no JSON ({error}); `fresh=true` plays all anew") from error


def _append(path: Path, rows: list[Any]) -> None:
    """One write, so that a kill leaves at most one line unfinished."""
    if rows:
        with path.open("a", encoding="utf-8") as file:
            file.write("".join(f"{json.dumps(row)}\n" for row in rows))


def _cut_unfinished_line(path: Path) -> None:
    """What a kill cut short is dropped, so that the next line does not begin in it."""
    if path.exists():
        data = path.read_bytes()
        whole = data.rfind(b"\n") + 1
        if whole < len(data):
            os.truncate(path, whole)


def _artifacts(value: Any) -> dict[str, str]:
    """Paths among the settings that are artifacts, with the checksums of their manifests."""
    if isinstance(value, dict):
        return {path: sha for item in value.values() for path, sha in _artifacts(item).items()}
    if isinstance(value, list | tuple):
        return {path: sha for item in value for path, sha in _artifacts(item).items()}
    if isinstance(value, str) and len(value) < 4096 and (Path(value) / MANIFEST).is_file():
        return {value: file_sha256(Path(value) / MANIFEST)}
    return {}
