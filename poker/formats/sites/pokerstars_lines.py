"""The lines of a hand history in PokerStars' text, read one by one and without the rules.

A hand is a header, a table line, seats, posts, streets of actions, the showdown and a summary. Other sites write the
same lines under a first line of their own: GGPoker (`Poker Hand #RC1: ...`), Run It Once, PokerBros, PokerMaster, the
later Full Tilt. Player names may hold any characters, so lines are matched against the names of the seats. Chat and
what happens at the table beside the play (players who join, leave, time out, ...) is overlooked.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import time
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from poker.cards import parse_cards
from poker.errors import PokernetsError
from poker.formats.played import MOST_CHIPS, LineError
from poker.limits import LONGEST_SITE_LINE, check_length

_HEADER = re.compile(r"\W*(PokerStars)\b.*?\b(?:Hand|Game) #(\d{1,18})\b\s*:?(.*)", re.IGNORECASE)
_OTHER_HEADER = re.compile(
    r"\W*([A-Za-z][\w.]*(?: [A-Za-z][\w.]*){0,3}) (?:Hand|Game) #[A-Za-z]{0,8}_?(\d{1,18})\s*:"
    r"(?=.*\([^()]*\d/[^()]*\d)(.*)"
)
_SITES = r"(?:PokerStars|Full Tilt(?: Poker)?|Run It Once Poker|PokerBros|PokerMaster|(?<!\w)Poker)"
HEADER_WITHIN = re.compile(rf"{_SITES} (?:[A-Z][a-z]+ ){{0,3}}(?:Hand|Game) #[A-Z]{{0,8}}\d{{1,18}}: ", re.IGNORECASE)
_VENUES = {"pokerstars": "PokerStars", "poker": "GGPoker"}
SYMBOL = r"[^\d\s.,()\[\]/+-]{0,4}"
_A = rf"{SYMBOL}\s?(\d[\d,]*(?:\.\d+)?)"
_STAKES = re.compile(rf"[(,] ?({SYMBOL})\s?(\d[\d,]*(?:\.\d+)?)/{_A}([^)]*)\)")
_WHEN = re.compile(r"(\d{4})/(\d\d?)/(\d\d?) (?:- )?(\d\d?):(\d\d)(?::(\d\d))?(?: \(?([A-Z]{2,5}))?")
_TABLE = re.compile(
    r"Table (?:ID )?'?(.*?)'?(?: (\d+)-max)?(?: \([^)]*\))*+(?: Seat #(\d+) is the button.*)?", re.IGNORECASE
)
_SEAT = re.compile(rf"Seat (\d+): (.*) \({_A} in chips(?:, .*? bounty)?\)(.*)")
RUNS = ("FIRST", "SECOND", "THIRD", "FOURTH")
_STREET = re.compile(rf"\*\*\* (?:({'|'.join(RUNS)}) )?(FLOP|TURN|RIVER) \*\*\* ?(\[[^\]]*\]) ?(\[[^\]]*\])?.*")
_SECTION = re.compile(r"\*\*\* ?([A-Z ]+?) ?\*\*\*.*")
_DEALT = re.compile(r"Dealt to (.*) \[([^\]]*)\]")
_UNCALLED = re.compile(rf"Uncalled bet \({_A}\) returned to (.*)")
_COLLECTED = re.compile(rf" (?:collected|wins) \(?{_A}\)?(?: from (?:the )?(?:main |side )?pot.*)?")
_TOTAL = re.compile(rf"Total pot {_A}(.*?)((?> \| [A-Za-z ]+ {_A})*+)")
_FEE = re.compile(rf"\| (?!Main pot|Side pot|STP)[A-Za-z ]+ {_A}")
_BOARD = re.compile(rf"(?:(?:{'|'.join(RUNS)}) )?Board \[([^\]]*)\]")
_NOT_AWARDED = "(pot not awarded as player cashed out)"
_WON = re.compile(rf"\bwon \({_A}\)")
_HOUSE_MONEY = re.compile(r"(STP added|Cash Drop to Pot) ?:")
_SUMMARY_SEAT = re.compile(r"Seat (\d+): (.*)")
_SUMMARY_ACTED = re.compile(r"(?: \([a-z ]+\))*,? (?:folded|collected|showed|mucked)\b(?: \[([^\]]*)\])?.*")
_ALL_IN = r"(?P<all_in> and is all-in)?"
_ACTIONS = {
    "small blind": rf"posts (?:the )?small blind {_A}{_ALL_IN}",
    "big blind": rf"posts (?:the )?big blind {_A}{_ALL_IN}",
    "both blinds": rf"posts small (?:&|and) big blinds? {_A}{_ALL_IN}",
    "dead": rf"posts (?:a )?(?:dead|missed) (?:small )?blind {_A}{_ALL_IN}",
    "ante": rf"posts (?:the |an )?ante {_A}{_ALL_IN}",
    "straddle": rf"(?:posts (?:a |the )?)?straddle {_A}{_ALL_IN}",
    "fold": r"folds(?: \[.*\])?",
    "check": r"checks",
    "bet": rf"bets {_A}{_ALL_IN}",
    "call": rf"calls {_A}{_ALL_IN}",
    "raise": rf"raises {_A} to {_A}{_ALL_IN}",
    "show": r"shows \[([^\]]*)\].*",
    "muck": r"mucks hand.*",
}
_PATTERNS = {kind: re.compile(text) for kind, text in _ACTIONS.items()}
POSTS = ("small blind", "big blind", "both blinds", "dead", "ante", "straddle")
MOVES = ("fold", "check", "bet", "call", "raise", "raise to", "put")
"""`put`: chips put in, whether that is a bet, a call or a raise; `raise to`: a raise whose total alone counts."""
_BY_VERB = {
    verb: [(kind, _PATTERNS[kind]) for kind in kinds]
    for verb, kinds in {
        **{f"{kind}s": (kind,) for kind in ("fold", "check", "bet", "call", "raise", "show", "muck")},
        "posts": POSTS,
        "straddle": ("straddle",),
    }.items()
}
_CHIPS_VERB = re.compile(r"(posts|straddle|folds|checks|bets|calls|raises|shows|mucks)\b")
_NOBODY = re.compile(rf".*: (?:{'|'.join(_ACTIONS.values()).replace('(?P<all_in>', '(?:')})$")


class Event(NamedTuple):
    """An event on a line; `chips` has the amounts, `cards` those shown or dealt, `run` the board's number, from 0."""

    line: int
    kind: str
    player: str
    chips: tuple[int, ...] = ()
    cards: tuple[int, ...] = ()
    all_in: bool = False
    run: int = 0


