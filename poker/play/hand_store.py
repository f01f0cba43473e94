"""Hands of one line-up on disk: an ACPC log that grows while a match runs, so that a killed match can continue.

A line counts once it ends in a newline, and a session once all its hands are stored; anything incomplete is dropped.
Logs of finished matches are sorted, so that the same match gives the same bytes. Sessions are comparable if they share
the line-up, game, seed, session length and time per decision. A JSON file beside the log records these settings, and
the file names contain their fingerprint. Other files store failures of agents and the commit of this program that
played each session. Hands of another commit count as well, and results name it.

A log may have more hands than its last match counts: hands of an earlier, longer match, or of sessions that were
running when a match stopped early. Once a match is finished, the number of hands that count is stored beside the log;
they are the first ones by number.
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
from poker.formats.phh import why_not_written, write_phhs
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
"""Commit recorded for hands that were played outside git."""


@dataclass(frozen=True)
class Counted:
    """The part of a log that counts.

    Attributes:
        hands: number of hands that count, from the first on.
        session: deals in a session; a session in all seatings is one unit of the confidence intervals.
    """

    hands: int
    session: int


def export(rules: Rules, counted: Mapping[Path, Counted], console: Console) -> None:
    """Write `<log>.counted.json`, and `<log>.phhs` with all hands of the log if the game has that format.

    Args:
        counted: the part of each log that counts.
        console: console for progress.
    """
    for log, what in counted.items():
        write_atomically(_counted_path(log), json.dumps(asdict(what)).encode() + b"\n")
    write_histories(rules, list(counted), console)


def write_histories(rules: Rules, logs: list[Path], console: Console) -> None:
    """Write `<log>.phhs` for each log, hand by hand, so that long logs need no more memory.

    Args:
        console: console for progress, and for the reason if the game has no such format.
    """
    why_not = why_not_written(rules)
    if why_not:
        console.print(f"no .phhs files: {why_not}", soft_wrap=True, highlight=False)
        return
    with console.status("writing hand histories"):
        for log in logs:
            write_phhs(log.with_suffix(".phhs"), read_log(rules, log))


def counted_in(log: Path) -> Counted | None:
    """Return the part of a log that its last finished match counted; None for logs of other programs.

    Raises:
        PokernetsError: the file beside the log is damaged.
    """
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
    """The stored hands of a line-up.

    `kept` has the payoffs and incidents of sessions from earlier runs. With `aivat`, `kept` has only sessions whose
    hands have estimates; the other sessions are in `unestimated`, with their lines. Estimates are JSON lines, with a
    file for each value function. `identity` is a fingerprint of everything that hands and estimates depend on.

    Args:
        folder: folder of the logs.
        rotation: the deals and seatings.
        settings: settings of each agent.
        aivat: whether hands need AIVAT estimates.
        values: settings of the value function, if it is not the default.
        fresh: whether to delete the stored hands.
        locks: receives a lock, until whose release no other process can use these hands; None takes no lock.
    """

    def __init__(
        self,
        folder: Path,
        rotation: Rotation,
        lineup: LineUp,
        settings: dict[str, Any],
        *,
        aivat: bool = False,
        values: dict[str, Any] | None = None,
        fresh: bool = False,
        locks: ExitStack | None = None,
    ) -> None:
        """Open the files, and read the sessions that they have."""
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
        stem = f"{'-'.join(lineup.players)[:80]}-{fingerprint_of(record)[:10]}"
        mark = "" if values is None else f".{fingerprint_of_settings(values)[:10]}"
        self.path = folder / f"{stem}.log"
        self.identity = f"{stem}{mark}"
        self._failures = JsonLines(folder / f"{stem}.failures.jsonl")
        self._commits = JsonLines(folder / f"{stem}.commits.jsonl")
        self._estimates = JsonLines(folder / f"{stem}{mark}.aivat.jsonl")
        if locks is not None:
            in_use = f"another process plays {lineup.title} with the same settings into {self.path}: wait until it ends"
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
        """Sort the files of a finished match."""
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
        """Append the hands of a session in one write, and record the commit in it."""
        record.commit = self._commit
        self._commits.append([[session, session, record.commit]])
        self._failures.append([vars(incident) for incident in record.incidents])
        self.revise(record)
        append_lines(self.path, record.lines)

    def revise(self, record: SessionRecord) -> None:
        """Append the estimates of a session, which replace earlier ones."""
        rows = zip(record.lines, record.aivat, strict=True) if record.aivat else ()
        self._estimates.append([[self._number(line), chips, record.unknown] for line, chips in rows])

    def records(self) -> dict[int, SessionRecord]:
        """Return all sessions kept or added so far, with their lines."""
        lines = self._read()
        for session, record in self.kept.items():
            record.lines = [lines[number] for number in self._numbers(session)]
        return self.kept

    def _lines(self) -> dict[int, str]:
        """Return the lines of all complete sessions by hand number."""
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
        """Return the lines, and fill `kept` and `unestimated`."""
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
        for incident in self._failures.rows(lambda row: Incident(**row)):
            session = incident.hand // size
            earlier = self.kept.get(session) or self.unestimated.get(session)
            if earlier is not None and incident not in earlier.incidents:
                earlier.incidents.append(incident)
        return lines

    def _numbers(self, session: int) -> list[int]:
        """Return the hands of a session in the order of its record."""
        seatings, size = len(self._rotation.seatings), self._rotation.hands_per_session
        return [session * size + i * seatings + seat for seat in range(seatings) for i in range(size // seatings)]

    def _estimate_of(self) -> dict[int, tuple[list[float], dict[str, str]]]:
        """Return for each hand number the estimates by entry, and the agents that count as unknown in them."""
        return dict(self._estimates.rows(lambda row: (int(row[0]), ([*map(float, row[1])], dict(row[2])))))

    def _commit_of(self) -> dict[int, str]:
        """Return the commit that played each session; rows are runs of sessions, and later rows count."""
        rows = self._commits.rows(lambda row: (int(row[0]), int(row[1]), str(row[2])))
        return {session: sys.intern(name) for first, last, name in rows for session in range(first, last + 1)}

    def _write_sorted(self, lines: dict[int, str]) -> None:
        header = f"# {self._rotation.rules.name}: {self._lineup.title}, seed {self._rotation.seed}\n"
        body = "".join(f"{lines[number]}\n" for number in sorted(lines))
        write_atomically(self.path, (header + body).encode())

    def _number(self, line: str) -> int:
        fields = line.split(":")
        if len(fields) != 6 or fields[0] != "STATE" or not fields[1].isdecimal():
            raise PokernetsError(f"{self.path} has a line that is not a hand: `{line[:80]}`; move the file away")
        return int(fields[1])

    def _by_entry(self, line: str) -> list[int]:
        *_, payoffs, names = line.split(":")
        by_name = dict(zip(names.split("|"), payoffs.split("|"), strict=True))
        return [int(by_name[label]) for label in self._lineup.labels]
