"""Reader of the texts of partypoker and of 888: no-limit and pot-limit Texas hold'em for money.

Amounts are the chips that an action puts in. Neither text has pots or a rake, so the rake is the difference between the
pots and the winnings. partypoker, whose text of 2026 has other brackets, includes an uncalled bet in the winnings; 888
does not. Amounts may have the notation of many countries. Cards are read in English.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from poker.formats.played import MOST_HANDS, LineError
from poker.formats.sites.lines import SEATED, SiteLines, compiled
from poker.formats.sites.times import day_and_time
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError

_HEADER = re.compile(r"\W*\*{5} ?(?:(\w+) )?Hand History For Game (\w{1,40}) \*{5}\s*", re.IGNORECASE)
_GAME = re.compile(
    r"\b(?:(NL|PL) Texas Hold'em|(No Limit|Pot Limit) Holdem|Texas Holdem Game Table \((NL|PL)\))", re.IGNORECASE
)
_NUMBER = r"[0-9][0-9 ,.\u00a0]*"
_STAKES = re.compile(rf"[^\d/]{{0,4}}({_NUMBER})/[^\d/]{{0,4}}({_NUMBER})")
_AMOUNT = re.compile(r"(0|[1-9][0-9]{0,2}(?:[ ,.\u00a0][0-9]{3})+|[1-9][0-9]*)(?:[.,]([0-9]{1,2}))?")
_SEAT = re.compile(r"Seat ([0-9]+): (.*) \( ?([^()]*) ?\)", re.IGNORECASE)
_STREET = re.compile(r"\*\* Dealing (flop|turn|river) \*\*(?: :)? \[([^\]]*)\]", re.IGNORECASE)
_WHERE = re.compile(r"(?:Table (.*?) ?\([^()]*\))?(?: -- )?(?:Seat ([0-9]+) is the button)?", re.IGNORECASE)
_IN = r" ?[\[(]([^\])+]*)[\])]\.?"
_ACTIONS = {
    "small blind": rf"posts small blind{_IN}",
    "big blind": rf"posts big blind{_IN}",
    "both blinds": r"posts (?:big blind \+ dead|dead blind) ?[\[(]([^\])]*)[\])]\.?",
    "ante": rf"posts ante{_IN}",
    "fold": r"folds\.?",
    "check": r"checks\.?",
    "call": rf"calls{_IN}",
    "put": rf"(?:bets|raises|is all-in) ?{_IN}",
    "raise to": r"raises \S+ to (\S+)",
    "show": r"shows \[([^\]]*)\].*",
    "muck": r"(?:doesn't show|mucks) \[([^\]]*)\].*",
    "collected": rf"collected{_IN}",
    "balance": r"balance .*\bcollected (\S+), net .*",
    "wins": r"wins (\S+(?: [A-Z]{3})?)(?: from the (?:main|side) pot.*)?",
}
_POSTS = ("small blind", "big blind", "both blinds", "ante")


def hands(text: str) -> Iterator[tuple[int, list[str]]]:
    """Split a text into hands; lines before the first header are ignored.

    Yields:
        The number of the first line of each hand, and its lines.
    """
    start, lines = 0, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if PartyLines.header(line):
            if lines:
                yield start, lines
            start, lines = number, []
        if start:
            lines.append(line)
    if lines:
        yield start, lines


@dataclass
class PartyLines(SiteLines):
    """Reader of the lines of a hand in the text of partypoker or 888.

    Attributes:
        scale: cents per unit of the currency.
        rake: rake in chips; None, because the text has none.
        board: cards on the board so far.
    """

    SITE = "partypoker or 888"
    HEADERS = (_HEADER,)
    MARK = "*****"
    PATTERNS = compiled(_ACTIONS, re.IGNORECASE)
    VERBS = re.compile(r"(?:posts|folds|checks|calls|bets|raises|is all-in|collected|wins)\b", re.IGNORECASE)

    scale: int = 100
    rake: int | None = None
    board: tuple[int, ...] = ()

    def _header(self, match: re.Match[str]) -> None:
        if not (match[2].isascii() and match[2].isalnum()):
            raise PokernetsError(f"`{match[2]}` is not a hand number, which has ASCII digits and letters")
        self.number = int(match[2]) if match[2].isdecimal() else int(match[2], 36) % MOST_HANDS
        self.wins_include_uncalled = not match[1]
        self.details = {"venue": match[1] or "partypoker"}

    def _line(self, line: str) -> None:
        if self.at == self.line + 1:
            self._game(line)
        elif street := _STREET.fullmatch(line):
            self.board += parse_cards(street[2].replace(",", " "))
            self.add(street[1].upper(), cards=self.board)
        elif line.startswith("**"):
            return
        elif where := _WHERE.fullmatch(line):
            self.button = int(where[2] or self.button)
            self.details |= {"table": where[1]} if where[1] else {}
        elif not self.events and (seat := _SEAT.fullmatch(line)):
            self._sits(int(seat[1]), seat[2], seat[3])
        elif not self.events and SEATED.match(line):
            raise PokernetsError(f"`{line[:100]}` does not have the player's seat and chips")
        elif line.startswith("Dealt to ") and (dealt := re.fullmatch(r"Dealt to (.*?) ?\[([^\]]*)\]", line)):
            self._show_cards(dealt[1], dealt[2])
        elif name := self._name(line):
            self._acts(name, line.removeprefix(f"{name} "))

    def _game(self, line: str) -> None:
        game = _GAME.search(line)
        if not game or re.search(r"\b(?:Trny|Tournament)\b", line):
            raise PokernetsError(f"`{line[:100]}` is not supported, only no-limit and pot-limit hold'em for money")
        self.limit = "pot limit" if "".join(filter(None, game.groups())).upper().startswith("P") else "no limit"
        symbol = re.match(r"[$€£]", line)
        self.details |= {"currency_symbol": symbol[0]} if symbol else {}
        if stakes := _STAKES.match(line):
            self.stakes = self._chips(stakes[1]), self._chips(stakes[2])
        self.details |= day_and_time(line)

    def _acts(self, name: str, text: str) -> None:
        kind, match = self._action(text) or ("", None)
        if match is None:
            return
        if kind in ("collected", "balance", "wins"):
            self.collected[name] += self._chips(match[1])
        elif kind in ("show", "muck"):
            self._show_cards(name, match[1])
            self.add(kind, name, cards=self.cards.get(name, ()))
        else:
            chips = tuple(sum(map(self._chips, group.split("+"))) for group in match.groups())
            self.add(kind, name, chips, all_in=kind in _POSTS and sum(chips) == self.stacks[name])

    def _show_cards(self, name: str, cards: str) -> None:
        if name in self.stacks and len(cards.replace(",", " ").split()) == 2:
            self._shows(name, cards.replace(",", " "))

    def _chips(self, text: str) -> int:
        match = _AMOUNT.fullmatch(re.sub(r"[$€£]|[A-Z]{3}", "", text).strip())
        if not match or len(match[1]) > 12:
            raise PokernetsError(f"`{text[:100]}` is not an amount")
        return int(re.sub(r"\D", "", match[1])) * 100 + int((match[2] or "0").ljust(2, "0"))

    def _check_end(self) -> None:
        if not self.collected:
            raise LineError(self.at, "the hand ends without a winner")
        posted = [event.chips[0] for event in self.events if event.kind == "big blind"]
        if not self.stakes[1] and posted:
            self.stakes = min(posted), max(posted)
