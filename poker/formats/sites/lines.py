"""Hands in the texts of sites, read line by line without the rules.

Every hand begins with a header. Player names may contain any characters, so lines are matched against the names of the
seats. Lines about chat and about players who join, leave or time out are ignored.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from poker.formats.played import LineError, PlayedHand
from poker.formats.stated import Event, StatedHand, played
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError
from poker.run.limits import LONGEST_SITE_LINE, check_length

SYMBOL = r"[^\d\s.,()\[\]/+-]{0,4}"
"""Pattern of a currency symbol."""
AMOUNT = rf"{SYMBOL}\s?([0-9][0-9,]*(?:\.[0-9]+)?)"
_THOUSANDS = re.compile(rf"{SYMBOL}[0-9]{{1,3}}(?:['\u2019][0-9]{{3}})+(?:\.[0-9]+)?")
SEATED = re.compile(r"Seat \d+: .*\([^()]*\d")
"""Pattern of the beginning of a line that seats a player with chips, in digits of any script."""


@dataclass
class SiteLines(StatedHand, ABC):
    """Reader of the lines of one hand; a subclass reads a site's header and its other lines.

    Attributes:
        in_summary: whether the summary has begun.
        has_colons: whether a player's name contains a colon and a space, which end names in lines of actions.
    """

    SITE: ClassVar[str]
    HEADERS: ClassVar[tuple[re.Pattern[str], ...]]
    MARK: ClassVar[str] = "#"

    """Text that all headers contain."""
    PATTERNS: ClassVar[dict[str, re.Pattern[str]]]

    """Patterns of actions after the name of a player, by kind."""
    VERBS: ClassVar[re.Pattern[str]]

    """Pattern of words that begin an action, which must not be ignored."""

    in_summary: bool = False
    has_colons: bool = False

    @classmethod
    def parse(cls, lines: Sequence[str], line: int = 1) -> PlayedHand:
        """Read a hand and play it by the rules.

        Args:
            lines: lines of the hand from its header on.
            line: number of the first line in the file.

        Raises:
            LineError: the hand cannot be read; with the line of the file.
        """
        hand = cls(line)
        hand.read(lines)
        return played(hand)

    def read(self, texts: Sequence[str]) -> None:
        """Read all lines from the header on.

        Args:
            texts: the lines.

        Raises:
            LineError: a line is wrong.
        """
        for number, text in enumerate(texts, self.line):
            self.at = number
            line = " ".join(text.replace("\u200e", "").split())
            try:
                check_length(line, LONGEST_SITE_LINE, "a line")
                if self.at == self.line:
                    match = self.header(line)
                    if not match:
                        raise PokernetsError(f"not the header of a {self.SITE} hand")
                    self._header(match)
                elif line:
                    self._line(line)
            except LineError:
                raise
            except PokernetsError as error:
                amount = _THOUSANDS.search(line)
                why = f"`{amount[0]}` has thousands without commas, unlike `1,200.50`" if amount else str(error)
                raise LineError(self.at, why) from error
        if not self.seats:
            raise LineError(self.line, "the hand has no seats")
        self._check_end()

    @classmethod
    def header(cls, line: str) -> re.Match[str] | None:
        """Match the first line of a hand.

        Returns:
            The match; None for other lines.
        """
        line = line[:LONGEST_SITE_LINE]
        return next(filter(None, (pattern.fullmatch(line) for pattern in cls.HEADERS if cls.MARK in line)), None)

    @abstractmethod
    def _header(self, match: re.Match[str]) -> None:
        """Read the header."""

    @abstractmethod
    def _line(self, line: str) -> None:
        """Read or ignore a line after the header that is not blank."""

    @abstractmethod
    def _chips(self, text: str) -> int:
        """Return an amount in chips."""

    def _check_end(self) -> None:
        """Check that the hand is complete.

        Raises:
            LineError: the hand was cut off.
        """
        if self.total is None:
            raise LineError(self.at, "the hand ends without a summary of the total pot")

    def _set_stakes(self, small: str, big: str, text: str) -> None:
        self.stakes = self._chips(small), self._chips(big)
        if not 0 < self.stakes[0] <= self.stakes[1]:
            raise PokernetsError(f"unreadable stakes: {text}")

    def _sits(self, seat: int, name: str, chips: str) -> None:
        if seat in self.seats or name in self.stacks:
            raise PokernetsError(f"seat {seat} or player {name} occurs twice")
        self.seats[seat] = name
        self.stacks[name] = self._chips(chips)
        self.has_colons = self.has_colons or ": " in name

    def _name(self, line: str) -> str:
        """Return the longest player name that the line begins with."""
        first = line.partition(": ")[0]
        if first in self.stacks and not self.has_colons:
            return first
        return max((n for n in self.stacks if line.startswith((n + ": ", n + " "))), key=len, default="")

    def _shows(self, name: str, text: str) -> bool:
        """Record hole cards; return False if some of them are hidden, as in `XX Qs`."""
        hidden = not {"XX", "??", "**"}.isdisjoint(text.split())
        if not hidden:
            self.note_cards(name, parse_cards(text))
        return not hidden

    def _action(self, text: str, seated: bool = True) -> tuple[str, re.Match[str]] | None:
        """Return the kind and the match of a player's action; None for other texts."""
        for kind, pattern in self.PATTERNS.items():
            if match := pattern.fullmatch(text):
                if not seated:
                    raise PokernetsError(f"`{text[:100]}` is not an action of a player with a seat")
                return kind, match
        if seated and self.VERBS.match(text):
            raise PokernetsError(f"`{text[:100]}` is not an action")
        return None

    def _total(self, pattern: re.Pattern[str], line: str) -> re.Match[str]:
        match = pattern.fullmatch(line)
        if not match or self.total:
            raise PokernetsError(f"`{line[:100]}` is not a total pot")
        self.total = Event(self.at, "total", "", (self._chips(match[1]),))
        return match

    def _board(self, pattern: re.Pattern[str], line: str) -> None:
        match = pattern.fullmatch(line)
        if not match:
            raise PokernetsError(f"`{line[:100]}` is not a board")
        self.boards.append(parse_cards(match[1]))


def compiled(patterns: dict[str, str], flags: int = 0) -> dict[str, re.Pattern[str]]:
    """Compile regular expressions.

    Args:
        patterns: expressions by kind.
        flags: flags of `re.compile`.
    """
    return {kind: re.compile(text, flags) for kind, text in patterns.items()}
