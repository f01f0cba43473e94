"""Bet menus: the raise sizes that a betting tree offers, by street, raise depth and player.

A size is written as

- `0.5` or `"50%"`: a fraction of the pot after calling, added to the highest total (text such as `"60"` is refused);
- `"2.5x"`: that multiple of the bet faced, counted from the start of the street (preflop, the blinds are the first
  bet);
- `"120c"`: chips, counted from the start of the street;
- `"e"` or `"3e"`: the pot fraction that leads to all-in when bet on each remaining street (or on 3 streets);
- `"a"`: all-in.

Fractional chips round half up. Sizes below the minimum raise become the minimum, and sizes above the stack become
all-in.
"""

import math
import re
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from poker.game.rules import STREET_NAMES
from poker.game.state import NOBODY, Betting
from poker.run.errors import PokernetsError

_MAX_POTS_WITHOUT_UNIT = 10
"""Above this many pots a text without a unit is refused as a percentage without its sign; numbers are accepted."""
_MAX_SIZES = 100
_MAX_THRESHOLDS = {"add_allin": 10, "force_allin": 1, "merge": 1}
"""Above these a threshold is refused as a percentage without its sign."""
_DECIMAL_COMMA = re.compile(r"(?<![\d.])\d++,\d++\s*+[%xc]")
_UNITS = {"": "pot", "%": "pot", "x": "previous", "c": "chips", "e": "geometric", "a": "allin"}


class MenuError(PokernetsError):
    """A bet menu with a missing, misspelt or invalid entry."""


@dataclass(frozen=True)
class Size:
    """One raise size.

    Attributes:
        unit: `pot`, `previous`, `chips`, `geometric` or `allin`.
        value: the number in that unit; for `geometric` the number of streets, 0 for all that are left.
    """

    unit: str
    value: float

    @classmethod
    def parse(cls, text: str | float) -> "Size":
        """Read a size from a setting; the module docstring lists the notation.

        Raises:
            MenuError: the text is not a size, or its value is not positive and finite.
        """
        if isinstance(text, int | float) and not isinstance(text, bool):
            number, unit, value = str(text), "", float(text)
        else:
            match = re.fullmatch(r"(\d*+\.?\d*+)\s*([%xcea]?)", str(text).lower().strip())
            number, unit = match.groups() if match else ("", "")
            if not match or (number in ("", ".") and unit not in ("e", "a")) or (unit == "a" and number):
                raise MenuError(
                    f"bet size `{text}`: write 0.5 or 50% (of the pot), 2.5x, 120c (chips), e, 3e or a (all-in)"
                )
            if unit == "a" or (unit == "e" and not float(number or 0)):
                return cls(_UNITS[unit], 0.0)
            value = float(number) / 100 if unit == "%" else float(number)
            number = number[:100]
            if not unit and _MAX_POTS_WITHOUT_UNIT < value < math.inf:
                raise MenuError(
                    f"bet size `{number}`: {number} pots? Write {number}%, or {100 * value:g}% if that is meant"
                )
        if not 0 < value < math.inf:
            raise MenuError(f"bet size `{str(text)[:100]}`: must be positive and finite")
        return cls(_UNITS[unit], value)

    def total(self, spot: "_Amounts") -> int:
        """Return the raise-to total in chips, before it is clipped to the legal range."""
        if self.unit == "pot":
            return whole_chips(spot.highest + self.value * spot.pot)
        if self.unit == "previous":
            return whole_chips(spot.base + self.value * (spot.highest - spot.base))
        if self.unit == "chips":
            return whole_chips(spot.base + self.value)
        if self.unit == "geometric":
            streets = int(self.value) or spot.streets
            fraction = ((1 + 2 * (spot.largest - spot.highest) / spot.pot) ** (1 / streets) - 1) / 2
            return whole_chips(spot.highest + fraction * spot.pot)
        return spot.largest


