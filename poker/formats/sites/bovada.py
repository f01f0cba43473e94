"""Reads hand histories in the text of Bovada, Ignition and Bodog: cash games and tournaments of Texas hold'em.

Players have no names there: they are called by their position, and the owner of the file is `Hero`. All hole cards are
shown. Stakes of cash games are those that are posted. The text tells what players got from the pots (`Hand result`)
and no rake: it is what the pots lack. Hands of fast tables that end before the flop tell no total pot either.
`Posts chip` is a live bet. `Posts dead chip` of a big blind or more is a live big blind, and the rest is dead.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from poker.cards import parse_cards
from poker.errors import PokernetsError
from poker.formats.played import LineError, PlayedHand
from poker.formats.sites.pokerstars_lines import SYMBOL, Event, HandLines
from poker.formats.sites.pokerstars_read import hands as split
from poker.formats.sites.pokerstars_read import played

HERO = "Hero"
_SITE = r"(?:Bovada|Ignition|Bodog)(?: [A-Za-z]+)?"
HEADER = re.compile(rf"\W*({_SITE}) Hand #C?(\d{{1,18}})\b:?\s*(.*)")
_HEADER_WITHIN = re.compile(rf"{_SITE} Hand #C?\d{{1,18}}")
_A = rf"{SYMBOL}(\d[\d,]*(?:\.\d+)?)"
_LEVEL = re.compile(rf"Level \d+ ?\({_A}/{_A}\)")
_WHEN = re.compile(r"(\d{4}-\d\d-\d\d) (\d\d?):(\d\d:\d\d)")
_SEAT = re.compile(rf"Seat (\d+): (.+?)( \[ME\])? \({_A} in chips\)")
_PLAYER = re.compile(r"(.+?) ?(?:\[ME\] ?)?: ?(.*)")
_BUTTON = re.compile(r"Set dealer(?:/Bring in spot)? \[(\d+)\]")
_STREET = re.compile(r"\*\*\* (FLOP|TURN|RIVER) \*\*\* (\[[^\]]*\]) ?(\[[^\]]*\])?")
_TOTAL = re.compile(rf"Total Pot\({_A}\)")
_BOARD = re.compile(r"Board \[([^\]]*)\]")
_WHY = r"(?: ?\([A-Za-z ]+\))?"
_POSTS = {
    "small blind": rf"(?:Ante/)?Small [Bb]lind {_A}",
    "big blind": rf"Big [Bb]lind(?:/Bring in)? {_A}",
    "straddle": rf"Posts chip {_A}",
    "dead": rf"Posts dead chip {_A}",
    "ante": rf"Ante chip {_A}",
}
_ACTIONS = {
    "fold": rf"Folds?(?: & shows \[[^\]]*\])?{_WHY}",
    "check": rf"Checks?{_WHY}",
    "call": rf"Calls?{_WHY} {_A}",
    "put": rf"(?:(?:Double )?[Bb]ets?|All-in){_WHY} {_A}",
    "raise": rf"(?:Raises?|All-in\(raise(?:-timeout)?\)){_WHY} {_A} to {_A}",
    "uncalled": rf"Return uncalled portion of bet {_A}",
    "collected": rf"Hand [Rr]esult(?:-Side [Pp]ot)? {_A}",
    "dealt": r"Card dealt to a spot \[([^\]]*)\]",
    "show": r"Showdown \[[^\]]*\].*",
    "muck": r"Mucks\b.*",
}
_PATTERNS = {kind: re.compile(text) for kind, text in (_POSTS | _ACTIONS).items()}
_CHIPS_VERB = re.compile(r"(?:Posts|Folds?|Checks?|Calls?|Bets?|Raises?|All-in|Return|Hand|Small|Big|Ante|Card)\b")


def hands(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of each hand with the number of its first."""
    return split(text, _HEADER_WITHIN)


def parse_hand(lines: Sequence[str], line: int = 1) -> PlayedHand:
    """The hand whose header is the first of `lines`, which is line `line` of the file; a LineError says what is wrong
    in which line."""
    found = _BovadaLines(line, rake=None)
    found.read(lines)
    return played(found)


