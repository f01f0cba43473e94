"""The public archive of hands played on IRC: months of `hdb`, `hroster` and `pdb/pdb.NAME`, packed or not.

A month is a directory. Of each hand, named by a time stamp, `hdb` has the public part, `hroster` who was there, and a
player's `pdb` file that player's actions, one string per street:

    hdb      stamp set number players  n/pot n/pot n/pot n/pot  board        (at flop, turn, river and the end)
    hroster  stamp players name ...
    pdb      name stamp players position  preflop flop turn river  bankroll chips_in won  hole cards

Nothing here raises because of what a file contains: what cannot be used is counted and named in `Problems`.
"""

import heapq
import io
import lzma
import re
import tarfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import IO

from poker.errors import PokernetsError
from poker.limits import MOST_FILE_BYTES

STREETS = 4
MAX_EXAMPLES = 20

_ARCHIVES = (".tgz", ".tar.gz", ".tar", ".tar.bz2", ".tar.xz")
_MONTH = re.compile(r"(?<!\d)(?:19|20)\d\d(?:0[1-9]|1[0-2])(?!\d)")


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A line of a `pdb` file. `streets` [4] action letters, `-` removed; chips before the hand, put in and won."""

    name: str
    stamp: int
    dealt: int
    position: int
    streets: tuple[str, ...]
    bankroll: int
    chips_in: int
    won: int
    cards: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HandRow:
    """A line of `hdb`. `counts` [4] (players, pot) at flop, turn, river and at the end; (0, 0) where not reached."""

    stamp: int
    dealt: int
    counts: tuple[tuple[int, int], ...]
    board: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RawHand:
    """Rows of the files for one hand, players by position."""

    row: HandRow
    players: tuple[PlayerRow, ...]


@dataclass
class Problems:
    """Input that could not be used: counts by reason, and the first places where each reason was met."""

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, reason: str, where: str) -> None:
        self.counts[reason] += 1
        if len(self.examples[reason]) < MAX_EXAMPLES:
            self.examples[reason].append(where)

    def take(self, others: "Problems") -> None:
        """Add problems that were met elsewhere, later."""
        self.counts += others.counts
        for reason, where in others.examples.items():
            self.examples[reason] = (self.examples[reason] + where)[:MAX_EXAMPLES]


@dataclass
class _Month:
    """Lines of one month as they come out of an archive, which may hold its files in any order."""

    hands: dict[int, HandRow] = field(default_factory=dict)
    twice: set[int] = field(default_factory=set)
    roster: dict[int, tuple[str, ...]] = field(default_factory=dict)
    rows: dict[int, list[PlayerRow]] = field(default_factory=lambda: defaultdict(list))


_Part = tuple[str, Iterator[RawHand]]
"""The name of an archive or directory, and its hands."""


def read_hands(path: str | Path, problems: Problems) -> Iterator[RawHand]:
    """Hands of an archive (packed, packed in packed, or a directory), month by month, within a month by time stamp."""
    root = Path(path)
    if not root.exists():
        raise PokernetsError(f"no IRC archive at {root}; give the path of a .tgz or of an unpacked directory")
    if root.is_dir():
        parts = _loose_parts(_walk(root, problems), problems)
        packed = sorted(file for file in root.rglob("*") if file.name.endswith(_ARCHIVES))
        parts += [(str(file), read_hands(file, problems)) for file in packed]
        yield from _by_month(parts)
        return
    with root.open("rb") as file:
        yield from _read_packed(file, root.name, problems)


def _read_packed(file: IO[bytes], name: str, problems: Problems) -> Iterator[RawHand]:
    """Hands of the loose files in an archive and of the archives packed inside it, one month at a time."""
    inner: list[tuple[str, bytes]] = []
    parts = _loose_parts(_unpack(file, name, inner, problems), problems)
    parts += [(inner_name, _read_packed(io.BytesIO(data), inner_name, problems)) for inner_name, data in inner]
    yield from _by_month(parts)


def _by_month(parts: Iterable[_Part]) -> Iterator[RawHand]:
    """Months in their order, the games of a month together; parts whose name has no month come first."""
    for _, games in groupby(sorted(parts, key=_month_and_name), key=lambda part: _month_and_name(part)[0]):
        yield from heapq.merge(*(hands for _, hands in games), key=lambda hand: hand.row.stamp)


def _month_and_name(part: _Part) -> tuple[str, str]:
    """(month, name) of a part; the month is the last in the name, as `199504`, or empty."""
    months = _MONTH.findall(part[0])
    return months[-1] if months else "", part[0]


def _unpack(
    file: IO[bytes], name: str, inner: list[tuple[str, bytes]], problems: Problems
) -> Iterator[tuple[str, bytes]]:
    """(path, content) of the files in a tar archive as far as it can be read; archives inside go to `inner`."""
    try:
        with tarfile.open(fileobj=file, mode="r|*") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isfile() else None
                if stream is None:
                    continue
                if member.size > MOST_FILE_BYTES:
                    raise ValueError(f"{member.name} has {member.size:,} bytes")
                data = stream.read()
                if member.name.endswith(_ARCHIVES):
                    inner.append((f"{name}/{member.name}", data))
                else:
                    yield f"{name}/{member.name}", data
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError, ValueError) as error:
        problems.add("archive truncated or damaged", f"{name}: {error}")


def _walk(root: Path, problems: Problems) -> Iterator[tuple[str, bytes]]:
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.name.endswith(_ARCHIVES):
            try:
                yield str(file), file.read_bytes()
            except OSError as error:
                problems.add("file cannot be read", f"{file}: {error}")


def _loose_parts(files: Iterator[tuple[str, bytes]], problems: Problems) -> list[_Part]:
    """Hands of loose files, by game and month."""
    months: dict[str, _Month] = defaultdict(_Month)
    for path, data in files:
        pure = PurePosixPath(path)
        if pure.name in ("hdb", "hroster"):
            reader = _add_hand if pure.name == "hdb" else _add_roster
            _read_lines(path, data, months[str(pure.parent)], reader, problems)
        elif pure.parent.name == "pdb":
            _read_lines(path, data, months[str(pure.parent.parent)], _add_player, problems)
    return [(name, _join(name, month, problems)) for name, month in months.items()]


def _read_lines(
    path: str, data: bytes, month: _Month, add: Callable[[_Month, list[str]], None], problems: Problems
) -> None:
    for number, line in enumerate(data.decode("ascii", errors="replace").splitlines(), start=1):
        fields = line.split()
        if not fields:
            continue
        try:
            add(month, fields)
        except (ValueError, IndexError):
            problems.add("garbled line", f"{path}:{number}: {line[:80]!r}")


def _add_hand(month: _Month, fields: list[str]) -> None:
    stamp, _, _, dealt = map(int, fields[:4])
    counts = tuple(_count(text) for text in fields[4 : 4 + STREETS])
    board = tuple(fields[4 + STREETS :])
    if len(counts) != STREETS or len(board) > 5 or not all(map(_is_card, board)):
        raise ValueError
    if stamp in month.hands:
        month.twice.add(stamp)
    month.hands[stamp] = HandRow(stamp, dealt, counts, board)


def _add_roster(month: _Month, fields: list[str]) -> None:
    names = tuple(fields[2:])
    if len(names) != int(fields[1]):
        raise ValueError
    month.roster[int(fields[0])] = names


def _add_player(month: _Month, fields: list[str]) -> None:
    name, *numbers = fields[:4]
    stamp, dealt, position = map(int, numbers)
    streets = tuple(text.replace("-", "") for text in fields[4:8])
    bankroll, chips_in, won = map(int, fields[8:11])
    cards = tuple(fields[11:])
    if len(cards) > 2 or not all(map(_is_card, cards)):
        raise ValueError
    month.rows[stamp].append(PlayerRow(name, stamp, dealt, position, streets, bankroll, chips_in, won, cards))


def _count(text: str) -> tuple[int, int]:
    players, pot = text.split("/")
    return int(players), int(pot)


def _is_card(text: str) -> bool:
    return len(text) == 2 and text[0] in "23456789TJQKA" and text[1] in "cdhs"


def _join(name: str, month: _Month, problems: Problems) -> Iterator[RawHand]:
    for stamp in sorted(set(month.rows) - set(month.hands)):
        problems.add("players of a hand that hdb does not have", f"{name} {stamp}")
    for stamp in sorted(month.hands):
        row, where = month.hands[stamp], f"{name} {stamp}"
        players = sorted(month.rows.get(stamp, []), key=lambda player: player.position)
        missing = set(month.roster.get(stamp, ())) - {player.name for player in players}
        if stamp in month.twice:
            problems.add("time stamp used twice", where)
        elif missing:
            problems.add("a player of the roster has no line", f"{where}: {', '.join(sorted(missing))}")
        elif row.dealt != len(players) or any(
            (player.position, player.dealt) != (place, row.dealt) for place, player in enumerate(players, start=1)
        ):
            problems.add("positions are not 1 to the number of players", where)
        else:
            yield RawHand(row, tuple(players))
