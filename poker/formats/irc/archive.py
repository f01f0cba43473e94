"""The public archive of hands played on IRC: months of `hdb`, `hroster` and `pdb/pdb.NAME`, packed or not.

A month is a directory, and each hand is identified by a time stamp. `hdb` has the public part, and `hroster` the
players. A player's `pdb` file has that player's actions, one string per street::

    hdb      stamp set number players  n/pot n/pot n/pot n/pot  board        (at flop, turn, river and the end)
    hroster  stamp players name ...
    pdb      name stamp players position  preflop flop turn river  bankroll chips_in won  hole cards

The content of a file never raises an error. Unusable input is counted and named in `Problems`.
"""

import heapq
import io
import lzma
import re
import tarfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path, PurePosixPath
from typing import IO

from poker.run.errors import PokernetsError
from poker.run.limits import MOST_FILE_BYTES

STREETS = 4
MAX_EXAMPLES = 20
_MOST_NESTED = 4
"""Largest depth of nested archives; a year contains months, and a month contains games."""

_ARCHIVES = (".tgz", ".tar.gz", ".tar", ".tar.bz2", ".tar.xz")
_MONTH = re.compile(r"(?<![0-9])(?:19|20)[0-9][0-9](?:0[1-9]|1[0-2])(?![0-9])")
_CARD = re.compile("[2-9TJQKA][cdhs]")
_NUMBER = re.compile("-?[0-9]{1,18}")


@dataclass(frozen=True, slots=True)
class PlayerRow:
    """A line of a `pdb` file.

    Attributes:
        stamp: time stamp of the hand.
        dealt: number of players.
        position: position of the player, from 1.
        streets: [4] action letters of each street, without `-`.
        bankroll: chips before the hand.
        chips_in: chips put in.
        won: chips won.
        cards: hole cards, if known.
    """

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
class RawHand:
    """A line of `hdb` with the rows of its players.

    Attributes:
        stamp: time stamp of the hand.
        dealt: number of players.
        counts: [4] pairs (players, pot) at flop, turn, river and the end; (0, 0) for streets not reached.
        players: rows of the players by position.
    """

    stamp: int
    dealt: int
    counts: tuple[tuple[int, int], ...]
    board: tuple[str, ...]
    players: tuple[PlayerRow, ...] = ()


@dataclass
class Problems:
    """Input that could not be used.

    Attributes:
        counts: number of problems by reason.
        examples: the first places by reason.
    """

    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, reason: str, where: str) -> None:
        """Count a problem.

        Args:
            where: the place.
        """
        self.counts[reason] += 1
        if len(self.examples[reason]) < MAX_EXAMPLES:
            self.examples[reason].append(where)

    def take(self, others: "Problems") -> None:
        """Add the problems of a later part."""
        self.counts += others.counts
        for reason, where in others.examples.items():
            self.examples[reason] = (self.examples[reason] + where)[:MAX_EXAMPLES]


@dataclass
class _Month:
    """Lines of one month from an archive, whose files may come in any order."""

    hands: dict[int, RawHand] = field(default_factory=dict)
    twice: set[int] = field(default_factory=set)
    roster: dict[int, tuple[str, ...]] = field(default_factory=dict)
    rows: dict[int, list[PlayerRow]] = field(default_factory=lambda: defaultdict(list))


_Part = tuple[str, Iterator[RawHand]]
"""The name of an archive or directory, and its hands."""
_Files = Iterator[tuple[str, bytes]]
"""Paths and contents."""


def read_hands(path: str | Path, problems: Problems) -> Iterator[RawHand]:
    """Iterate over the hands of an archive, month by month, and by time stamp within a month.

    Args:
        path: a packed archive, which may contain others, or a directory.
        problems: receives the problems.

    Raises:
        PokernetsError: the path does not exist.
    """
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


def _read_packed(file: IO[bytes], name: str, problems: Problems, depth: int = 0) -> Iterator[RawHand]:
    """Iterate over the hands of the loose files in an archive and of the archives inside it, one month at a time."""
    if depth > _MOST_NESTED:
        problems.add(f"archives nested more than {_MOST_NESTED} deep", name[:200])
        return
    inner: list[tuple[str, bytes]] = []
    parts = _loose_parts(_unpack(file, name, inner, problems), problems)
    parts += [
        (inner_name, _read_packed(io.BytesIO(data), inner_name, problems, depth + 1)) for inner_name, data in inner
    ]
    yield from _by_month(parts)


