"""Reader of Open Hand Histories (hh-specs.handhistory.org): no-limit, pot-limit and limit Texas hold'em.

A file contains JSON objects `{"ohh": {...}}` one after the other. By the specification, the amount of an action is the
number of chips that it adds to the pot, and the pots exclude an uncalled bet. Some writers give totals of the street
instead, or leave an uncalled bet in the pot. The reader tries the specification first, then totals. A reading is
accepted if the pots are right.

Amounts of money are cents, or smaller parts. A player who shows no cards at the showdown has mucked. If the file names
nobody who shows, all players with known cards have shown them.
"""

import json
import re
from bisect import bisect
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from decimal import Decimal
from itertools import pairwise
from typing import Any

from poker.formats.amounts import decimals_in, scale_of
from poker.formats.played import MOST_CHIPS, LineError, PlayedHand, number_in
from poker.formats.stated import Event, StatedHand, played
from poker.game.cards import parse_cards
from poker.run.errors import PokernetsError
from poker.run.limits import MOST_HAND_CHARACTERS, check_length, parse_json

_HAND = re.compile(r'\{\s*"ohh"\s*:')
_CURRENCY = re.compile("[A-Z]{3}")
_ACTION = re.compile(r'"action"\s*:')
STREETS = ("Preflop", "Flop", "Turn", "River", "Showdown")
KINDS = {
    "Post SB": "small blind",
    "Post BB": "big blind",
    "Post Ante": "ante",
    "Post Dead": "dead",
    "Post Extra Blind": "straddle",
    "Straddle": "straddle",
    "Fold": "fold",
    "Check": "check",
    "Call": "call",
    "Bet": "put",
    "Raise": "put",
    "Shows Cards": "show",
}
_BETS = ("Call", "Bet", "Raise")
_OVERLOOKED = ("Dealt Cards", "Mucks Cards", "Added Chips", "Sits Down", "Stands Up", "Added To Pot")
_AMOUNTS = (
    *("starting_stack", "amount", "rake", "jackpot", "win_amount"),
    *("small_blind_amount", "big_blind_amount", "ante_amount"),
)
_LIMITS = {"NL": "no limit", "PL": "pot limit", "FL": "limit"}


def hands(text: str) -> Iterator[tuple[int, str]]:
    """Iterate over the JSON objects of the hands.

    Args:
        text: text of the file.

    Yields:
        The first line of each hand, and its text up to the next hand.
    """
    starts = [match.start() for match in _HAND.finditer(text)] or [max(0, text.find("{"))]
    line = 1 + text.count("\n", 0, starts[0])
    for start, end in pairwise([*starts, len(text)]):
        yield line, text[start:end].rstrip(" \n,]")
        line += text.count("\n", start, end)


def parse_hand(text: str, number: int, line: int = 1) -> PlayedHand:
    """Read the hand of one JSON object.

    Args:
        text: the object.
        number: number of the hand in the file.
        line: first line of the hand in the file.

    Raises:
        LineError: the hand cannot be read; with the line of the file.
    """
    try:
        check_length(text, MOST_HAND_CHARACTERS, "a hand")
        tree = parse_json(text, exact=True)
    except json.JSONDecodeError as error:
        raise LineError(line + error.lineno - 1, f"not JSON: {error.msg}, column {error.colno}") from error
    except (ValueError, PokernetsError) as error:
        raise LineError(line, f"unsupported JSON: {error}") from error
    fields = tree.get("ohh") if isinstance(tree, dict) else None
    if not isinstance(fields, dict):
        raise LineError(line, 'no hand: expected {"ohh": {...}}')
    ends = [match.start() for match in re.finditer("\n", text)]
    lines = [line + bisect(ends, match.start()) for match in _ACTION.finditer(text)]
    try:
        return played(_OpenHand(fields, number, line, lines, totals=False))
    except LineError as error:
        with suppress(LineError):
            return played(_OpenHand(fields, number, line, lines, totals=True))
        raise error


