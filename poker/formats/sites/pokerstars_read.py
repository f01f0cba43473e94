"""Reader of PokerStars' text: cash games and tournaments, limit, pot-limit and no-limit Texas hold'em.

A hand is a header, a table line, seats, posts, streets of actions, the showdown and a summary. Other sites write the
same lines under a header of their own: GGPoker (`Poker Hand #RC1: ...`), Run It Once, PokerBros, PokerMaster and the
later Full Tilt.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

from poker.formats.amounts import decimal_of
from poker.formats.played import MOST_CHIPS
from poker.formats.sites.lines import AMOUNT as _A
from poker.formats.sites.lines import SEATED, SYMBOL, SiteLines, compiled
from poker.formats.sites.times import day_and_time
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError

_HEADER = re.compile(r"\W*(PokerStars)\b.*?\b(?:Hand|Game) #([0-9]{1,18})\b\s*:?(.*)", re.IGNORECASE)
_OTHER_HEADER = re.compile(
    r"\W*([A-Za-z][\w.]*(?: [A-Za-z][\w.]*){0,3}) (?:Hand|Game) #[A-Za-z]{0,8}_?([0-9]{1,18})\s*:"
    r"(?=.*\([^()]*[0-9]/[^()]*[0-9])(.*)"
)
_SITES = r"(?:PokerStars|Full Tilt(?: Poker)?|Run It Once Poker|PokerBros|PokerMaster|(?<!\w)Poker)"
HEADER_WITHIN = re.compile(
    rf"{_SITES} (?:[A-Z][a-z]+ ){{0,3}}(?:Hand|Game) #[A-Z]{{0,8}}[0-9]{{1,18}}: ", re.IGNORECASE
)
_VENUES = {"pokerstars": "PokerStars", "poker": "GGPoker"}
_STAKES = re.compile(rf"[(,] ?({SYMBOL})\s?([0-9][0-9,]*(?:\.[0-9]+)?)/{_A}([^)]*)\)")
_KIND = re.compile(
    r"(?:(6\+|Split|Fusion|Irish|Swap|Pineapple) )?Hold'em,? \(?(No Limit|Pot Limit|(?:Fixed )?Limit)\b", re.IGNORECASE
)
_OTHER_GAME = re.compile(r"Omaha|PLO|Courchevel|Razz|Badugi|Stud|Draw|2-7|Short ?Deck", re.IGNORECASE)
_TABLE = re.compile(
    r"Table (?:ID )?'?(.*?)'?(?: ([0-9]+)-max)?(?: \([^)]*\))*+(?: Seat #([0-9]+) is the button.*)?", re.IGNORECASE
)
_SEAT = re.compile(rf"Seat ([0-9]+): (.*) \({_A} in chips(?:, .*? bounty)?\)(.*)")
RUNS = ("FIRST", "SECOND", "THIRD", "FOURTH")
_STREET = re.compile(rf"\*\*\* (?:({'|'.join(RUNS)}) )?(FLOP|TURN|RIVER) \*\*\* ?((?:\[[^\]]*\] ?)+).*")
_SECTION = re.compile(r"\*\*\* ?([A-Z ]+?) ?\*\*\*.*")
_DEALT = re.compile(r"Dealt to (.*) \[([^\]]*)\]")
_UNCALLED = re.compile(rf"Uncalled bet \({_A}\) returned to (.*)")
_COLLECTED = re.compile(rf" (?:collected|wins) \(?{_A}\)?(?: from (?:the )?(?:main |side )?pot.*)?")
_TOTAL = re.compile(rf"Total pot {_A}(.*?)((?> \| [A-Za-z ]+ {_A})*+)")
_FEE = re.compile(rf"\| (?!Main pot|Side pot|STP)[A-Za-z ]+ {_A}")
_BOARD = re.compile(rf"(?:(?:{'|'.join(RUNS)}) )?Board \[([^\]]*)\]")
_NOT_AWARDED = "(pot not awarded as player cashed out)"
_WON = re.compile(rf"\bwon \({_A}\)")
_HOUSE_MONEY = re.compile(r"(STP added|Cash Drop to Pot|Escape to Pot) ?:")
_SUMMARY_SEAT = re.compile(r"Seat ([0-9]+): (.*)")
_SUMMARY_ACTED = re.compile(r"(?: \([a-z ]+\))*,? (?:folded|collected|showed|mucked)\b(?: \[([^\]]*)\])?.*")
_GROUP = re.compile(r"\[([^\]]*)\]")
_OF_A_HAND = re.compile(r"\*\*\* ?(HOLE CARDS|FLOP|TURN|RIVER|SHOW ?DOWN|SUMMARY)\b")
_ALL_IN = r"(?P<all_in> and is all-in)?"
_ACTIONS = {
    "fold": r"folds(?: \[.*\])?",
    "check": r"checks",
    "call": rf"calls {_A}{_ALL_IN}",
    "raise": rf"raises {_A} to {_A}{_ALL_IN}",
    "bet": rf"bets {_A}{_ALL_IN}",
    "small blind": rf"posts (?:the )?small blind {_A}{_ALL_IN}",
    "big blind": rf"posts (?:the )?big blind {_A}{_ALL_IN}",
    "both blinds": rf"posts small (?:&|and) big blinds? {_A}{_ALL_IN}",
    "dead": rf"posts (?:a )?(?:dead|missed) (?:small )?blind {_A}{_ALL_IN}",
    "ante": rf"posts (?:the |an )?ante {_A}{_ALL_IN}",
    "straddle": rf"(?:posts (?:a |the )?)?straddle {_A}{_ALL_IN}",
    "show": r"shows \[([^\]]*)\].*",
    "muck": r"mucks hand.*",
}
"""Patterns of actions by kind, the most frequent first."""
_NOBODY = re.compile(rf".*: (?:{'|'.join(_ACTIONS.values()).replace('(?P<all_in>', '(?:')})$")


@dataclass
class PokerStarsLines(SiteLines):
    """Reader of the lines of a hand in PokerStars' text."""

    SITE = "PokerStars"
    HEADERS: ClassVar[tuple[re.Pattern[str], ...]] = (_HEADER, _OTHER_HEADER)
    PATTERNS = compiled(_ACTIONS)
    VERBS = re.compile(r"(posts|straddle|folds|checks|bets|calls|raises|shows|mucks)\b")

    def _header(self, match: re.Match[str]) -> None:
        self.number = int(match[2])
        name, game, rest = _game(match[3])
        self.limit = game.lower()
        stakes = _STAKES.search(rest)
        if not stakes:
            raise PokernetsError("the header lacks stakes such as ($0.50/$1.00 USD) or (10/20)")
        sign, small, big, more = stakes.groups()
        if sign or "." in small + big or re.search(r"\b[A-Z]{3}\b", more):
            self.scale = 100
        self._set_stakes(small, big, f"{small}/{big}")
        if "cap" in rest.lower().split():
            raise PokernetsError("games with a cap on the cost of a hand are not supported")
        self.details = {"venue": _VENUES.get(match[1].lower(), match[1])}
        if event := re.search(r"Tournament #[0-9]+,.*", name, re.IGNORECASE):
            self.details["event"] = event[0].strip()
        if level := re.search(r"Level ?([IVXLCDM]+\b|[0-9]+)", rest):
            self.details["_level"] = level[1]
        if sign:
            self.details["currency_symbol"] = sign
        if currency := re.search(r"\b([A-Z]{3})\b", more):
            self.details["currency"] = currency[1]
        self.details |= day_and_time(rest[stakes.end() :]) or day_and_time(match[3])

    def _line(self, line: str) -> None:
        if line.startswith("***"):
            self._section(line)
        elif self.in_summary:
            self._summary(line)
        elif not self.button and line.startswith("Table "):
            self._table(line)
        elif not self.events and line.startswith("Seat ") and (seat := _SEAT.fullmatch(line)):
            self._sits(int(seat[1]), seat[2], seat[3])
            if "out of hand" in seat[4]:
                self.stacks.pop(self.seats.pop(int(seat[1])))
        elif not self.events and SEATED.match(line):
            raise PokernetsError(f"`{line[:100]}` does not have the player's chips")
        else:
            self._play(line)

    def _section(self, line: str) -> None:
        street, section = _STREET.fullmatch(line), _SECTION.fullmatch(line)
        if street:
            cards = tuple(card for group in _GROUP.findall(street[3]) for card in parse_cards(group))
            run = RUNS.index(street[1]) if street[1] else 0
            self.add(street[2], cards=cards, run=run)
        elif section:
            if section[1].rpartition(" ")[2] in ("FLOP", "TURN", "RIVER"):
                raise PokernetsError(f"no cards of the {section[1].lower()}")
            self.in_summary = self.in_summary or section[1] == "SUMMARY"

    def _table(self, line: str) -> None:
        match = _TABLE.fullmatch(line)
        if not match or not match[3]:
            raise PokernetsError("the line of the table does not name the button's seat")
        self.button = int(match[3])
        self.details["table"] = match[1]
        if match[2]:
            self.details["seat_count"] = int(match[2])

    def _play(self, line: str) -> None:
        """Read cards dealt, actions, bets returned and pots collected; ignore other lines."""
        dealt = _DEALT.fullmatch(line) if line.startswith("Dealt to ") else None
        uncalled = _UNCALLED.fullmatch(line) if line.startswith("Uncalled bet ") else None
        if dealt and dealt[1] in self.stacks:
            self._shows(dealt[1], dealt[2])
        elif uncalled:
            if uncalled[2] not in self.stacks:
                raise PokernetsError(f"a bet returned to {uncalled[2]}, who has no seat")
            self.add("uncalled", uncalled[2], (self._chips(uncalled[1]),))
        elif ' said, "' not in line:
            name = self._name(line)
            if not name and _NOBODY.match(line):
                raise PokernetsError(f"`{line[:100]}` is not an action of a player with a seat")
            if not name and _HOUSE_MONEY.match(line):
                raise PokernetsError(f"`{line[:100]}`: money that the house adds to the pot is not supported")
            rest = line[len(name) :] if name else ""
            if rest.startswith(": "):
                self._acts(name, rest[2:])
            elif rest.startswith(" shows ["):
                self._acts(name, rest[1:])
            elif rest.startswith(" cashed out "):
                self.cashed_out.setdefault(name, 0)
            elif rest.startswith((" collected ", " wins ")) and (won := _COLLECTED.fullmatch(rest)):
                self.collected[name] += self._chips(won[1])
            elif rest.startswith(" collected "):
                raise PokernetsError(f"`{rest.strip()[:100]}` does not have the collected amount")

    def _acts(self, name: str, text: str) -> None:
        kind, match = self._action(text) or ("", None)
        if match and kind == "show":
            if len(match[1].split()) == 2:
                self.add("show" if self._shows(name, match[1]) else "hide", name)
        elif match:
            all_in = match.groupdict().get("all_in")
            amounts = [amount for amount in match.groups() if amount and amount != all_in]
            self.add(kind, name, tuple(map(self._chips, amounts)), all_in=bool(all_in))

    def _summary(self, line: str) -> None:
        if line.startswith("Hand cancelled"):
            raise PokernetsError("cancelled hands are not supported")
        if line.startswith("Total pot "):
            match = self._total(_TOTAL, line)
            self.rake = sum(self._chips(fee) for fee in _FEE.findall(match[3]))
        elif line.startswith("Board ") or line.split(" ", 1)[0] in RUNS:
            self._board(_BOARD, line)
        elif seat := _SUMMARY_SEAT.fullmatch(line):
            name = self.seats.get(int(seat[1]), "")
            acted = _SUMMARY_ACTED.fullmatch(seat[2].removeprefix(name)) if name and seat[2].startswith(name) else None
            if acted:
                self.add("summary", name)
            if acted and len((acted[1] or "").split()) == 2:
                self._shows(name, acted[1])
            if acted and _NOT_AWARDED in line:
                self.cashed_out[name] = sum(map(self._chips, _WON.findall(line)))

    def _chips(self, text: str) -> int:
        return _chips(text, self.scale)


