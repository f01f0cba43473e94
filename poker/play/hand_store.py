"""Hands of one line-up, on disk: an ACPC log that grows while a match runs, so that a killed match continues.

A line counts once it ends in a newline, and a session once all its hands are there; what a kill left unfinished is
dropped. Logs of finished matches are put in order, so that the same match gives the same bytes. Sessions are comparable
for one line-up, game, seed, session length and time for decisions; a JSON file beside the log records these, and the
file names hold their fingerprint. Further files keep failures of agents, and which commit of this program played which
sessions: hands of another commit count, and results name it.

A log may hold more hands than its last match counts: those of an earlier, longer match, and of sessions under way when
a match stopped early. The hands that count, the first by number, are noted beside a log once its match is finished.
"""

import glob
import json
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from poker.formats.acpc.log import read_log
from poker.formats.phh import unwritable, write_phhs
from poker.game.rules import Rules
from poker.play.hand import Incident
from poker.play.lineup import LineUp, Rotation
from poker.play.session import SessionRecord
from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError
from poker.run.lock import alone
from poker.run.progress import Console
from poker.store.artifacts import artifacts_in, fingerprint_of, fingerprint_of_settings
from poker.store.lines import JsonLines, append_lines
from poker.store.provenance import commit

UNKNOWN = "unknown"
"""Commit of hands that were played outside git."""


@dataclass(frozen=True)
class Counted:
    """The first `hands` hands of a log count; `session` deals in all seatings are one unit of the intervals."""

    hands: int
    session: int


def export(rules: Rules, counted: Mapping[Path, Counted], console: Console) -> None:
    """Writes `<log>.counted.json` and, of games that have one, `<log>.phhs` with all hands of the log."""
    for log, what in counted.items():
        write_atomically(_counted_path(log), json.dumps(asdict(what)).encode() + b"\n")
    write_histories(rules, list(counted), console)


def write_histories(rules: Rules, logs: list[Path], console: Console) -> None:
    """Write `<log>.phhs` for each log, hand by hand, so that long logs take no more memory."""
    why_not = unwritable(rules)
    if why_not:
        console.print(f"no .phhs files: {why_not}", soft_wrap=True, highlight=False)
        return
    with console.status("writing poker hand histories"):
        for log in logs:
            write_phhs(log.with_suffix(".phhs"), read_log(rules, log))


def counted_in(log: Path) -> Counted | None:
    """The hands that the last finished match with this log counted; None for logs that no match of ours wrote."""
    path = _counted_path(log)
    if not path.exists():
        return None
    try:
        counted = Counted(**json.loads(path.read_text(encoding="utf-8")))
        if any(type(number) is not int or number < 1 for number in vars(counted).values()):
            raise ValueError(counted)
    except (ValueError, TypeError) as error:
        raise PokernetsError(f"{path} is damaged: {error}; remove it, or play the match again") from error
    return counted


def _counted_path(log: Path) -> Path:
    return log.with_suffix(".counted.json")