@dataclass
class HandLines:
    """Content of the lines of one hand; amounts are chips of `scale` to the unit of the currency.

    Where a site does not tell the `total` of the pots, or the `rake`, they are None.
    """

    line: int
    number: int = 0
    limit: str = "no limit"
    stakes: tuple[int, int] = (0, 0)
    scale: int = 1
    button: int = 0
    details: dict[str, object] = field(default_factory=dict)
    seats: dict[int, str] = field(default_factory=dict)
    stacks: dict[str, int] = field(default_factory=dict)
    cards: dict[str, tuple[int, ...]] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    collected: dict[str, int] = field(default_factory=dict)
    cashed_out: dict[str, int] = field(default_factory=dict)
    """Winnings in the summary of players to whom the pot was not awarded as they cashed out; 0 where it has none."""
    total: Event | None = None
    rake: int | None = 0
    wins_include_uncalled: bool = False
    """Whether winnings include the bet that nobody called, where no total pot tells."""
    boards: list[tuple[int, ...]] = field(default_factory=list)
    """Boards of the summary; those of further runs may have only the cards that differ."""
    in_summary: bool = False
    has_colons: bool = False
    """Whether a player's name holds `: `, which ends names in lines of actions."""

    @property
    def is_limit(self) -> bool:
        return self.limit in ("limit", "fixed limit")

    def read(self, texts: Sequence[str]) -> None:
        """Read all lines from the header on; a LineError says which is wrong."""
        for number, text in enumerate(texts, self.line):
            line = " ".join(text.replace("\u200e", "").split())
            try:
                check_length(line, LONGEST_SITE_LINE, "a line")
                if number == self.line:
                    self._header(line)
                elif line:
                    self._line(number, line)
            except LineError:
                raise
            except PokernetsError as error:
                raise LineError(number, str(error)) from error
            except _RefusedError as error:
                raise LineError(number, str(error)) from error
        if not self.seats:
            raise LineError(self.line, "the hand has no seats")
        self._check_end(self.line + len(texts) - 1)

    def _check_end(self, last: int) -> None:
        if self.total is None:
            raise LineError(last, "the hand ends without a summary of the total pot")

    def _header(self, line: str) -> None:
        match = header(line)
        if not match:
            raise _RefusedError("no header of a hand of PokerStars")
        self.number, rest = int(match[2]), match[3]
        self.limit = _limit(rest)
        stakes = _STAKES.search(rest)
        if not stakes:
            raise _RefusedError("the header has no stakes such as ($0.50/$1.00 USD) or (10/20)")
        sign, small, big, more = stakes.groups()
        if sign or "." in small + big or re.search(r"\b[A-Z]{3}\b", more):
            self.scale = 100
        self.stakes = self._chips(small), self._chips(big)
        if not 0 < self.stakes[0] <= self.stakes[1]:
            raise _RefusedError(f"stakes of {small}/{big}")
        if "cap" in rest.lower().split():
            raise _RefusedError("games with a cap on what a hand can cost are not read")
        details: dict[str, object] = {"venue": _VENUES.get(match[1].lower(), match[1])}
        event = re.search(r"Tournament #\d+,.*?(?= Hold'em)", rest, re.IGNORECASE)
        level = re.search(r"Level ?([IVXLCDM]+\b|\d+)", rest)
        currency = re.search(r"\b([A-Z]{3})\b", more)
        details |= {"event": event[0]} if event else {}
        details |= {"_level": level[1]} if level else {}
        details |= {"currency_symbol": sign} if sign else {}
        details |= {"currency": currency[1]} if currency else {}
        self.details = details | _when(rest)

    def _line(self, number: int, line: str) -> None:
        if line.startswith("***"):
            self._section(number, line)
        elif self.in_summary:
            self._summary(number, line)
        elif not self.button and line.startswith("Table "):
            self._table(line)
        elif not self.events and line.startswith("Seat ") and (seat := _SEAT.fullmatch(line)):
            self._seat(seat)
        else:
            self._play(number, line)

    def _section(self, number: int, line: str) -> None:
        street, section = _STREET.fullmatch(line), _SECTION.fullmatch(line)
        if street:
            cards = parse_cards(street[3].strip("[]")) + parse_cards((street[4] or "").strip("[]"))
            run = RUNS.index(street[1]) if street[1] else 0
            self.events.append(Event(number, street[2], "", cards=cards, run=run))
        elif section:
            if section[1].split()[-1] in ("FLOP", "TURN", "RIVER"):
                raise _RefusedError(f"no cards of the {section[1].lower()}")
            self.in_summary = self.in_summary or section[1] == "SUMMARY"

    def _table(self, line: str) -> None:
        match = _TABLE.fullmatch(line)
        if not match or not match[3]:
            raise _RefusedError("the line of the table does not say which seat is the button")
        self.button = int(match[3])
        self.details["table"] = match[1]
        if match[2]:
            self.details["seat_count"] = int(match[2])

    def _seat(self, match: re.Match[str]) -> None:
        seat, name = int(match[1]), match[2]
        if seat in self.seats or name in self.stacks:
            raise _RefusedError(f"seat {seat} or player {name} is there twice")
        if "out of hand" in match[4]:
            return
        self.seats[seat] = name
        self.stacks[name] = self._chips(match[3])
        self.has_colons = self.has_colons or ": " in name

    def _play(self, number: int, line: str) -> None:
        """Cards dealt, actions, bets returned and pots collected; other lines are overlooked."""
        dealt = _DEALT.fullmatch(line) if line.startswith("Dealt to ") else None
        uncalled = _UNCALLED.fullmatch(line) if line.startswith("Uncalled bet ") else None
        if dealt and dealt[1] in self.stacks:
            self._know(dealt[1], dealt[2])
        elif uncalled:
            if uncalled[2] not in self.stacks:
                raise _RefusedError(f"a bet returned to {uncalled[2]}, who has no seat")
            self.events.append(Event(number, "uncalled", uncalled[2], (self._chips(uncalled[1]),)))
        elif ' said, "' not in line:
            name = self._name(line)
            if not name and _NOBODY.match(line):
                raise _RefusedError(f"`{line[:100]}` is no action of a player with a seat")
            if not name and _HOUSE_MONEY.match(line):
                raise _RefusedError(f"`{line[:100]}`: money that the house adds to the pot is not read")
            rest = line[len(name) :] if name else ""
            if rest.startswith(": "):
                self._action(number, name, rest[2:])
            elif rest.startswith(" shows ["):
                self._action(number, name, rest[1:])
            elif rest.startswith(" cashed out "):
                self.cashed_out.setdefault(name, 0)
            elif rest.startswith((" collected ", " wins ")) and (found := _COLLECTED.fullmatch(rest)):
                self.collected[name] = self.collected.get(name, 0) + self._chips(found[1])
            elif rest.startswith(" collected "):
                raise _RefusedError(f"`{rest.strip()[:100]}` does not say what was collected")

    def _name(self, line: str) -> str:
        """The longest name of a seat that the line begins with."""
        first = line.partition(": ")[0]
        if first in self.stacks and not self.has_colons:
            return first
        return max((n for n in self.stacks if line.startswith((n + ": ", n + " "))), key=len, default="")

    def _action(self, number: int, name: str, text: str) -> None:
        for kind, pattern in _BY_VERB.get(text.split(" ", 1)[0], ()):
            match = pattern.fullmatch(text)
            if match is None:
                continue
            if kind == "show":
                if len(match[1].split()) == 2:
                    kind = "show" if self._know(name, match[1]) else "hide"
                    self.events.append(Event(number, kind, name))
                return
            groups = match.groupdict()
            amounts = [found for found in match.groups() if found and found != groups.get("all_in")]
            chips = tuple(map(self._chips, amounts))
            self.events.append(Event(number, kind, name, chips, all_in=bool(groups.get("all_in"))))
            return
        if _CHIPS_VERB.match(text):
            raise _RefusedError(f"`{text[:100]}` is no action")

    def _summary(self, number: int, line: str) -> None:
        if line.startswith("Hand cancelled"):
            raise _RefusedError("a hand that was cancelled is not read")
        if line.startswith("Total pot "):
            match = _TOTAL.fullmatch(line)
            if not match or self.total:
                raise _RefusedError(f"`{line[:100]}` is no total pot")
            self.total = Event(number, "total", "", (self._chips(match[1]),))
            self.rake = sum(self._chips(fee) for fee in _FEE.findall(match[3]))
        elif line.startswith("Board ") or line.split(" ", 1)[0] in RUNS:
            found = _BOARD.fullmatch(line)
            if not found:
                raise _RefusedError(f"`{line[:100]}` is no board")
            self.boards.append(parse_cards(found[1]))
        elif seat := _SUMMARY_SEAT.fullmatch(line):
            name = self.seats.get(int(seat[1]), "")
            if name and seat[2].startswith(name):
                acted = _SUMMARY_ACTED.fullmatch(seat[2][len(name) :])
                if acted:
                    self.events.append(Event(number, "summary", name))
                if acted and len((acted[1] or "").split()) == 2:
                    self._know(name, acted[1])
                if acted and _NOT_AWARDED in line:
                    self.cashed_out[name] = sum(map(self._chips, _WON.findall(line)))

    def _know(self, name: str, text: str) -> bool:
        """Takes note of hole cards; False where some of them are hidden, as in `XX Qs`."""
        if not {"XX", "??", "**"}.isdisjoint(text.split()):
            return False
        cards = parse_cards(text)
        if len(cards) != 2:
            raise _RefusedError(f"{name} has {len(cards)} hole cards")
        if name in self.cards and sorted(self.cards[name]) != sorted(cards):
            raise _RefusedError(f"{name} has other cards than before")
        self.cards.setdefault(name, cards)
        return True

    def _chips(self, text: str) -> int:
        return _chips(text, self.scale)