def _by_month(parts: Iterable[_Part]) -> Iterator[RawHand]:
    """Iterate over months in order, the games of a month together; parts without a month in the name come first."""

    def month(part: _Part) -> str:
        """Return the last month in the name, such as `199504`, or an empty text."""
        *_, last = "", *_MONTH.findall(part[0])
        return str(last)

    for _, games in groupby(sorted(parts, key=lambda part: (month(part), part[0])), key=month):
        yield from heapq.merge(*(hands for _, hands in games), key=lambda hand: hand.stamp)


def _unpack(file: IO[bytes], name: str, inner: list[tuple[str, bytes]], problems: Problems) -> _Files:
    """Iterate over (path, content) of the readable files in a tar archive; archives inside go to `inner`."""
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


def _walk(root: Path, problems: Problems) -> _Files:
    for file in sorted(root.rglob("*")):
        if file.is_file() and not file.name.endswith(_ARCHIVES):
            try:
                yield str(file), file.read_bytes()
            except OSError as error:
                problems.add("file cannot be read", f"{file}: {error}")


def _loose_parts(files: _Files, problems: Problems) -> list[_Part]:
    """Return the hands of loose files, by game and month."""
    months: dict[str, _Month] = defaultdict(_Month)
    for path, data in files:
        *_, name = parts = PurePosixPath(path).parts
        add = _add_player if parts[-2:-1] == ("pdb",) else {"hdb": _add_hand, "hroster": _add_roster}.get(name)
        if add is None:
            continue
        month = months[str(PurePosixPath(path).parents[1 if add is _add_player else 0])]
        for number, line in enumerate(data.decode("ascii", errors="replace").splitlines(), start=1):
            try:
                if fields := line.split():
                    add(month, fields)
            except (ValueError, IndexError):
                problems.add("garbled line", f"{path}:{number}: {line[:80]!r}")
    return [(name, _join(name, month, problems)) for name, month in months.items()]


def _add_hand(month: _Month, fields: list[str]) -> None:
    stamp, _, _, dealt = map(_number, fields[:4])
    counts = []
    for text in fields[4 : 4 + STREETS]:
        players, pot = text.split("/")
        counts.append((_number(players), _number(pot)))
    board = tuple(fields[4 + STREETS :])
    if len(counts) != STREETS or len(board) > 5 or not all(map(_CARD.fullmatch, board)):
        raise ValueError
    if stamp in month.hands:
        month.twice.add(stamp)
    month.hands[stamp] = RawHand(stamp, dealt, tuple(counts), board)


def _add_roster(month: _Month, fields: list[str]) -> None:
    names = tuple(fields[2:])
    if len(names) != _number(fields[1]):
        raise ValueError
    month.roster[_number(fields[0])] = names


def _add_player(month: _Month, fields: list[str]) -> None:
    stamp, dealt, position = map(_number, fields[1:4])
    streets = tuple(text.replace("-", "") for text in fields[4:8])
    bankroll, chips_in, won = map(_number, fields[8:11])
    cards = tuple(fields[11:])
    if len(cards) > 2 or not all(map(_CARD.fullmatch, cards)):
        raise ValueError
    month.rows[stamp].append(PlayerRow(fields[0], stamp, dealt, position, streets, bankroll, chips_in, won, cards))


def _number(text: str) -> int:
    """Read a whole number in digits.

    Raises:
        ValueError: the text is not a whole number.
    """
    if not _NUMBER.fullmatch(text):
        raise ValueError(text)
    return int(text)


def _join(name: str, month: _Month, problems: Problems) -> Iterator[RawHand]:
    for stamp in sorted(set(month.rows) - set(month.hands)):
        problems.add("players of a hand that hdb does not have", f"{name} {stamp}")
    for stamp in sorted(month.hands):
        hand, where = month.hands[stamp], f"{name} {stamp}"
        players = sorted(month.rows.get(stamp, []), key=lambda player: player.position)
        places = [(player.position, player.dealt) for player in players]
        missing = set(month.roster.get(stamp, ())) - {player.name for player in players}
        if stamp in month.twice:
            problems.add("time stamp used twice", where)
        elif missing:
            problems.add("a player of the roster has no line", f"{where}: {', '.join(sorted(missing))}")
        elif len(players) != hand.dealt or places != [(place + 1, hand.dealt) for place in range(hand.dealt)]:
            problems.add("positions are not 1 to the number of players", where)
        else:
            yield replace(hand, players=tuple(players))
