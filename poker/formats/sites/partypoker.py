"""Reads hand histories in the text of partypoker and of 888: no-limit and pot-limit Texas hold'em for money.

Amounts are what an action puts in. Neither text tells pots or a rake: the rake is what the pots lack. partypoker counts
a bet that nobody called among what is won, 888 does not. Amounts come in the notation of many countries; cards are
read in English.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from poker.cards import parse_cards
from poker.errors import PokernetsError
from poker.formats.played import LineError, PlayedHand
from poker.formats.sites.bovada import when
from poker.formats.sites.pokerstars_lines import Event, HandLines
from poker.formats.sites.pokerstars_read import played

HEADER = re.compile(r"\W*\*{5} ?(?:(\w+) )?Hand History for Game (\d{1,18}) \*{5}\s*")
_GAME = re.compile(r"(?:(NL|PL) Texas Hold'em|(No Limit|Pot Limit) Holdem)\b", re.IGNORECASE)
_NUMBER = r"\d[\d ,.\u00a0]*"
_STAKES = re.compile(rf"[^\d/]{{0,4}}({_NUMBER})/[^\d/]{{0,4}}({_NUMBER})")
_AMOUNT = re.compile(r"(\d{1,3}(?:[ ,.\u00a0]\d{3})+|\d+)(?:[.,](\d{1,2}))?")
_SEAT = re.compile(r"Seat (\d+): (.*) \( ?([^()]*) ?\)", re.IGNORECASE)
_STREET = re.compile(r"\*\* Dealing (flop|turn|river) \*\* \[([^\]]*)\]", re.IGNORECASE)
_TIME = re.compile(r"(\d\d) (\d\d) (\d{4}) (\d\d:\d\d:\d\d)")
_IN = r" ?\[([^\]+]*)\]\.?"
_ACTIONS = {
    "small blind": rf"posts small blind{_IN}",
    "big blind": rf"posts big blind{_IN}",
    "both blinds": r"posts (?:big blind \+ dead|dead blind) ?\[([^\]]*)\]\.?",
    "ante": rf"posts ante{_IN}",
    "fold": r"folds\.?",
    "check": r"checks\.?",
    "call": rf"calls{_IN}",
    "put": rf"(?:bets|raises|is all-in) ?{_IN}",
    "show": r"shows \[([^\]]*)\].*",
    "muck": r"(?:doesn't show|mucks) \[([^\]]*)\].*",
    "collected": rf"collected{_IN}",
    "wins": r"wins (\S+(?: [A-Z]{3})?)(?: from the (?:main|side) pot.*)?",
}
_PATTERNS = {kind: re.compile(text, re.IGNORECASE) for kind, text in _ACTIONS.items()}
_POSTS = ("small blind", "big blind", "both blinds", "ante")
_CHIPS_VERB = re.compile(r"(?:posts|folds|checks|calls|bets|raises|is all-in|collected|wins)\b", re.IGNORECASE)


def hands(text: str) -> Iterator[tuple[int, list[str]]]:
    """The lines of each hand with the number of its first; what stands before the first is left out."""
    start, lines = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if "Hand History for Game" in line and HEADER.fullmatch(line.strip()):
            if lines:
                yield start, lines
            start, lines = number, []
        if start:
            lines.append(line)
    if lines:
        yield start, lines


def parse_hand(lines: Sequence[str], line: int = 1) -> PlayedHand:
    """The hand whose header is the first of `lines`, which is line `line` of the file; a LineError says what is wrong
    in which line."""
    found = _PartyLines(line, rake=None, scale=100)
    found.read(lines)
    return played(found)


@dataclass
class _PartyLines(HandLines):
    """Content of the lines of a hand."""

    board: tuple[int, ...] = ()

    def _header(self, line: str) -> None:
        match = HEADER.fullmatch(line)
        if not match:
            raise PokernetsError("no header of a hand of partypoker or 888")
        self.number = int(match[2])
        self.wins_include_uncalled = not match[1]
        self.details = {"venue": match[1] or "partypoker"}

    def _line(self, number: int, line: str) -> None:
        if number == self.line + 1:
            self._game(line)
        elif street := _STREET.fullmatch(line):
            self.board += parse_cards(street[2].replace(",", " "))
            self.events.append(Event(number, street[1].upper(), "", cards=self.board))
        elif line.startswith("**"):
            return
        elif button := re.fullmatch(r"Seat (\d+) is the button", line, re.IGNORECASE):
            self.button = int(button[1])
        elif table := re.fullmatch(r"Table (.*?) ?\([^()]*\)", line):
            self.details["table"] = table[1]
        elif not self.events and (seat := _SEAT.fullmatch(line)):
            place, name = int(seat[1]), seat[2]
            if place in self.seats or name in self.stacks:
                raise PokernetsError(f"seat {place} or player {name} is there twice")
            self.seats[place], self.stacks[name] = name, self._chips(seat[3])
        elif line.startswith("Dealt to ") and (dealt := re.fullmatch(r"Dealt to (.*?) ?\[([^\]]*)\]", line)):
            self._shown(dealt[1], dealt[2])
        elif name := self._name(line):
            self._acts(number, name, line.removeprefix(f"{name} "))

    def _game(self, line: str) -> None:
        game = _GAME.search(line)
        if not game or re.search(r"\b(?:Trny|Tournament)\b", line):
            raise PokernetsError(f"`{line[:100]}` is not read, only no-limit and pot-limit hold'em for money")
        self.limit = "pot limit" if (game[1] or game[2]).upper().startswith("P") else "no limit"
        symbol = re.match(r"[$€£]", line)
        self.details |= {"currency_symbol": symbol[0]} if symbol else {}
        if stakes := _STAKES.match(line):
            self.stakes = self._chips(stakes[1]), self._chips(stakes[2])
        if time := _TIME.search(line):
            self.details |= when(f"{time[3]}-{time[2]}-{time[1]} {time[4]}")

    def _acts(self, number: int, name: str, text: str) -> None:
        for kind, pattern in _PATTERNS.items():
            match = pattern.fullmatch(text)
            if match is None:
                continue
            if kind in ("collected", "wins"):
                self.collected[name] = self.collected.get(name, 0) + self._chips(match[1])
            elif kind in ("show", "muck"):
                self._shown(name, match[1])
                self.events.append(Event(number, kind, name, cards=self.cards.get(name, ())))
            else:
                chips = sum(self._chips(part) for group in match.groups() for part in group.split("+"))
                all_in = kind in _POSTS and chips == self.stacks[name]
                self.events.append(Event(number, kind, name, (chips,) if match.groups() else (), all_in=all_in))
            return
        if _CHIPS_VERB.match(text):
            raise PokernetsError(f"`{text[:100]}` is no action")

    def _shown(self, name: str, cards: str) -> None:
        if name in self.stacks and len(cards.replace(",", " ").split()) == 2:
            self._know(name, cards.replace(",", " "))

    def _chips(self, text: str) -> int:
        match = _AMOUNT.fullmatch(re.sub(r"[$€£]|[A-Z]{3}", "", text).strip())
        if not match or len(match[1]) > 12:
            raise PokernetsError(f"`{text[:100]}` is no amount")
        return int(re.sub(r"\D", "", match[1])) * 100 + int((match[2] or "0").ljust(2, "0"))

    def _check_end(self, last: int) -> None:
        if not self.collected:
            raise LineError(last, "the hand ends without a winner")
        posted = [event.chips[0] for event in self.events if event.kind == "big blind"]
        if not self.stakes[1] and posted:
            self.stakes = min(posted), max(posted)