SizeLists = tuple[tuple[Size, ...], ...]
"""Sizes by raise depth; the last entry applies to every deeper raise."""


@dataclass(frozen=True)
class StreetMenu:
    """The sizes of one street.

    Attributes:
        by_player: sizes of each player by raise depth. One entry applies to all players. An empty tuple means that the
            street was omitted and offers no bets.
        donk: sizes that replace the first bet when the other player made the last raise of the street before; None for
            no such sizes.
    """

    by_player: tuple[SizeLists, ...]
    donk: tuple[Size, ...] | None = None


@dataclass(frozen=True)
class _Amounts:
    """Chips that sizes are computed from.

    `pot` is the pot after calling, `base` the total at the start of the street, and `largest` the most that another
    player can call. `streets` is the number of streets left.
    """

    pot: int
    highest: int
    base: int
    smallest: int
    largest: int
    streets: int


@dataclass(frozen=True)
class BetMenu:
    """The menus of all streets, with rules that adjust the sizes.

    Attributes:
        streets: the menu of each street.
        add_allin: all-in is added when it costs at most this many pots.
        force_allin: a raise becomes all-in when at most this many pots (after a call) would stay behind.
        merge: of two raises of X > Y pots, Y is dropped when (1 + X) / (1 + Y) < 1 + `merge`.
        extra: raise-to totals added at single states, by betting text.
        multiway: replaces `streets` after the first street while more than two players are left. This keeps trees of
            many players small.
        beyond: largest number of players that continue from the first street, by its number of raises. The last entry
            applies to more raises, and an empty tuple sets no limit. A player who would exceed it may not call.
    """

    streets: tuple[StreetMenu, ...]
    add_allin: float = 0.0
    force_allin: float = 0.0
    merge: float = 0.0
    extra: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    multiway: tuple[StreetMenu, ...] = ()
    beyond: tuple[int, ...] = ()

    def with_action(self, betting: Betting, total: int) -> "BetMenu":
        """Return this menu with a raise added in one state.

        Args:
            total: the raise-to total in chips.
        """
        text = betting.text()
        extra = dict(self.extra)
        extra[text] = tuple(sorted({*extra.get(text, ()), total}))
        return replace(self, extra=extra)

    def check_given(self, streets: Iterable[int], setting: str) -> None:
        """Check that the menu defines bets for some streets.

        Args:
            streets: the streets that are needed.
            setting: name of the setting of this menu, for the message.

        Raises:
            MenuError: one of the streets was omitted.
        """
        for name in (STREET_NAMES[street] for street in streets if not self.streets[street].by_player):
            raise MenuError(
                f"{setting} has no bets for the {name}: set {setting}.{name} ([] for a {name} without bets)"
            )

    def until(self, street: int, ahead: "BetMenu") -> "BetMenu":
        """Return this menu up to and including `street`, with the sizes of `ahead` on later streets."""
        return replace(self, streets=self.streets[: street + 1] + ahead.streets[street + 1 :])

    def raise_totals(self, betting: Betting, dead: int = 0, base: int | None = None) -> tuple[int, ...]:
        """Return the legal raise-to totals offered to the player to act, in ascending order.

        Args:
            dead: chips in the pot besides the committed ones.
            base: the highest total at the start of the street; None to compute it from the betting.

        Raises:
            MenuError: the menu has no entry for the street.
        """
        legal = betting.legal()
        if not legal.max_raise:
            return ()
        if betting.rules.is_limit:
            return (legal.min_raise,)
        if betting.street >= len(self.streets):
            raise MenuError(f"the bet menu has no sizes for street {betting.street} of game `{betting.rules.name}`")
        committed, player, rules = betting.committed, betting.to_act, betting.rules
        others = max(rules.stacks[i] for i in range(rules.num_players) if i != player and not betting.folded[i])
        spot = _Amounts(
            pot=dead + sum(committed) + betting.highest - committed[player],
            highest=betting.highest,
            base=street_base(betting) if base is None else base,
            smallest=legal.min_raise,
            largest=min(legal.max_raise, others),
            streets=rules.num_streets - betting.street,
        )
        totals = {self._clip(size.total(spot), spot) for size in self._sizes(betting)}
        if spot.largest - spot.highest <= self.add_allin * spot.pot:
            totals.add(max(spot.largest, spot.smallest))
        extra = self.extra.get(betting.text(), ()) if self.extra else ()
        return tuple(sorted({*self._merged(totals, spot), *filter(legal.allows, extra)}))

    def offers_call(self, betting: Betting) -> bool:
        """Return whether the player to act may call or check.

        Calling is refused when it would bring more players to the flop than `beyond` allows. Checking is always
        offered. Before the first raise a posted blind counts as a call.
        """
        if not self.beyond or betting.street or not betting.to_call:
            return True
        least = betting.highest if betting.num_raises else 1
        others = [
            chips >= least and not betting.folded[player]
            for player, chips in enumerate(betting.committed)
            if player != betting.to_act
        ]
        return sum(others) < self.beyond[min(betting.num_raises, len(self.beyond) - 1)]

    def _sizes(self, betting: Betting) -> tuple[Size, ...]:
        several = self.multiway and betting.street and betting.folded.count(False) > 2
        menu = (self.multiway if several else self.streets)[betting.street]
        begins = betting.street > 0 and not betting.actions[-1]
        if menu.donk is not None and begins and betting.last_raiser(betting.street - 1) not in (NOBODY, betting.to_act):
            return menu.donk
        if not menu.by_player:
            return ()
        lists = menu.by_player[betting.to_act if len(menu.by_player) > 1 else 0]
        return lists[min(betting.num_raises, len(lists) - 1)] if lists else ()

    def _clip(self, total: int, spot: _Amounts) -> int:
        clipped = max(spot.smallest, min(total, spot.largest))
        pot_after = spot.pot + 2 * (clipped - spot.highest)
        if self.force_allin and spot.largest - clipped <= self.force_allin * pot_after:
            return max(spot.largest, spot.smallest)
        return clipped

    def _merged(self, totals: set[int], spot: _Amounts) -> Collection[int]:
        if not self.merge:
            return totals
        totals_left: list[int] = []
        for total in sorted(totals, reverse=True):
            ratio = 1 + (total - spot.highest) / spot.pot
            if not totals_left or (1 + (totals_left[-1] - spot.highest) / spot.pot) / ratio >= 1 + self.merge:
                totals_left.append(total)
        return totals_left


