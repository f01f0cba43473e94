"""Reader of Poker Hand History files (`poker.formats.phh`): no-limit (NT) and fixed-limit (FT) Texas hold'em.

Amounts may have decimals; then a chip is the smallest decimal place of the hand, a hundredth or less. A negative entry
of `blinds_or_straddles` is the post of a player new at the table, which does not move the first player to act.

Antes go into the main pot unless `ante_trimming_status` is true. Older files mean the opposite. So if only the other
reading leads to `winnings` or `finishing_stacks`, the reader uses it.

Hidden cards are `??`. A player who shows no cards at the showdown has mucked. The exception is a single player with
hidden cards to whom all others concede the pots. Fields that the rules do not need are stored.

The order of play is PokerKit's, which checks or folds for players whose action is missing. The reader does so only if
`winnings` or `finishing_stacks` then come out; the hand is marked `skipped_action`.

Payoffs follow `winnings` or else `finishing_stacks`, and the difference from the pots is the rake. Without them, if
nobody has `winnings`, or if they are rounded thirds of a pot, the payoffs follow the rules without a rake.

Files converted from sites' texts often have inconsistent amounts. `winnings` may include an uncalled bet, which is then
subtracted. They may cover only some winners, and posts may be missing. So:

- A hand is refused if it gives a player more winnings than the rules do (except for odd chips).
- But if the winnings exceed all pots, or cover only some winners, the payoffs follow the rules, and the hand is marked
  `amounts_differ`.
- With a field `_rake`, as in our files, `winnings` must fit exactly.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from typing import Any

from poker.formats import played
from poker.formats.amounts import MOST_DECIMALS, MOST_DIGITS, decimal_of, decimals_in, places, scale_of
from poker.formats.phh import GAME_FIELDS, opener
from poker.formats.played import LineError, PlayedHand, Replayer, TableRules
from poker.game.cards import parse_card
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from poker.run.limits import LONGEST_LINE, MOST_HAND_CHARACTERS, LimitError, check_length

_TABLE = re.compile(r"\[\s*+(?!_)[\w\"' -]++\s*+\]\s*(#.*)?")
_FIELD = re.compile(r"\s*([\w-]+|\"[^\"]*\"|'[^']*')\s*=")
_TOML_LINE = re.compile(r"\(at line ([0-9]+), column [0-9]+\)|\(at end of document\)")
_PLAYER = re.compile(r"p([1-9][0-9]?)")
_RESULTS = ("winnings", "finishing_stacks")


def tables(text: str) -> Iterator[tuple[int, str]]:
    """Split a file into hands as TOML; a .phh file is one hand without a table header.

    Args:
        text: text of the file.

    Yields:
        The first line of each hand, and its text.
    """
    start, lines = 1, list[str]()
    for number, line in enumerate(text.split("\n"), 1):
        if _TABLE.fullmatch(line.strip()):
            if _has_content(lines):
                yield start, "\n".join(lines)
            start, lines = number + 1, []
        else:
            lines.append(line)
    if _has_content(lines):
        yield start, "\n".join(lines)


def _has_content(lines: list[str]) -> bool:
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


def parse_hand(text: str, number: int, line: int = 1) -> PlayedHand:
    """Read the hand of one TOML table.

    Args:
        text: the table.
        number: number of the hand in the file.
        line: first line of the hand in the file.

    Raises:
        LineError: the hand cannot be read; with the line of the file.
    """
    try:
        check_length(text, MOST_HAND_CHARACTERS, "a hand")
        check_length(max(text.split("\n"), key=len), LONGEST_LINE, "a line")
        fields = tomllib.loads(text, parse_float=Decimal)
    except LimitError as error:
        raise LineError(line, f"unsupported TOML: {error}") from error
    except (ValueError, ArithmeticError, RecursionError) as error:
        place = _TOML_LINE.search(str(error))
        last = text.rstrip().count("\n") + 1
        raise LineError(line + (int(place[1]) if place and place[1] else last) - 1, f"not TOML: {error}") from error
    try:
        return _Reader(fields).hand(number, line)
    except _FieldError as error:
        raise LineError(line + _line_of(text, error.field, error.item, error.nth) - 1, str(error)) from error


def _line_of(text: str, field: str, item: str = "", nth: int = 0) -> int:
    """Return the line of a field, or of the `nth` occurrence (from 0) of an item in it; 1 if there is none."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        match = _FIELD.match(line)
        if match and match[1].strip("\"'") == field:
            for other, below in enumerate(lines[number - 1 :] if item else [], number):
                nth -= below.count(item)
                if nth < 0:
                    return other
            return number
    return 1


