"""Reader of the texts of Bovada, Ignition and Bodog: cash games and tournaments of Texas hold'em.

Players have no names, so they are called by position, and the owner of the file is `Hero`. All hole cards are shown.
Seats of tournaments may have registration numbers, so the order of the lines counts. Stakes of cash games are the
posted blinds. The text has the chips that players got from the pots (`Hand result`), and no rake: the rake is the
difference. Hands of fast tables that end before the flop have no total pot either. `Posts chip` is a live bet. `Posts
dead chip` of a big blind or more is a live big blind, and the rest is dead.
"""

import re
from dataclasses import dataclass
from functools import partial

from poker.formats.played import MOST_SEATS, LineError
from poker.formats.sites.lines import AMOUNT as _A
from poker.formats.sites.lines import compiled
from poker.formats.sites.pokerstars_read import PokerStarsLines
from poker.formats.sites.pokerstars_read import hands as split
from poker.formats.sites.times import day_and_time
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError

HERO = "Hero"
_SITE = r"(?:Bovada|Ignition|Bodog)(?: [A-Za-z]+)?"
_HEADER = re.compile(rf"\W*({_SITE}) Hand #C?([0-9]{{1,18}})\b:?\s*(.*)")
_HEADER_WITHIN = re.compile(rf"{_SITE} Hand #C?[0-9]{{1,18}}")
_LEVEL = re.compile(rf"Level [0-9]+ ?\({_A}/{_A}\)")
_SEAT = re.compile(rf"Seat ([0-9]+): (.+?)( \[ME\])? \({_A} in chips\)")
_PLAYER = re.compile(r"(.+?) ?(?:\[ME\] ?)?: ?(.*)")
_BUTTON = re.compile(r"Set dealer(?:/Bring in spot)? \[([0-9]+)\]")
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
hands = partial(split, header_within=_HEADER_WITHIN)
"""Split a text into hands: the number of the first line of each hand, and its lines."""


@dataclass
class BovadaLines(PokerStarsLines):
    """Reader of the lines of a hand, which name players by position.

    Attributes:
        rake: rake in chips; None, because the text has none.
        has_level: whether the header has the blinds of a tournament level.
        hero: position of the file's owner.
    """

    SITE = "Bovada"
    HEADERS = (_HEADER,)
    PATTERNS = compiled(_POSTS | _ACTIONS)
    VERBS = re.compile(r"(?:Posts|Folds?|Checks?|Calls?|Bets?|Raises?|All-in|Return|Hand|Small|Big|Ante|Card)\b")

    rake: int | None = None
    has_level: bool = False
    hero: str = ""

    def _header(self, match: re.Match[str]) -> None:
        self.number, rest = int(match[2]), match[3]
        self.limit = _limit(rest)
        self.details = {"venue": match[1]} | day_and_time(rest)
        levels = _LEVEL.findall(rest)
        self.has_level = bool(levels)
        if levels:
            self.stakes = self._chips(levels[-1][0]), self._chips(levels[-1][1])
        elif "Level " in rest:
            raise PokernetsError("the header lacks the blinds, such as Level 7 (100/200)")
        else:
            self.scale = 100
            self.details |= {"currency_symbol": "$"}
        table = re.search(r"(?:TBL|ID)#([\w-]+)", rest)
        self.details |= {"table": table[1]} if table else {}

    def _line(self, line: str) -> None:
        if street := _STREET.fullmatch(line):
            self.add(street[1], cards=parse_cards(street[2].strip("[] ")) + parse_cards((street[3] or "").strip("[] ")))
        elif line.startswith("***"):
            self.in_summary = self.in_summary or "SUMMARY" in line
        elif self.in_summary and line.startswith("Total Pot"):
            self._total(_TOTAL, line)
        elif self.in_summary and line.startswith("Board "):
            self._board(_BOARD, line)
        elif self.in_summary:
            return
        elif not self.events and (seat := _SEAT.fullmatch(line)):
            self.hero = seat[2] if seat[3] else self.hero
            self._sits(int(seat[1]), HERO if seat[3] else seat[2], seat[4])
            self.button = int(seat[1]) if seat[2] == "Dealer" else self.button
        elif player := _PLAYER.fullmatch(line):
            self._acts(HERO if player[1] == self.hero else player[1], player[2])

    def _acts(self, name: str, text: str) -> None:
        if button := _BUTTON.match(text):
            self.button = self.button or (0 if self.has_level else int(button[1]))
        kind, match = self._action(text, name in self.stacks) or ("", None)
        if match is None:
            return
        if kind == "dealt":
            self._shows(name, match[1])
            return
        chips = tuple(map(self._chips, match.groups()))
        if kind == "collected":
            self.collected[name] += chips[0]
            return
        if kind in ("small blind", "big blind") and not self.has_level:
            small, big = self.stakes
            self.stakes = (chips[0], big) if kind == "small blind" else (small, max(big, chips[0]))
        all_in = kind in _POSTS and chips[0] == self.stacks[name]
        self.add("put" if kind == "raise" else kind, name, chips, all_in=all_in)

    def _check_end(self) -> None:
        if not self.in_summary:
            raise LineError(self.at, "the hand ends without a summary")
        if all(event.all_in for event in self.events if event.kind == "big blind") and not self.has_level:
            self.stakes = self.stakes[0], max(self.stakes[1], self._called())
        big = self.stakes[1]
        if self.is_limit:
            self.stakes = (big, 2 * big)
        for place, event in enumerate(self.events):
            if event.kind == "dead" and event.chips[0] >= big:
                self.events[place] = event._replace(kind="both blinds")
        numbers = list(self.seats)
        if self.has_level and (numbers != sorted(numbers) or numbers[-1] > MOST_SEATS):
            self.button = numbers.index(self.button) + 1 if self.button else 0
            self.seats = dict(enumerate(self.seats.values(), 1))
        blinds = [event.player for event in self.events if event.kind in ("small blind", "big blind")]
        if not self.button and blinds:  # no dealer: the button is at an empty seat
            self.button = next(seat for seat, name in self.seats.items() if name == blinds[0]) - 1

    def _called(self) -> int:
        """Return the total of the first call before any raise; it is the big blind if nobody posted a whole one."""
        posted = {event.player: event.chips[0] for event in self.events if event.kind in ("small blind", "straddle")}
        played = ("call", "put", "check", "FLOP")
        first = next((event for event in self.events if event.kind in played), None)
        return posted.get(first.player, 0) + first.chips[0] if first and first.kind == "call" else 0


def _limit(text: str) -> str:
    if not text.upper().lstrip().startswith("HOLDEM") and not re.search(r"\bHOLDEM", text):
        raise PokernetsError("only hold'em is supported")
    kind = re.search(r"(?:No|Pot|Fixed) Limit", text)
    return kind[0].lower() if kind else "no limit"