def street_base(betting: Betting) -> int:
    """Return the highest total when the current street began.

    Without a raise on earlier streets this is the big blind.

    Args:
        betting: a state recorded from the start of the hand. A state created by `Betting.at_street` must be at the
            start of its street.
    """
    if not betting.num_raises:
        return max(betting.committed) if betting.street else 0
    for street in range(betting.street - 1, -1, -1):
        raises = [action for action in betting.actions[street] if action > 0]
        if raises:
            return raises[-1]
    return betting.rules.big_blind if betting.street else 0


def whole_chips(value: float) -> int:
    """Round chips half up: the chips of a pot fraction in menus, of buttons that offer it, and of translated bets."""
    return math.floor(min(value + 0.5, sys.float_info.max))


def bet_menu(
    *,
    preflop: object = ...,
    flop: object = ...,
    turn: object = ...,
    river: object = ...,
    donk: Mapping[str, object] | None = None,
    add_allin: float | str = 0.0,
    force_allin: float | str = 0.0,
    merge: float | str = 0.0,
    multiway: Mapping[str, Any] | None = None,
    beyond: Sequence[int] = (),
) -> BetMenu:
    """Create a menu from plain lists, as in YAML.

    A street is a list by raise depth of lists of sizes, and the last list repeats: `[[0.5, 1, a], [1, a], [a]]`. A flat
    list `[0.5, a]` applies to every depth. `{0: ..., 1: ...}` gives each player such lists. `[]` and None offer no
    bets. Omitted streets also offer none, and searches refuse to look ahead to them (`BetMenu.check_given`).

    Args:
        preflop: sizes of the first street.
        flop: sizes of the flop.
        turn: sizes of the turn.
        river: sizes of the river.
        donk: donk sizes by street name.
        add_allin: see `BetMenu`; like the other thresholds a number such as 0.15, or text such as `15%`.
        force_allin: see `BetMenu`.
        merge: see `BetMenu`.
        multiway: sizes by street name while more than two players are left, in the same form.
        beyond: see `BetMenu`.

    Raises:
        MenuError: a size, a threshold, a street name or a number of players is invalid.
    """
    donks = dict(donk or {})
    unknown = set(donks) - set(STREET_NAMES)
    if unknown:
        raise MenuError(f"donk sizes for `{sorted(unknown)[0]}`: streets are {', '.join(STREET_NAMES)}")
    streets = tuple(
        StreetMenu(_players(value, name), _sizes(donks[name], f"donk {name}") if name in donks else None)
        for name, value in zip(STREET_NAMES, (preflop, flop, turn, river), strict=True)
    )
    if any(type(most) is not int or most < 2 for most in beyond):
        raise MenuError(f"bet menu `beyond`: keys must be numbers of players from 2, not {list(beyond)}")
    tidy = _threshold("add_allin", add_allin), _threshold("force_allin", force_allin), _threshold("merge", merge)
    return BetMenu(streets, *tidy, multiway=bet_menu(**multiway).streets if multiway else (), beyond=tuple(beyond))