def hands(text: str, header_within: re.Pattern[str] = HEADER_WITHIN) -> Iterator[tuple[int, list[str]]]:
    """Split a text into hands.

    Lines before the first header are ignored unless they are the rest of a hand. A header within a line ends a hand
    that was cut off there.

    Args:
        header_within: pattern of a header within a line.

    Yields:
        The number of the first line of each hand, and its lines.
    """
    start, lines, in_hand = 1, list[str](), False
    for number, line in enumerate(text.split("\n"), 1):
        place = _header_in(line, header_within)
        if place < 0:
            lines.append(line)
            continue
        if in_hand or any(map(_OF_A_HAND.match, lines)):
            before = line[:place].strip("\ufeff ")
            yield _without_blanks(start, [*lines, before] if before else lines)
        start, lines, in_hand = number, [line[place:]], True
    if in_hand or any(line.strip() for line in lines):
        yield _without_blanks(start, lines)


def _header_in(line: str, header_within: re.Pattern[str]) -> int:
    """Return the position of a hand's header in a line, -1 if there is none."""
    if "#" not in line or " said, " in line:
        return -1
    within = header_within.search(line)
    if within and not within[0].startswith("Poker "):  # names of other sites may end like this
        return within.start()
    header = PokerStarsLines.header(line)
    return header.start(1) if header else within.start() if within else -1


