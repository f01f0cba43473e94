"""Hands in one SQLite file (sessions of the table, matches, files of sites), searched by what happened in them.

A line is the betting in letters without amounts: f, x (check), c, b (the first bet of a round after the flop) and r,
with `/` between rounds. A decision is stored with the line before it. Its cost, known once it is reviewed, is the loss
that is certain. Results are in big blinds of the hand. The text of a hand is stored as PHH, so that it can be shown and
reviewed.
"""

import hashlib
import json
import re
import sqlite3
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from poker.evaluation.tally import stakes
from poker.formats.histories import PHH, hand_texts, hands_of, owner, text_of, why_unwritable
from poker.formats.played import HistoryError, PlayedHand
from poker.formats.ranges import parse_range
from poker.formats.sites.times import utc_time
from poker.game.cards import cards_text, hand_text
from poker.game.odds import all_in_winnings
from poker.game.rules import Rules
from poker.opponents.profiles import VPIP, Profile, profiles
from poker.run.errors import PokernetsError

_MOST_PAGES = 1 << 16
"""Most pages of 4 KiB in a file, enough for some hundred thousand hands."""
_DEALT = re.compile(r"\bd dh (p[0-9]+) ([0-9A-Za-z?]+)")
"""Pattern of hole cards in the text of a hand."""
_LETTER = {"fold": "f", "check": "x", "call": "c", "bet": "b", "raise": "r"}
_LETTERS = "fxcbr/*?"
_MOST_LETTERS = 100
_MOST_STARS = 3
"""Most stars in a pattern; each multiplies the matching time by the length of the line."""
_DECISIONS = "JOIN decisions d ON d.player = s.player AND d.hand = s.hand"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS hands (
    id INTEGER PRIMARY KEY, source TEXT, key TEXT UNIQUE, number INTEGER, players INTEGER, big_blind INTEGER,
    board TEXT, line TEXT, text TEXT, begun TEXT DEFAULT '', stakes TEXT DEFAULT '', pot REAL);