class _FieldError(PokernetsError):
    """An error in a field, or in one item of a field."""

    def __init__(self, field: str, reason: str, item: str = "", nth: int = 0) -> None:
        super().__init__(f"field `{field}`: {reason}")
        self.field = field
        self.item = item
        self.nth = nth


class _ResultError(_FieldError):
    """Winnings that contradict the rules."""


class _Reader:
    """Reader of the fields of one hand."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = fields
        variant = self._take("variant", str)
        if variant not in ("NT", "FT"):
            raise _FieldError(
                "variant", f"`{variant}` is not supported, only NT and FT: no-limit and limit Texas hold'em"
            )
        self._is_limit = variant == "FT"
        self._actions = self._take("actions", list)
        if not all(isinstance(action, str) for action in self._actions):
            raise _FieldError("actions", "must be a list of texts")
        self._scale = self._find_scale()
        self._replayer: type[Replayer] = Replayer

    def _take(self, name: str, kind: type = object) -> Any:
        if name not in self._fields:
            raise _FieldError("variant", f"missing field `{name}`")
        value = self._fields[name]
        if not isinstance(value, kind):
            raise _FieldError(name, f"must be {'a list' if kind is list else 'text'}, not {value!r}"[:200])
        return value

    def _find_scale(self) -> int:
        """Return the number of chips per unit of the file: 1, or at least 100 if amounts have decimals."""
        amounts = [*decimals_in([self._fields.get(name) for name in (*GAME_FIELDS, "_rake", *_RESULTS)])]
        for words in (action.split("#")[0].split() for action in self._actions):
            with suppress(PokernetsError):
                amounts += [decimal_of(words[2])] if len(words) == 3 and words[1] == "cbr" else []
        return scale_of(amounts)

    def _chips(self, field: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | Decimal):
            raise _FieldError(field, f"must contain numbers, not {value!r}"[:200])
        exact = Decimal(value)
        if exact.is_infinite() and field in ("starting_stacks", "finishing_stacks"):
            return played.MOST_CHIPS
        if not exact.is_finite():
            raise _FieldError(field, f"must contain finite numbers, not {value}")
        if exact.adjusted() > MOST_DIGITS or abs(exact) * self._scale > played.MOST_CHIPS:
            parts = f" in parts of 1/{self._scale:,}" if self._scale > 1 else ""
            raise _FieldError(field, f"amounts{parts} must be at most {played.MOST_CHIPS // self._scale}")
        if places(exact) > MOST_DECIMALS:
            raise _FieldError(field, f"amounts must have at most {MOST_DECIMALS} decimals")
        return int(exact * self._scale)

    def _amounts(self, name: str, players: int | None = None, least: int = 0) -> list[int]:
        chips = [self._chips(name, value) for value in self._take(name, list)]
        if players is not None and len(chips) != players:
            raise _FieldError(name, f"{len(chips)} amounts for {players} players")
        if chips and min(chips) < least:
            raise _FieldError(name, f"amounts must be at least {least}, not {min(chips)}")
        return chips

    def _bet(self, name: str) -> int:
        chips = self._chips(name, self._take(name))
        if chips < 1:
            raise _FieldError(name, f"must be positive, not {self._fields[name]}")
        return chips

    def _rules(self, trimmed: bool) -> TableRules:
        stacks = self._amounts("starting_stacks", least=1)
        players = len(stacks)
        antes = self._amounts("antes", players)
        posts = self._amounts("blinds_or_straddles", players, -played.MOST_CHIPS)
        if players == 2:
            antes, posts = antes[::-1], posts[::-1]
        if trimmed and players > 1:
            effective = list(map(min, antes, stacks))
            antes = [min(ante, sorted(effective)[-2]) for ante in effective]
        bets = (self._bet("small_bet"), self._bet("big_bet")) if self._is_limit else None
        left = [stack - min(stack, ante) for stack, ante in zip(stacks, antes, strict=True)]
        min_bet = bets[0] if bets else self._bet("min_bet")
        try:
            return played.table_rules(
                blinds=list(map(abs, posts)),
                starting_stacks=stacks,
                min_bet=min_bet,
                first_to_act=opener(posts, left),
                bets=bets,
                antes=antes if trimmed else (),
                dead=() if trimmed else antes,
            )
        except PokernetsError as error:
            raise _FieldError("starting_stacks", str(error)) from error

    def hand(self, number: int, line: int) -> PlayedHand:
        try:
            return self._by_results(number, line)
        except _ResultError:
            raise
        except _FieldError as error:
            self._replayer = _PassingOver
            with suppress(PokernetsError):
                hand = self._by_results(number, line)
                if any(self._stated(hand.paid)[1]) and not hand.amounts_differ and not hand.rake:
                    return replace(hand, skipped_action=True)
            raise error

    def _by_results(self, number: int, line: int) -> PlayedHand:
        """Return the hand by the reading of its antes that leads to its results."""
        trimmed = self._fields.get("ante_trimming_status", False) is True
        hand: PlayedHand | _ResultError
        try:
            hand = self._played(number, line, trimmed)
        except _ResultError as error:
            hand = error
        if isinstance(hand, _ResultError) or hand.amounts_differ:
            with suppress(PokernetsError):
                other = self._played(number, line, not trimmed)
                hand = hand if other.amounts_differ else other
        if isinstance(hand, _ResultError):
            raise hand
        return hand

    def _names(self, players: int) -> list[str]:
        names = self._fields.get("players", [""] * players)
        if not isinstance(names, list) or len(names) != players or not all(isinstance(name, str) for name in names):
            raise _FieldError("players", f"must be {players} names")
        names = [name if name.strip() else f"p{i + 1}" for i, name in enumerate(names)]
        if len(set(names)) < players:
            raise _FieldError("players", "two players have the same name")
        return names

    def _played(self, number: int, line: int, trimmed: bool) -> PlayedHand:
        rules = self._rules(trimmed)
        players = rules.num_players
        names = self._names(players)
        state, mucked = _play(self._replayer(rules, names), self._actions, self._scale)
        payoffs, rake, amounts_differ = self._results(state, mucked, names)
        given = self._fields.get("hand")
        read = *GAME_FIELDS, "players", "_rake"
        details = {name: value for name, value in self._fields.items() if name not in read}
        if isinstance(given, int) and not isinstance(given, bool) and 0 <= given < played.MOST_HANDS:
            number = given
            del details["hand"]
        elif isinstance(given, str):
            number = played.number_in(given) or number
        hand = PlayedHand(number, state, tuple(payoffs), tuple(names), mucked, rake, self._scale, details, line)
        return replace(hand, amounts_differ=amounts_differ, has_number=given is not None)

    def _results(
        self, state: HandState, mucked: frozenset[int], names: Sequence[str]
    ) -> tuple[Sequence[int], int, bool]:
        """Return the payoffs [P], the rake, and whether the file has other amounts."""
        paid, rake = state.paid, self._chips("_rake", self._fields.get("_rake", 0))
        pot = sum(paid)
        field, stated = self._stated(paid)
        if rake:
            field, stated = "winnings", self._amounts("winnings", len(names))
        try:
            by_rules = played.payoffs_by_rules(state, mucked)
        except PokernetsError as error:
            raise _FieldError("actions", str(error)) from error
        if not any(stated):
            return by_rules, 0, False
        if not rake and sum(stated) != pot and self._are_rounded(stated, played.settled(state, mucked)):
            return by_rules, 0, False
        gains = [net + chips for net, chips in zip(by_rules, paid, strict=True)]
        if not rake and field == "winnings":
            bets = zip(stated, state.betting.committed, state.betting.called, strict=True)
            without = [got - (chips - called) for got, chips, called in bets]
            stated = min(stated, without, key=lambda won: (not _by_winners(won, gains), abs(pot - sum(won))))
        if not rake and _by_winners(stated, gains) and sum(stated) > pot:
            return by_rules, 0, True
        try:
            payoffs = played.payoffs_collected(state, mucked, stated, rake or pot - sum(stated), names)
        except PokernetsError as error:
            raise _ResultError(field, str(error)) from error
        if not rake and any(gain and not got for gain, got in zip(gains, stated, strict=True)):
            return by_rules, 0, True
        return payoffs, pot - sum(stated), False

    def _are_rounded(self, stated: list[int], end: HandState) -> bool:
        """Return whether chips [P] are rounded parts of pots that whole chips cannot pay, such as thirds."""
        in_chips = not any(map(places, decimals_in([self._fields.get(name) for name in GAME_FIELDS])))
        pairs = zip(stated, end.divided_payoffs(), end.paid, strict=True)
        return in_chips and all(abs(got - net - chips) < 1 for got, net, chips in pairs)

    def _stated(self, paid: Sequence[int]) -> tuple[str, list[int]]:
        """Return the field with the results, and the chips [P] that each player got from the pots; empty if unknown."""
        winnings, ends = (self._amounts(name, len(paid)) if name in self._fields else [] for name in _RESULTS)
        if any(winnings):
            return "winnings", winnings
        if not ends or played.MOST_CHIPS in ends:
            return "finishing_stacks", []
        starts = self._amounts("starting_stacks")
        return "finishing_stacks", [end - start + chips for end, start, chips in zip(ends, starts, paid, strict=True)]


def _by_winners(stated: list[int], gains: list[int]) -> bool:
    """Return whether only winners by the rules have won according to the file."""
    return all(got == 0 or (got > 0 and gain > 0) for got, gain in zip(stated, gains, strict=True))


class _PassingOver(Replayer):
    """A replayer of a hand with missing actions: such players check, or fold if there is a bet to call."""

    def deal(self, cards: Sequence[int]) -> None:
        while len(self.board) == self._wanted and not self.betting.is_over:
            self._pass_over()
        super().deal(cards)

    def call(self, player: int, chips: int | None = None) -> None:
        self._pass_to(player)
        super().call(player, chips)

    def raise_to(self, player: int, total: int) -> None:
        self._pass_to(player)
        super().raise_to(player, total)

    def _pass_to(self, player: int) -> None:
        street = self.betting.street
        while self.betting.to_act != player and self.betting.waiting >> player & 1 and self.betting.street == street:
            self._pass_over()

    def _pass_over(self) -> None:
        self._apply(self.betting.to_act, FOLD if self.betting.to_call else CALL)


def _play(replayer: Replayer, actions: list[str], scale: int) -> tuple[Any, frozenset[int]]:
    """Return the finished state, and the players who mucked."""
    players = replayer.betting.rules.num_players
    hands: list[list[int]] = [[] for _ in range(players)]
    shows: dict[int, bool | None] = {}
    for place, action in enumerate(actions):
        try:
            if words := action.split("#")[0].split():
                _step(replayer, words, hands, shows, scale)
        except PokernetsError as error:
            nth = actions[:place].count(action)
            raise _FieldError("actions", f"`{action[:100]}`: {error}", action, nth) from error
    try:
        state = replayer.finish(hands)
    except PokernetsError as error:
        raise _FieldError("actions", str(error)) from error
    seen = {i for i, hand in enumerate(hands) if hand and shows.get(i, True)}
    return state, played.mucked_hands(state, seen, {i for i, whole in shows.items() if whole is None})


def _step(
    replayer: Replayer, words: list[str], hands: list[list[int]], shows: dict[int, bool | None], scale: int
) -> None:
    match words:
        case ["d", "db", cards]:
            replayer.deal(_cards(cards))
        case ["d", "dh", who, cards]:
            hand = hands[_player(who, hands)]
            hand += _cards(cards)
            if len(hand) > 2:
                raise LineError(0, f"a hand has at most two hole cards, not {len(hand)}")
        case [who, "f"]:
            replayer.fold(_player(who, hands))
        case [who, "cc"]:
            replayer.call(_player(who, hands))
        case [who, "cbr", amount]:
            replayer.raise_to(_player(who, hands), int(decimal_of(amount) * scale))
        case [who, "sm"]:
            shows[_player(who, hands)] = False
        case [who, "sm", "-"]:
            shows[_player(who, hands)] = bool(hands[_player(who, hands)])
        case [who, "sm", cards]:
            player, seen = _player(who, hands), _cards(cards)
            if seen and hands[player] and sorted(seen) != sorted(hands[player]):
                raise LineError(0, "the cards differ from the cards dealt")
            hands[player] = seen if len(seen) == 2 else hands[player]
            shows[player] = True if len(seen) == 2 else None
        case _:
            raise LineError(0, "not an action such as `d dh p1 AhKd`, `d db AhKdQc`, `p1 f`, `p1 cbr 300` or `p1 sm`")


def _player(text: str, hands: Sequence[object]) -> int:
    match = _PLAYER.fullmatch(text)
    if not match or int(match[1]) > len(hands):
        raise LineError(0, f"`{text}` is not one of the players p1 to p{len(hands)}")
    return int(match[1]) - 1


def _cards(text: str) -> list[int]:
    """Return the known cards of a text such as `AhKd`, `??` or `A?`."""
    if len(text) % 2:
        raise LineError(0, f"`{text}` is not a list of cards such as `AhKd`")
    cards = [text[i : i + 2] for i in range(0, len(text), 2)]
    return [parse_card(card) for card in cards if "?" not in card]