class _OpenHand(StatedHand):
    """Reader of the fields of one hand.

    `lines` are the lines of the actions. With `totals`, amounts of actions are totals of the street.
    """

    def __init__(self, fields: dict[str, Any], number: int, line: int, lines: list[int], totals: bool) -> None:
        super().__init__(line, number, at=line)
        self._fields, self._lines, self._totals = fields, lines, totals
        self._names: dict[object, str] = {}
        self._street: dict[str, int] = {}

        """Chips put in on the current street, by player."""
        try:
            self._game()
            self._players()
            self._rounds()
            self._pots()
        except PokernetsError as error:
            raise LineError(self.at, str(error)) from error

    def _game(self) -> None:
        fields = self._fields
        game, limit = fields.get("game_type"), fields.get("bet_limit")
        kind = limit.get("bet_type") if isinstance(limit, dict) else "NL"
        if game != "Holdem":
            raise PokernetsError(f"field `game_type`: {_short(game)} is not supported, only Holdem")
        if not isinstance(kind, str) or kind not in _LIMITS:
            raise PokernetsError(f"field `bet_limit`: {_short(kind)} is not supported, only NL, PL and FL")
        if isinstance(limit, dict) and limit.get("bet_cap"):
            raise PokernetsError("field `bet_limit`: games with a cap on the cost of a hand are not supported")
        flags = fields.get("flags")
        if isinstance(flags, list | str) and "Run_It_Twice" in flags:
            raise PokernetsError("field `flags`: a board that was run twice is not supported")
        self.limit = _LIMITS[kind]
        self.scale = self._scale()
        big = self._chips(fields, "big_blind_amount")
        small = self._chips(fields, "small_blind_amount")
        self.stakes = (big, 2 * big) if self.is_limit else (small, big)
        if big < 1:
            raise PokernetsError("field `big_blind_amount`: must be positive")
        given = fields.get("game_number")
        given = str(given).strip() if isinstance(given, str | int) else ""
        self.has_number = bool(given)
        self.number = number_in(given) or self.number
        self.details = self._details() | ({"hand": given} if given and given != str(self.number) else {})

    def _details(self) -> dict[str, object]:
        fields = self._fields
        details: dict[str, object] = {}
        for name, ours in (("site_name", "venue"), ("table_name", "table"), ("currency", "currency")):
            if isinstance(fields.get(name), str) and fields[name]:
                details[ours] = fields[name]
        size = fields.get("table_size")
        if isinstance(size, int) and 1 < size < 100:
            details["seat_count"] = size
        with suppress(ValueError, OverflowError):
            moment = datetime.fromisoformat(str(fields.get("start_date_utc")))
            moment = moment.astimezone(UTC) if moment.tzinfo else moment
            details |= {"year": moment.year, "month": moment.month, "day": moment.day}
            details |= {"time": moment.time().replace(microsecond=0), "_time_zone": "UTC"}
        return details

    def _scale(self) -> int:
        """Return the chips per unit of the file: 1, or at least 100 for money and for amounts with decimals."""
        money = _CURRENCY.fullmatch(str(self._fields.get("currency"))) and not self._fields.get("tournament")
        return scale_of(decimals_in(self._fields, _AMOUNTS), bool(money))

    def _chips(self, fields: dict[str, Any], name: str, default: int | None = None) -> int:
        value = fields.get(name, default)
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise PokernetsError(f"field `{name}`: must be a number, not {_short(value)}")
        chips = Decimal(value) * self.scale
        if not chips.is_finite() or not 0 <= chips <= MOST_CHIPS or chips != int(chips):
            raise PokernetsError(f"field `{name}`: {_short(value)} is not an amount")
        return int(chips)

    def _list(self, fields: dict[str, Any], name: str) -> list[dict[str, Any]]:
        items = fields.get(name)
        if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
            raise PokernetsError(f"field `{name}`: must be a list of objects")
        return items

    def _players(self) -> None:
        for player in self._list(self._fields, "players"):
            seat, name, key = player.get("seat"), player.get("name"), player.get("id")
            if type(seat) is not int or not 0 <= seat < 100 or seat in self.seats:
                raise PokernetsError(f"field `players`: seat {_short(seat)} is not a seat, or occurs twice")
            if not isinstance(name, str) or not name.strip() or not isinstance(key, int | str):
                raise PokernetsError("field `players`: every player has an `id` and a `name`")
            if name in self.stacks or key in self._names:
                raise PokernetsError(f"field `players`: `{name[:100]}` occurs twice")
            self.seats[seat], self._names[key] = name, name
            self.stacks[name] = self._chips(player, "starting_stack")
            if player.get("cards"):
                self._know(name, player["cards"])
        button = self._fields.get("dealer_seat")
        if type(button) is not int or not 0 <= button < 100:
            raise PokernetsError(f"field `dealer_seat`: {_short(button)} is not a seat")
        self.button = button

    def _player(self, fields: dict[str, Any]) -> str:
        """Return the name of the player whose action or winnings these are."""
        key = fields.get("player_id")
        if not isinstance(key, int | str) or key not in self._names:
            raise PokernetsError(f"field `player_id`: {_short(key)} is not a player")
        return self._names[key]

    def _know(self, name: str, cards: object) -> None:
        """Record a player's cards, unless one of them is missing or hidden."""
        hand = _cards(cards)
        if len(hand) > 1:
            self.note_cards(name, hand)

    def _rounds(self) -> None:
        board, lines = tuple[int, ...](), [*self._lines]
        for fields in self._list(self._fields, "rounds"):
            self.at = self.line
            street = fields.get("street")
            if not isinstance(street, str) or street.title() not in STREETS:
                raise PokernetsError(f"field `street`: {_short(street)} must be one of {', '.join(STREETS).lower()}")
            if street.title() in STREETS[1:-1]:
                board = (*board, *_cards(fields.get("cards")))
                self.at = lines[0] if lines else self.line
                self.add(street.upper(), cards=board)
                self._street = {}
            for action in self._list(fields, "actions") if fields.get("actions") else ():
                self.at = lines.pop(0) if lines else self.line
                self._action(action)
        self.at = self.line
        if not any(event.kind == "show" for event in self.events):
            mucked = {event.player for event in self.events if event.kind == "muck"}
            for name in filter(lambda name: name not in mucked, self.cards):
                self.add("show", name)

    def _action(self, action: dict[str, Any]) -> None:
        kind = action.get("action")
        if kind not in (*KINDS, *_OVERLOOKED):
            raise PokernetsError(f"field `action`: {_short(kind)} is not an action")
        name = self._player(action)
        if action.get("cards"):
            self._know(name, action["cards"])
        if kind == "Mucks Cards":
            self.add("muck", name)
        if kind in _OVERLOOKED or (kind == "Shows Cards" and name not in self.cards):
            return
        chips = self._chips(action, "amount", 0)
        if kind in _BETS:
            chips -= self._street.get(name, 0) if self._totals else 0
        if kind not in ("Post Ante", "Post Dead"):
            self._street[name] = self._street.get(name, 0) + chips
        posted = kind.startswith(("Post", "Straddle"))
        all_in = posted and (action.get("is_allin") is True or chips == self.stacks[name])
        self.add(KINDS[kind], name, (chips,) if posted or kind in _BETS else (), all_in=all_in)

    def _pots(self) -> None:
        """Read the winnings and the rake; the pot may include an uncalled bet."""
        total = self.rake = 0
        for pot in self._list(self._fields, "pots"):
            total += self._chips(pot, "amount")
            self.rake += self._chips(pot, "rake", 0) + self._chips(pot, "jackpot", 0)
            for win in self._list(pot, "player_wins"):
                self.collected[self._player(win)] += self._chips(win, "win_amount")
        self.total = Event(self.line, "total", "", (total,))


def _cards(value: object) -> tuple[int, ...]:
    """Return the cards of a list of texts or of None; empty if one is hidden."""
    texts = value if isinstance(value, list) else []
    if not all(isinstance(text, str) for text in texts) or len(texts) > 5:
        raise PokernetsError("field `cards`: must be a list of cards such as `Ah`")
    return () if any(set(text) & set("?Xx") for text in texts) else parse_cards("".join(texts))


def _short(value: object) -> str:
    return f"`{str(value)[:100]}`"