def _threshold(name: str, given: float | str) -> float:
    text = str(given).strip()
    percent = text.endswith("%")
    try:
        value = float(text.removesuffix("%")) / (100 if percent else 1)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise MenuError(f"bet menu, `{name}`: must be a number that is not negative, not `{text[:100]}`")
    if value > _MAX_THRESHOLDS[name] and not percent:
        raise MenuError(f"bet menu, `{name}`: {value:g} is {100 * value:g}%: write {value:g}%, or {100 * value:g}%")
    return value


def _players(value: object, name: str) -> tuple[SizeLists, ...]:
    if value is ...:
        return ()
    if not isinstance(value, Mapping):
        return (_depths(value, name),)
    if not value or sorted(value) != list(range(len(value))):
        raise MenuError(f"bet menu `{name}`: per-player lists need the keys 0, 1, ... of all players")
    return tuple(_depths(value[player], name) for player in range(len(value)))


def _depths(value: object, name: str) -> SizeLists:
    items = sizes_of([] if value is None else value, name)
    if all(isinstance(item, Sequence) and not isinstance(item, str) for item in items):
        return tuple(_sizes(item, name) for item in items) or ((),)
    return (_sizes(items, name),)


def _sizes(value: object, name: str) -> tuple[Size, ...]:
    items = [item for item in sizes_of(value, name) if item != ""]
    if len(items) > _MAX_SIZES:
        raise MenuError(f"bet menu `{name}`: {len(items):,} sizes; at most {_MAX_SIZES} are allowed")
    return tuple(map(Size.parse, items))


def sizes_of(value: object, name: str) -> Sequence[Any]:
    """Return the list that a setting gives as a list or as text with commas.

    Args:
        value: the setting.
        name: its name in messages.

    Raises:
        MenuError: it is neither, or the text may have a decimal comma.
    """
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, Sequence):
        raise MenuError(f"bet menu `{name}`: expected a list of sizes, not `{value}`")
    if isinstance(value, str) and (comma := _DECIMAL_COMMA.search(value)):
        raise MenuError(f"bet menu `{name}`: write `{comma.group()}` with a decimal point, or a unit for both numbers")
    return items
