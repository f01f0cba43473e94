"""Totals over the hands of a file: results by name, games, and irregularities.

Irregularities are actions that reading accepts and play refuses, because files contain what happened, legal or not.
"""

from array import array
from collections import Counter, defaultdict
from decimal import Decimal
from typing import Any

import numpy as np

from poker.evaluation.matches.results import Unit, chip_value, estimate_of
from poker.formats.played import HistoryError, PlayedHand
from poker.game.rules import FOLD
from poker.report import Section, Table, Text
from poker.report.estimates import FEW_UNITS, Estimate

OUT_OF_TURN = "a fold out of turn"
FREE_FOLD = "a fold where checking is free"
NOT_REOPENED = "a raise that a short all-in did not reopen"
BEYOND_THE_POT = "a raise beyond the pot"
SKIPPED_PLAYER = "a skipped player, assumed to check or fold"

_ROWS = 20
"""Number of players and refusals that the console shows."""
_Money = tuple[str, str]
"""Text before and after amounts of a currency; both are empty for chips."""
_Amounts = defaultdict[_Money, Decimal]


def irregularities(hand: PlayedHand) -> frozenset[str]:
    """Return the kinds of actions in a hand that the rules of play refuse."""
    rules = hand.rules
    kinds = {SKIPPED_PLAYER} if hand.skipped_action else set[str]()
    dead = sum(map(sum, rules.forced)) if rules.forced else 0
    for before, player, action in hand.state.betting.turns():
        if action == FOLD and player != before.to_act:
            kinds.add(OUT_OF_TURN)
        elif action == FOLD and not before.legal().fold:
            kinds.add(FREE_FOLD)
        elif action > 0:
            if not before.legal().allows(action):
                kinds.add(NOT_REOPENED)
            if rules.pot_limit and action > before.highest + before.pot + dead + before.to_call:
                kinds.add(BEYOND_THE_POT)
    return frozenset(kinds)


class FileTally:
    """Totals over the hands read: results by name, games, and hands left out.

    Attributes:
        hands: number of hands.
        refused: errors of hands that were left out.
    """

    def __init__(self, unit: Unit) -> None:
        """Begin without hands.

        Args:
            unit: unit of the results.
        """
        self.hands = 0
        self._unit: Unit = unit
        self._values: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self._won: defaultdict[str, _Amounts] = defaultdict(lambda: defaultdict(Decimal))
        self._rake: _Amounts = defaultdict(Decimal)
        self._games: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
        self.refused: list[HistoryError] = []
        self._amounts_differ = 0
        self._irregular = 0
        self._irregularities = Counter[str]()

    def add(self, hand: PlayedHand) -> None:
        """Add a hand."""
        self.hands += 1
        self._amounts_differ += hand.amounts_differ
        kinds = irregularities(hand)
        self._irregular += bool(kinds)
        self._irregularities.update(kinds)
        value, money = chip_value(hand.rules, self._unit), _money(hand)
        unit = Decimal(hand.scale)
        for name, net in zip(hand.names, hand.payoffs, strict=True):
            self._values[name].append(net * value)
            self._won[name][money] += round(net) / unit
        if hand.rake:
            self._rake[money] += hand.rake / unit
        stacks = [chips / hand.rules.min_bet for chips in hand.rules.starting_stacks]
        self._games[f"{hand.rules.name} {stakes(hand)}"].append((len(stacks), min(stacks), max(stacks)))

    def legality(self) -> str:
        """Return the number of hands with irregularities as text."""
        return f"{self._irregular:,} with irregular actions" if self._irregular else "all legal"

    def _estimates(self) -> list[tuple[str, Estimate]]:
        """Return estimates by name, players with most hands first."""
        names = sorted(self._values, key=lambda name: (-len(self._values[name]), name))
        return [(name, estimate_of(np.array(self._values[name]))) for name in names]

    def sections(self, title: str) -> list[Section]:
        """Return the sections of the report.

        Args:
            title: title of the report.
        """
        games = []
        for game, hands in sorted(self._games.items(), key=lambda item: -len(item[1])):
            players, lowest, highest = zip(*hands, strict=True)
            few, many = min(players), max(players)
            stacks = f"{min(lowest):.4g} to {max(highest):.4g}"
            games.append((game, len(hands), f"{few} to {many}" if few < many else str(few), stacks))
        rows = [(name, result.n, result, _amounts(self._won[name])) for name, result in self._estimates()]
        columns = ("player", "hands", f"result, {self._unit}/hand", "won")
        more = f"{len(rows) - _ROWS:,} players with fewer hands are in the report" if len(rows) > _ROWS else ""
        notes = f"rake: {_amounts(self._rake)}. " if self._rake else ""
        if self._amounts_differ:
            notes += f"hands whose amounts in the file differ from the rules: {self._amounts_differ:,}. "
        for kind, count in self._irregularities.most_common():
            notes += f"hands with {kind}: {count:,}. "
        short = sum(result.n < FEW_UNITS or result.has_few_large for _, _, result, _ in rows[:_ROWS])
        if short:
            notes += (
                f"Intervals of {short} of these may be too narrow: fewer than {FEW_UNITS} hands, or a few large results"
                " cause most of the variance. "
            )
        sections: list[Section] = [
            Table(("game", "hands", "players", "stacks, big blinds"), games, title),
            Table(columns, rows[:_ROWS], "Results", notes + more),
        ]
        if len(rows) > _ROWS:
            sections.append(Table(columns, rows, "All players", console=False))
        if self.refused:
            lines = [f"hands left out: {len(self.refused):,}", *map(str, self.refused[:_ROWS])]
            sections.append(Text("\n".join(lines), style="yellow"))
        return sections

    def record(self) -> dict[str, Any]:
        """Return the record of the report."""
        players = [
            {"player": name, "hands": estimate.n, **estimate.record(), "won": _amounts(self._won[name])}
            for name, estimate in self._estimates()
        ]
        return {
            "hands": self.hands,
            "unit": f"{self._unit}/hand",
            "games": {game: len(rows) for game, rows in self._games.items()},
            "rake": _amounts(self._rake),
            "amounts_differ": self._amounts_differ,
            "irregularities": dict(self._irregularities.most_common()),
            "players": players,
            "left_out": [{"line": error.line, "reason": error.reason} for error in self.refused],
        }


def _money(hand: PlayedHand) -> _Money:
    symbol, currency = (str(hand.details.get(name, "")) for name in ("currency_symbol", "currency"))
    return (symbol, "") if symbol else ("", f" {currency}" if currency else "")


def _amounts(sums: _Amounts) -> str:
    return ", ".join("-" * (amount < 0) + _amount(abs(amount), money) for money, amount in sums.items())


def _amount(value: Decimal, money: _Money) -> str:
    """Return an amount as text, such as `$1,250`, `0.50 EUR` or `0.005`."""
    exponent = value.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return f"{money[0]}{value:,.{max(2, -exponent) if exponent < 0 else 0}f}{money[1]}"


def stakes(hand: PlayedHand) -> str:
    """Return the blinds, or the bets of a limit game, as in the file: for example `$0.50/$1`."""
    rules = hand.rules
    blinds = sorted({chips for chips in rules.blinds if 0 < chips < rules.min_bet} | {rules.min_bet})
    amounts = [rules.raise_sizes[0], rules.raise_sizes[-1]] if rules.is_limit else blinds
    sign, currency = _money(hand)
    return "/".join(_amount(chips / Decimal(hand.scale), (sign, "")) for chips in amounts) + currency
