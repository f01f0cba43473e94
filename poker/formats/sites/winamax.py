"""Reader of the text of Winamax: no-limit, pot-limit and limit Texas hold'em, cash games and tournaments.

Its lines are PokerStars' lines without colons, and the currency symbol follows the amount. The total pot excludes the
rake and includes an uncalled bet. A small blind posted out of position is dead. Once a player is all-in, the size of a
raise is not checked, only its total.
"""

import re
from dataclasses import dataclass
from functools import partial

from poker.formats.played import number_in
from poker.formats.sites.pokerstars_read import PokerStarsLines
from poker.formats.sites.pokerstars_read import hands as split
from poker.formats.sites.times import day_and_time
from poker.formats.stated import Event
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError

_HEADER = re.compile(
    r"\W*Winamax Poker - (.*?) - HandId: #([0-9]{1,20}-[0-9]{1,7}-[0-9]{1,10}) - (.*?) \(([^)]*)\) - (.*)"
)
_HEADER_WITHIN = re.compile(r"Winamax Poker - .{1,100} - HandId: #[0-9]")
_STAKES = re.compile(r"(?:[0-9.]+€?/)?([0-9.]+)€?/([0-9.]+)(€?)")
_TABLE = re.compile(r"Table: '(.*)' ([0-9]+)-max \([a-z ]+\) Seat #([0-9]+) is the button")
_SEAT = re.compile(r"(Seat [0-9]+: .* \()([0-9.]+)€?((?:, [0-9.]+€? bounty)?\))")
_EMPTY_SEAT = re.compile(r"Seat [0-9]+: .* \(\)")
_AMOUNT = re.compile(r"(?<=[ (])([0-9]+(?:\.[0-9]+)?)€")
_TOTAL = re.compile(r"Total pot ([0-9.]+) \| (?:No rake|Rake ([0-9.]+))")
_GAME = re.compile(r"Holdem (no limit|pot limit|fixed limit|limit)")


hands = partial(split, header_within=_HEADER_WITHIN)
"""Split a text into hands: the number of the first line of each hand, and its lines."""


@dataclass
class WinamaxLines(PokerStarsLines):
    """Reader of the lines of a hand in Winamax's text."""

    SITE = "Winamax"
    HEADERS = (_HEADER,)

    def _header(self, match: re.Match[str]) -> None:
        kind, name, game, stakes, date = match.groups()
        self.number = number_in(name)
        limit, blinds = _GAME.fullmatch(game), _STAKES.fullmatch(stakes)
        if not limit:
            raise PokernetsError(f"`{game[:100]}` is not supported, only hold'em")
        if not blinds:
            raise PokernetsError("the header lacks stakes such as (0.01€/0.02€)")
        self.limit = limit[1]
        self.details = {"venue": "Winamax", "hand": name} | {"_time_zone": "UTC"} | day_and_time(date)
        if blinds[3]:
            self.details |= {"currency_symbol": "€", "currency": "EUR"}
        if blinds[3] or not kind.startswith("Tournament"):
            self.scale = 100
        self._set_stakes(blinds[1], blinds[2], stakes[:100])

    def _line(self, line: str) -> None:
        """Translate a line to PokerStars' words, and read it."""
        line = _AMOUNT.sub(r"\1", line)
        if table := _TABLE.fullmatch(line):
            self.button = int(table[3])
            self.details |= {"table": table[1], "seat_count": int(table[2])}
        elif _EMPTY_SEAT.fullmatch(line) or line in ("*** ANTE/BLINDS ***", "*** PRE-FLOP ***"):
            return
        elif (seat := _SEAT.fullmatch(line)) and not self.events and not self.in_summary:
            super()._line(f"{seat[1]}{seat[2]} in chips{seat[3]}")
        elif total := _TOTAL.fullmatch(line):
            self.rake = self._chips(total[2] or "0")
            self.total = Event(self.at, "total", "", (self._chips(total[1]) + self.rake,))
        elif line.startswith("Board: [") and self.in_summary:
            self.boards.append(parse_cards(line.removeprefix("Board: [").removesuffix("]")))
        else:
            super()._line(line if self.in_summary else self._acted(line))
            self._raise_over_a_short_blind()

    def _raise_over_a_short_blind(self) -> None:
        """Keep only the total of a raise if a blind is all-in; its size does not count from the largest blind."""
        if self.events and self.events[-1].kind == "raise" and any(event.all_in for event in self.events[:-1]):
            last = self.events[-1]
            self.events[-1] = last._replace(kind="raise to", chips=last.chips[1:])

    def _acted(self, line: str) -> str:
        """Return the line of an action with PokerStars' colon after the name; return other lines unchanged."""
        name = self._name(line)
        if not name or line.startswith((f"{name} collected ", f"{name}: ")):
            return line
        text = line.removeprefix(f"{name} ")
        if text.endswith(" out of position"):
            text = text.removesuffix(" out of position").replace("posts small blind", "posts a dead blind")
        return f"{name}: {text}"