def _without_blanks(start: int, lines: list[str]) -> tuple[int, list[str]]:
    """Remove blank lines at both ends, and return the number of the first line that is left with the lines."""
    filled = [place for place, line in enumerate(lines) if line.strip()]
    return start + filled[0], lines[filled[0] : filled[-1] + 1]


@lru_cache(maxsize=1 << 16)
def _chips(text: str, scale: int) -> int:
    chips = decimal_of(text) * scale
    if chips != int(chips) or chips > MOST_CHIPS:
        raise PokernetsError(f"`{text}` is not an amount in " + ("cents" if scale > 1 else "chips"))
    return int(chips)


def _game(text: str) -> tuple[str, str, str]:
    """Split a header into the text before the game, which may be a tournament's name, the kind of limit, and the rest.

    Raises:
        PokernetsError: the game is not Texas hold'em.
    """
    *_, last = None, *_KIND.finditer(text)
    rest = text[last.end() :] if last else text
    if other := _OTHER_GAME.search(rest.partition("(")[0] if last else rest):
        raise PokernetsError(f"{other[0]} is not supported, only hold'em")
    if last is None:
        raise PokernetsError(
            "the header does not say whether the game is Hold'em No Limit, Pot Limit or Limit"
            if "hold'em" in text.lower()
            else "the header does not name the game; only hold'em is supported"
        )
    if last[1]:
        raise PokernetsError(f"{last[1]} Hold'em is not supported, only Texas hold'em")
    return text[: last.start()], last[2], rest