class _RefusedError(Exception):
    """An error on the line being read."""


@lru_cache(maxsize=1 << 16)
def _chips(text: str, scale: int) -> int:
    if "," in text and not re.fullmatch(r"\d{1,3}(,\d{3})+(\.\d+)?", text):
        raise _RefusedError(f"`{text}` is no amount")
    chips = Decimal(text.replace(",", "")) * scale
    if chips != int(chips) or chips > MOST_CHIPS:
        raise _RefusedError(f"`{text}` is no amount in " + ("cents" if scale > 1 else "chips"))
    return int(chips)


def header(line: str) -> re.Match[str] | None:
    """The first line of a hand: site, number, and what follows; None for other lines."""
    line = line[:LONGEST_SITE_LINE]
    return (_HEADER.fullmatch(line) or _OTHER_HEADER.fullmatch(line)) if "#" in line else None


def _limit(text: str) -> str:
    """`no limit`, `pot limit`, `limit` or `fixed limit`, if the game is hold'em; others are refused by name."""
    if other := _find(r"(6\+|Split|Fusion|Irish|Swap|Pineapple) Hold'em", text):
        raise _RefusedError(f"{other[0]} is not read, only Texas hold'em")
    if not _find("Hold'em", text):
        other = _find(r"Omaha|PLO|Courchevel|Razz|Badugi|Stud|Draw|2-7|Short ?Deck", text)
        raise _RefusedError(f"{other[0] if other else 'a game that is not named'} is not read, only hold'em")
    kind = _find(r"Hold'em,? \(?(No Limit|Pot Limit|(?:Fixed )?Limit)\b", text)
    if not kind:
        raise _RefusedError("the header does not say whether the game is Hold'em No Limit, Pot Limit or Limit")
    return kind[1].lower()


def _find(pattern: str, text: str) -> re.Match[str] | None:
    return re.search(pattern, text, re.IGNORECASE)


def _when(text: str) -> dict[str, object]:
    match = _WHEN.search(text)
    if not match:
        return {}
    year, month, day, hour, minute, second = (int(found or 0) for found in match.groups()[:6])
    if not (1 <= month <= 12 and 1 <= day <= 31 and hour < 24 and minute < 60 and second < 60):
        raise _RefusedError(f"`{match[0]}` is no time")
    zone = {"_time_zone": match[7]} if match[7] else {}
    return {"year": year, "month": month, "day": day, "time": time(hour, minute, second), **zone}