@dataclass
class _BovadaLines(HandLines):
    """Content of the lines of a hand, by position of the players."""

    has_level: bool = False
    hero: str = ""
    """Position of the file's owner."""

    def _header(self, line: str) -> None:
        match = HEADER.fullmatch(line)
        if not match:
            raise PokernetsError("no header of a hand of Bovada")
        self.number, rest = int(match[2]), match[3]
        self.limit = _limit(rest)
        self.details = {"venue": match[1]} | when(rest)
        level = _LEVEL.search(rest)
        self.has_level = bool(level)
        if level:
            self.stakes = self._chips(level[1]), self._chips(level[2])
        else:
            self.scale = 100
            self.details |= {"currency_symbol": "$"}
        table = re.search(r"(?:TBL|ID)#([\w-]+)", rest)
        self.details |= {"table": table[1]} if table else {}

    def _line(self, number: int, line: str) -> None:
        street = _STREET.fullmatch(line)
        if street:
            cards = [parse_cards(text.strip("[] ")) for text in street.groups()[1:] if text]
            self.events.append(Event(number, street[1], "", cards=tuple(card for deal in cards for card in deal)))
        elif line.startswith("***"):
            self.in_summary = self.in_summary or "SUMMARY" in line
        elif self.in_summary:
            self._summary(number, line)
        elif not self.events and (seat := _SEAT.fullmatch(line)):
            self._sits(seat)
        elif player := _PLAYER.fullmatch(line):
            self._acts(number, HERO if player[1] == self.hero else player[1], player[2])

    def _sits(self, match: re.Match[str]) -> None:
        seat, position = int(match[1]), match[2]
        if match[3]:
            self.hero = position
        name = HERO if match[3] else position
        if seat in self.seats or name in self.stacks:
            raise PokernetsError(f"seat {seat} or player {name} is there twice")
        self.seats[seat] = name
        self.stacks[name] = self._chips(match[4])
        if position == "Dealer":
            self.button = seat

    def _acts(self, number: int, name: str, text: str) -> None:
        if button := _BUTTON.match(text):
            self.button = int(button[1])
        for kind, pattern in _PATTERNS.items():
            match = pattern.fullmatch(text)
            if match is None:
                continue
            if name not in self.stacks:
                raise PokernetsError(f"`{text[:100]}` is no action of a player with a seat")
            if kind == "dealt":
                self._know(name, match[1])
            elif kind == "collected":
                self.collected[name] = self.collected.get(name, 0) + self._chips(match[1])
            else:
                self._add(number, kind, name, [self._chips(amount) for amount in match.groups()])
            return
        if name in self.stacks and _CHIPS_VERB.match(text):
            raise PokernetsError(f"`{text[:100]}` is no action")

    def _add(self, number: int, kind: str, name: str, chips: list[int]) -> None:
        if kind in ("small blind", "big blind") and not self.has_level:
            small, big = self.stakes
            self.stakes = (chips[0], big) if kind == "small blind" else (small, max(big, chips[0]))
        all_in = kind in _POSTS and chips[0] == self.stacks[name]
        self.events.append(Event(number, "put" if kind == "raise" else kind, name, tuple(chips), all_in=all_in))

    def _summary(self, number: int, line: str) -> None:
        if line.startswith("Total Pot"):
            match = _TOTAL.fullmatch(line)
            if not match or self.total:
                raise PokernetsError(f"`{line[:100]}` is no total pot")
            self.total = Event(number, "total", "", (self._chips(match[1]),))
        elif line.startswith("Board "):
            found = _BOARD.fullmatch(line)
            if not found:
                raise PokernetsError(f"`{line[:100]}` is no board")
            self.boards.append(parse_cards(found[1]))

    def _check_end(self, last: int) -> None:
        if not self.in_summary:
            raise LineError(last, "the hand ends without a summary")
        if all(event.all_in for event in self.events if event.kind == "big blind") and not self.has_level:
            self.stakes = self.stakes[0], max(self.stakes[1], self._called())
        big = self.stakes[1]
        if self.is_limit:
            self.stakes = (big, 2 * big)
        for place, event in enumerate(self.events):
            if event.kind == "dead" and event.chips[0] >= big:
                self.events[place] = event._replace(kind="both blinds")
        blinds = [event.player for event in self.events if event.kind in ("small blind", "big blind")]
        if not self.button and blinds:  # nobody is dealer: the button is at an empty seat
            self.button = next(seat for seat, name in self.seats.items() if name == blinds[0]) - 1

    def _called(self) -> int:
        """The total of the first call before any raise: the big blind where nobody has posted a whole one."""
        posted = {event.player: event.chips[0] for event in self.events if event.kind in ("small blind", "straddle")}
        played = ("call", "put", "check", "FLOP")
        first = next((event for event in self.events if event.kind in played), None)
        return posted.get(first.player, 0) + first.chips[0] if first and first.kind == "call" else 0


def _limit(text: str) -> str:
    if not text.upper().lstrip().startswith("HOLDEM") and not re.search(r"\bHOLDEM", text):
        raise PokernetsError("a game that is not hold'em is not read")
    kind = re.search(r"(?:No|Pot|Fixed) Limit", text)
    return kind[0].lower() if kind else "no limit"


def when(text: str) -> dict[str, object]:
    """The day and the time of a text such as `2019-04-04 13:47:54`, under the names of PHH."""
    match = _WHEN.search(text)
    if not match:
        return {}
    try:
        moment = datetime.fromisoformat(f"{match[1]} {match[2]:>02}:{match[3]}")
    except ValueError:
        raise PokernetsError(f"`{match[0]}` is no time") from None
    return {"year": moment.year, "month": moment.month, "day": moment.day, "time": moment.time()}