CREATE INDEX IF NOT EXISTS by_source ON hands (source, number);
CREATE TABLE IF NOT EXISTS seats (
    hand INTEGER, player TEXT, position TEXT, cards TEXT, net REAL, expected REAL,
    PRIMARY KEY (player, hand)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decisions (
    hand INTEGER, player TEXT, place INTEGER, betting TEXT, line TEXT, action TEXT, cost REAL,
    PRIMARY KEY (player, hand, place)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counts (
    hand INTEGER, player TEXT, measure TEXT, did INTEGER, opportunities INTEGER, PRIMARY KEY (hand, player, measure)
    ) WITHOUT ROWID;
"""
_VERSION = 2
"""Version of the schema and of the keys, as SQLite's `user_version`."""
ORDERS = {
    **{"begun": "h.begun", "stakes": "h.stakes", "position": "s.position", "cards": "s.cards", "board": "h.board"},
    **{"line": "h.line", "pot": "h.pot", "net": "s.net", "expected": "COALESCE(s.expected, s.net)"},
    "cost": "(SELECT SUM(cost) FROM decisions d WHERE d.player = s.player AND d.hand = h.id)",
}
"""Columns of a list of hands with the SQL expressions that they are sorted by."""


class SeatRow(NamedTuple):
    """A player's seat in a hand.

    Attributes:
        position: the player's position.
        cards: the hole cards, the higher one first; empty if unknown.
        net: net big blinds.
        expected: the mean of `net` over the cards that came after an all-in; None without one.
    """

    player: str
    position: str
    cards: str
    net: float
    expected: float | None


class HandRow(NamedTuple):
    """A hand; two with the same `key` are the same hand unless they show other cards.

    `begun` is its date and time in ISO 8601, or empty; `pot` is in big blinds. `decisions` has the player, the number
    of the decision among theirs, the betting before it (letters of ACPC logs), the line before it and the letter of the
    action. `counts` has the player, a measure of
    `poker.opponents.profiles`, and how often of how many opportunities.
    """

    key: str
    number: int
    players: int
    big_blind: int
    board: str
    line: str
    text: str
    begun: str
    stakes: str
    pot: float
    seats: list[SeatRow]
    decisions: list[tuple[str, int, str, str, str]]
    counts: list[tuple[str, str, int, int]]


class ListedHand(NamedTuple):
    """A hand in a player's list; `cost` is the cost of its reviewed decisions, None if there are none."""

    hand: int
    begun: str
    stakes: str
    position: str
    cards: str
    board: str
    line: str
    pot: float
    net: float
    expected: float
    cost: float | None


class Leak(NamedTuple):
    """Decisions of one kind: the number that are reviewed, and their total cost in big blinds."""

    position: str
    line: str
    action: str
    decisions: int
    cost: float


@dataclass(frozen=True)
class HandSearch:
    """A search for hands and decisions of a player.

    Attributes:
        source: source of the hands; empty for any.
        position: position of the player; empty for any.
        line: pattern of the line before a decision (`*` any letters, `?` one letter); empty for any.
        stakes: the blinds, such as `$0.50/$1`; empty for any.
        since: first day in ISO 8601; empty for any.
        until: last day; empty for any.
        cards: range of the player's cards (`poker.formats.ranges`); empty for any cards, known or not.
    """

    player: str
    source: str = ""
    position: str = ""
    line: str = ""
    stakes: str = ""
    since: str = ""
    until: str = ""
    cards: str = ""

    def __post_init__(self) -> None:
        """Check the pattern and the range.

        Raises:
            PokernetsError: the pattern has other letters, or too many letters or stars, or the range is none.
        """
        if self.cards:
            parse_range(self.cards)
        if set(self.line) - set(_LETTERS) or len(self.line) > _MOST_LETTERS or self.line.count("*") > _MOST_STARS:
            raise PokernetsError(
                f"a line has at most {_MOST_LETTERS} letters of `{_LETTERS}` and at most {_MOST_STARS} `*`,"
                f" unlike `{self.line[:40]}`"
            )

    def where(self) -> tuple[str, list[object]]:
        """Return the SQL condition on seats `s` and hands `h`, and its values."""
        terms, values = ["s.player = ?"], list[object]([self.player])
        equal = {"h.source": self.source, "s.position": self.position, "h.stakes": self.stakes}
        for column, value in equal.items():
            if value:
                terms.append(f"{column} = ?")
                values.append(value)
        if self.since or self.until:
            terms.append("h.begun BETWEEN ? AND ?")
            values += [self.since or "0", f"{self.until or 9}~"]  # a time sorts before `~`, an unknown one before `0`
        if self.cards:
            terms.append("s.cards IN (SELECT value FROM json_each(?))")
            values.append(json.dumps([hand_text(hand) for hand in np.flatnonzero(parse_range(self.cards)).tolist()]))
        if self.line:
            line = "d.line GLOB ?"
            terms.append(f"EXISTS (SELECT 1 FROM decisions d WHERE d.player = s.player AND d.hand = h.id AND {line})")
            values.append(self.line)
        return " AND ".join(terms), values


def rows_of(hands: Iterable[PlayedHand], mark: str) -> Iterator[HandRow]:
    """Yield the rows of the hands of a file or session.

    Args:
        mark: part of the keys of hands that have no site, or neither a number nor a time.
    """
    for number, hand in enumerate(hands):
        rules = hand.rules
        text = "" if why_unwritable(PHH, hand) else "".join(hand_texts(PHH, [hand]))
        names, expected = rules.positions, _expected(hand)
        seats = [
            SeatRow(
                name,
                names[seat],
                cards_text(sorted(hand.state.hole_cards[seat], reverse=True)),
                hand.payoffs[seat] / rules.big_blind,
                None if expected is None else expected[seat] / rules.big_blind,
            )
            for seat, name in enumerate(hand.names)
        ]
        decisions, places = list[tuple[str, int, str, str, str]](), [0] * rules.num_players
        line, street = "", 0
        for before, player, action in hand.state.betting.turns():
            line += "/" * (before.street - street)
            street, letter = before.street, _LETTER[before.verb(action)]
            decisions.append((hand.names[player], places[player], before.text(), line, letter))
            places[player] += 1
            line += letter
        board = cards_text(hand.state.board)
        own, begun = hand.details.get("hand", hand.number) if hand.has_number else None, _begun(hand)
        played = rules.starting_stacks, hand.state.betting.text(), board  # some files repeat numbers
        site = repr((hand.details.get("venue"), own, begun, hand.details.get("table"), hand.names, played))
        is_known = "venue" in hand.details and (hand.has_number or ":" in begun)
        key = hashlib.sha256(site.encode()).hexdigest() if is_known else f"{mark}/{number}"
        counts = [
            (name, measure, profile.did[measure], profile.opportunities[measure])
            for name, profile in profiles([hand]).items()
            for measure in profile.did.keys() | profile.opportunities.keys()
        ]
        pot = sum(hand.paid) / rules.big_blind
        shown = key, number, rules.num_players, rules.big_blind, board, line, text, begun, stakes(hand), pot
        yield HandRow(*shown, seats, decisions, counts)


def _begun(hand: PlayedHand) -> str:
    """Return the date and time of a hand in UTC, as far as the file has them."""
    begun = utc_time(hand.details)
    if isinstance(begun, datetime):
        return begun.isoformat(" ", "seconds")
    return begun.isoformat() if begun else ""


def _expected(hand: PlayedHand) -> list[float] | None:
    """Return the net chips [P] that an all-in wins on average, less the rake; None without one or without the cards."""
    winnings = all_in_winnings(hand.state)
    if winnings is None:
        return None
    kept = 1.0 - hand.rake / sum(hand.paid)
    return [chips * kept - paid for chips, paid in zip(winnings.tolist(), hand.paid, strict=True)]


class FileRows(NamedTuple):
    """The hands of a file.

    Attributes:
        owner: the player whose cards the file shows; empty if there is none.
        errors: errors of hands that cannot be read.
    """

    hands: list[HandRow]
    owner: str
    errors: list[HistoryError]


def rows_in(name: str, data: bytes, game: Rules) -> FileRows:
    """Return the rows of the hands in a file; hands that cannot be read are left out.

    Args:
        name: name of the file.
        data: its content.
        game: the game, for formats that do not state it.

    Raises:
        HistoryError: it is not a file of hands, or none of them can be read.
    """
    errors: list[HistoryError] = []
    text = text_of(data)
    rows = list(rows_of(hands_of(text, name, game, errors.append), hashlib.sha256(data).hexdigest()))
    if not rows and errors:
        raise errors[0]
    seen = Counter(seat.player for row in rows for seat in row.seats if seat.cards)
    return FileRows(rows, owner(text, seen), errors)


def _add_cards(base: sqlite3.Connection, hand: HandRow) -> None:
    """Add hole cards to the hand with the same key if they are unknown there."""
    number, before = base.execute("SELECT id, text FROM hands WHERE key = ?", (hand.key,)).fetchone()
    cards_by_player = dict(_DEALT.findall(hand.text))
    text = _DEALT.sub(
        lambda dealt: f"d dh {dealt[1]} {cards_by_player.get(dealt[1], '????')}" if "?" in dealt[2] else dealt[0],
        before,
    )
    if text == before:
        return
    base.execute("UPDATE hands SET text = ? WHERE id = ?", (text, number))
    for merged in rows_of(hands_of(text, "the hand"), ""):
        seats = ((seat.cards, seat.expected, number, seat.position) for seat in merged.seats)
        base.executemany("UPDATE seats SET cards = ?, expected = ? WHERE hand = ? AND position = ?", seats)


def _has_other_cards(base: sqlite3.Connection, hand: HandRow) -> bool:
    """Return whether the hand with the same key has other known cards, so that it is another hand."""
    sql = "SELECT 1 FROM seats JOIN hands ON id = hand WHERE player = ? AND key = ? AND cards NOT IN ('', ?)"
    return any(seat.cards and base.execute(sql, (seat.player, hand.key, seat.cards)).fetchone() for seat in hand.seats)


class HandBase:
    """The database of hands in a file; any thread may use it.

    Its methods raise PokernetsError if the file is not such a database, or is full.

    Args:
        path: the file.
    """

    def __init__(self, path: Path) -> None:
        """Make the file if it does not exist.

        Raises:
            PokernetsError: the file is not such a database.
        """
        self._path = path
        path.parent.mkdir(parents=True, exist_ok=True)
        with self._open() as base:
            sql = "SELECT COUNT(*), user_version FROM sqlite_master, pragma_user_version"
            tables, version = base.execute(sql).fetchone()
            if tables and version != _VERSION:
                raise sqlite3.DatabaseError("another version of pokernets wrote it")
            base.executescript(f"{_SCHEMA} PRAGMA user_version = {_VERSION};")

    def add(self, source: str, hands: Iterable[HandRow]) -> int:
        """Add the new hands of a source, and hole cards that the source has to hands that lack them.

        Returns:
            the number of hands added.
        """
        added = 0
        with self._open() as base:
            for hand in hands:
                if _has_other_cards(base, hand):
                    hand = hand._replace(key=f"{hand.key} {' '.join(seat.cards for seat in hand.seats)}")
                row = (source, *hand[:-3])
                cursor = base.execute(f"INSERT OR IGNORE INTO hands VALUES (NULL{', ?' * len(row)})", row)
                if cursor.rowcount < 1:
                    _add_cards(base, hand)
                    continue
                added += 1
                number = cursor.lastrowid
                seats = ((number, *seat) for seat in hand.seats)
                base.executemany("INSERT OR IGNORE INTO seats VALUES (?, ?, ?, ?, ?, ?)", seats)
                decisions = ((number, *one) for one in hand.decisions)
                base.executemany("INSERT OR IGNORE INTO decisions VALUES (?, ?, ?, ?, ?, ?, NULL)", decisions)
                counts = ((number, *one) for one in hand.counts)
                base.executemany("INSERT OR IGNORE INTO counts VALUES (?, ?, ?, ?, ?)", counts)
        return added

    def set_costs(self, costs: Iterable[tuple[float, int, str, int]]) -> None:
        """Store (cost in big blinds, hand, player, place) of decisions."""
        with self._open() as base:
            base.executemany("UPDATE decisions SET cost = ? WHERE hand = ? AND player = ? AND place = ?", costs)

    def players(self) -> list[tuple[str, int]]:
        """Return up to a hundred players with known cards and the number of these hands, the most first."""
        sql = "SELECT player, COUNT(*) FROM seats WHERE cards != '' GROUP BY player ORDER BY 2 DESC, 1 LIMIT 100"
        return self._rows(sql, [])

    def sources(self) -> list[tuple[str, int]]:
        """Return the sources and the number of hands of each, the latest first."""
        return self._rows("SELECT source, COUNT(*) FROM hands GROUP BY source ORDER BY MAX(id) DESC", [])

    def stakes(self) -> list[str]:
        """Return the stakes of the hands, the most frequent first."""
        sql = "SELECT stakes FROM hands WHERE stakes != '' GROUP BY 1 ORDER BY COUNT(*) DESC, 1"
        return [stakes for (stakes,) in self._rows(sql, [])]

    def results(self, search: HandSearch) -> list[tuple[str, float, float]]:
        """Return the position of each hand with the net and the expected net big blinds, in the order of time."""
        columns = "s.position, s.net, COALESCE(s.expected, s.net)"
        return self._found(search, columns, "ORDER BY h.begun, h.id")

    def hands(
        self, search: HandSearch, most: int, order: str = "cost", skip: int = 0, *, descending: bool = True
    ) -> list[ListedHand]:
        """Return hands in an order, the latest first among equal ones.

        Args:
            most: number of hands.
            order: a column of `ORDERS`; hands without a value come last.
            skip: number of hands to skip.
            descending: whether the order descends.
        """
        direction = "DESC" if descending else "ASC"
        tail = f"ORDER BY {ORDERS[order]} {direction} NULLS LAST, h.id DESC LIMIT ? OFFSET ?"
        rows = self._found(search, f"h.id, {', '.join(ORDERS.values())}", tail, most, skip)
        return [ListedHand(*row) for row in rows]

    def leaks(self, search: HandSearch, most: int) -> list[Leak]:
        """Return up to `most` kinds of decisions, by their total cost."""
        columns = "s.position, d.line, d.action, COUNT(*), SUM(d.cost)"
        tail = "AND d.cost IS NOT NULL GROUP BY 1, 2, 3 HAVING SUM(d.cost) >= 0.005 ORDER BY 5 DESC LIMIT ?"
        rows = self._found(search, columns, f"AND d.line GLOB ? {tail}", search.line or "*", most, join=_DECISIONS)
        return [Leak(*row) for row in rows]

    def weighed(self, search: HandSearch, most: int) -> list[tuple[int, int, float]]:
        """Return hand, place and cost of up to `most` decisions, the costliest first."""
        columns = "d.hand, d.place, COALESCE(d.cost, 0)"
        tail = "AND d.line GLOB ? AND h.text != '' AND s.cards != '' ORDER BY 3 DESC, d.hand DESC LIMIT ?"
        return self._found(search, columns, tail, search.line or "*", most, join=_DECISIONS)

    def profiles(self, search: HandSearch, most: int) -> dict[str, Profile]:
        """Return profiles of up to `most` players: the one searched for, then those with the most hands."""
        where, values = search.where()
        sql = (
            "SELECT player, measure, SUM(did), SUM(opportunities) FROM counts WHERE hand IN (SELECT h.id FROM seats s"
            f" JOIN hands h ON h.id = s.hand WHERE {where}) GROUP BY 1, 2"
        )
        by_player: defaultdict[str, Profile] = defaultdict(Profile)
        for player, measure, did, opportunities in self._rows(sql, values):
            by_player[player].did[measure], by_player[player].opportunities[measure] = did, opportunities
        for profile in by_player.values():
            profile.hands = profile.opportunities[VPIP]
        return dict(sorted(by_player.items(), key=lambda one: (one[0] != search.player, -one[1].hands))[:most])

    def unreviewed(self, search: HandSearch, most: int, players: int = 2) -> list[int]:
        """Return the latest hands with known cards in which a decision that may be reviewed has no cost.

        Args:
            most: number of hands.
            players: most players of a hand. With more than two, turns and rivers may be reviewed.
        """
        tail = (
            "AND h.players <= ? AND h.text != '' AND s.cards != '' AND EXISTS (SELECT 1 FROM decisions d WHERE"
            " d.player = s.player AND d.hand = h.id AND d.cost IS NULL AND (h.players = 2 OR d.line LIKE '%/%/%'))"
            " ORDER BY h.id DESC LIMIT ?"
        )
        return [number for (number,) in self._found(search, "h.id", tail, players, most)]

    def unreviewable(self, search: HandSearch, players: int = 2) -> Counter[str]:
        """Return the number of hands that can never be reviewed, by the reason; `players` as in `unreviewed`."""
        why = f"CASE WHEN h.players > {players:d} THEN h.players || ' players' WHEN s.cards = '' THEN 'cards not known'"
        why += " ELSE 'it does not fit PHH' END"
        tail = "AND (h.players > ? OR s.cards = '' OR h.text = '') GROUP BY 1"
        return Counter(dict(self._found(search, f"{why}, COUNT(*)", tail, players)))

    def text(self, hand: int) -> str:
        """Return the hand as PHH; empty if PHH cannot represent it."""
        rows = self._rows("SELECT text FROM hands WHERE id = ?", [hand])
        return str(rows[0][0]) if rows else ""

    def _found(self, search: HandSearch, columns: str, tail: str, *values: object, join: str = "") -> list[Any]:
        """Return columns of the seats and hands of a search; `tail` is what follows its condition."""
        where, searched = search.where()
        sql = f"SELECT {columns} FROM seats s JOIN hands h ON h.id = s.hand {join} WHERE {where} {tail}"
        return self._rows(sql, [*searched, *values])

    def _rows(self, sql: str, values: Sequence[object]) -> list[Any]:
        with self._open() as base:
            return base.execute(sql, values).fetchall()

    @contextmanager
    def _open(self) -> Iterator[sqlite3.Connection]:
        try:
            with closing(sqlite3.connect(self._path, timeout=60)) as base, base:
                base.execute(f"PRAGMA max_page_count = {_MOST_PAGES}")
                yield base
        except sqlite3.DatabaseError as error:
            why = "is full" if "full" in str(error) else f"cannot be used ({error})"
            raise PokernetsError(
                f"the database of hands {self._path} {why}: move it away to start a new one"
            ) from error