class HandStore:
    """The stored hands of a line-up; `kept` has payoffs and incidents of earlier runs' sessions, `fresh` deletes these.

    With `aivat`, `kept` has only sessions whose hands have estimates; others are in `unestimated`, with their lines.
    Estimates are JSON lines, a file for each value function; `values` are the settings of one that is not the default.
    `identity` stands for all that hands and estimates depend on. With `locks`, no other process may use the same
    hands until these are closed.
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
        fresh: bool = False,
        locks: ExitStack | None = None,
    ) -> None:
        self._rotation = rotation
        self._lineup = lineup
        self._aivat = aivat
        record = {
            "table": list(lineup.players),
            "game": rotation.rules.to_acpc(),
            "seed": rotation.seed,
            "session": rotation.session,
            "agents": settings,
            "artifacts": artifacts_in(settings),
        }
        if decision_seconds is not None:
            record["decision_seconds"] = decision_seconds
        stem = f"{'-'.join(lineup.players)[:80]}-{fingerprint_of(record)[:10]}"
        mark = "" if values is None else f".{fingerprint_of_settings(values)[:10]}"
        self.path = folder / f"{stem}.log"
        self.identity = f"{stem}{mark}"
        self._failures = JsonLines(folder / f"{stem}.failures.jsonl")
        self._commits = JsonLines(folder / f"{stem}.commits.jsonl")
        self._estimates = JsonLines(folder / f"{stem}{mark}.aivat.jsonl")
        if locks is not None:
            in_use = f"another process plays {lineup.title} with the same settings into {self.path}: wait for its end"
            locks.enter_context(alone(folder, in_use, stem))
        if fresh:
            estimates = folder.glob(f"{glob.escape(stem)}*.aivat.jsonl")
            for path in (self.path, self._failures.path, self._commits.path, *estimates):
                path.unlink(missing_ok=True)
        folder.mkdir(parents=True, exist_ok=True)
        if not (folder / f"{stem}.json").exists():
            write_atomically(folder / f"{stem}.json", json.dumps(record, indent=1).encode() + b"\n")
        for file in (self._failures, self._commits, self._estimates):
            file.cut_unfinished()
        self.kept: dict[int, SessionRecord] = {}
        self.unestimated: dict[int, SessionRecord] = {}
        self._write_sorted(self._read())

    @cached_property
    def _commit(self) -> str:
        return commit() or UNKNOWN

    def put_in_order(self) -> None:
        """Sort the files of a match that is over."""
        self._write_sorted(self._lines())
        runs: list[list[Any]] = []
        for session, name in sorted(self._commit_of().items()):
            if runs and runs[-1][1:] == [session - 1, name]:
                runs[-1][1] = session
            else:
                runs.append([session, session, name])
        self._commits.replace(runs)
        self._estimates.replace([[number, *row] for number, row in sorted(self._estimate_of().items())])

    def add(self, session: int, record: SessionRecord) -> None:
        """Appends the hands of a session in one write, and notes in the record who played them."""
        record.commit = self._commit
        self._commits.append([[session, session, record.commit]])
        self._failures.append([vars(incident) for incident in record.incidents])
        self.revise(record)
        append_lines(self.path, record.lines)

    def revise(self, record: SessionRecord) -> None:
        """Appends the estimates of a session; they count instead of earlier ones."""
        rows = zip(record.lines, record.aivat, strict=True) if record.aivat else ()
        self._estimates.append([[self._number(line), chips, record.unknown] for line, chips in rows])

    def records(self) -> dict[int, SessionRecord]:
        """All sessions kept or added so far, with their lines."""
        lines = self._read()
        for session, record in self.kept.items():
            record.lines = [lines[number] for number in self._numbers(session)]
        return self.kept

    def _lines(self) -> dict[int, str]:
        """Lines of all complete sessions by hand number."""
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
        lines, commits = self._lines(), self._commit_of()
        estimates = self._estimate_of() if self._aivat else {}
        size = self._rotation.hands_per_session
        self.kept, self.unestimated = {}, {}
        for session in sorted({number // size for number in lines}):
            numbers = self._numbers(session)
            payoffs = [self._by_entry(lines[number]) for number in numbers]
            record = SessionRecord(payoffs=payoffs, commit=commits.get(session, UNKNOWN))
            if self._aivat and not estimates.keys() >= set(numbers):
                record.lines = [lines[number] for number in numbers]
                self.unestimated[session] = record
                continue
            if self._aivat:
                record.aivat = [estimates[number][0] for number in numbers]
                record.unknown = estimates[numbers[0]][1]
            self.kept[session] = record
        for row in self._failures.rows():
            incident = Incident(**row)
            session = incident.hand // size
            earlier = self.kept.get(session) or self.unestimated.get(session)
            if earlier is not None and incident not in earlier.incidents:
                earlier.incidents.append(incident)
        return lines

    def _numbers(self, session: int) -> list[int]:
        """Hands of the session in the order of its record."""
        seatings, size = len(self._rotation.seatings), self._rotation.hands_per_session
        return [session * size + i * seatings + seat for seat in range(seatings) for i in range(size // seatings)]

    def _estimate_of(self) -> dict[int, tuple[list[float], dict[str, str]]]:
        """Estimates by entry, and the agents that count as unknown in them, for each hand number."""
        return {number: (chips, unknown) for number, chips, unknown in self._estimates.rows()}

    def _commit_of(self) -> dict[int, str]:
        """The commit that played each session, from rows of runs of sessions; the later row counts."""
        rows = self._commits.rows()
        return {session: sys.intern(name) for first, last, name in rows for session in range(first, last + 1)}

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
