"""`evaluate=replay` of any file of hands that `poker.formats.histories` reads, recognised by content.

Every hand is played again by the rules with its own stacks and posts, and checked. A hand is one unit of the intervals,
and its result is in big blinds of its own table. Logs of matches, which do not tell their game, are left to
`poker.evaluation.histories.replay`.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from decimal import Decimal
from itertools import islice
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np
from rich.console import Console

from poker.errors import PokernetsError
from poker.evaluation.aivat.value_functions import CheckDownValues, ValueFunctionFactory
from poker.evaluation.histories import replay
from poker.evaluation.histories.irregularities import irregularities
from poker.evaluation.matches.match_results import MatchResults
from poker.evaluation.matches.results import Unit, chip_value, estimate_of
from poker.formats.acpc.tables import has_definition
from poker.formats.histories import ACPC, SUFFIXES, format_of, read_hands, read_text, why_unwritable, write_hands
from poker.formats.played import HistoryError, PlayedHand, difference
from poker.report import Report, Section, Table, Text
from poker.report.estimates import FEW_UNITS, Estimate
from poker.rules import Rules

Format = Literal["phh", "pokerstars", "acpc", "ohh"]

_HEAD = 1 << 16
"""Bytes of a file that tell its format."""
_ROWS = 20
"""Players and refusals that the console shows."""
_Money = tuple[str, str]
"""Text before and after amounts of a currency; both are empty for chips."""
_Amounts = defaultdict[_Money, Decimal]


def run(
    *,
    game: Rules,
    log: str | Sequence[str],
    hands: int | None,
    session: int | None,
    phh: str | None,
    convert: Format | None,
    to: str | None,
    skip: bool,
    out: str,
    unit: Unit = "mbb",
    notes: Sequence[str] = (),
    values: Callable[[], ValueFunctionFactory] = CheckDownValues,
) -> MatchResults | dict[str, Any]:
    """Results by name, with a report in `out`; with `convert` the hands are also written in that format, to the file
    `to` or beside the report. The first `hands` hands count, 0 or None: all. With `skip` hands that cannot be read, or
    not be written, are left out and counted; otherwise the first of them is an error."""
    first, *others = [log] if isinstance(log, str) else log
    path = Path(first)
    text = read_text(path, _HEAD) if path.is_file() else ""
    is_match = not text.strip("\ufeff \r\n") or (format_of(text, path) == ACPC and not has_definition(text))
    if others and (not is_match or convert is not None):
        raise PokernetsError(
            "several logs are the legs of a duplicate match, without definitions of games in them and `convert`"
        )
    if is_match and convert is None:
        return replay.run(
            game=game, log=log, hands=hands, session=session, phh=phh, out=out, unit=unit, notes=notes, values=values
        )
    if notes:
        raise PokernetsError("`notes` go with the log of a match, whose hands have numbers: leave them out here")
    if convert not in (None, *get_args(Format)):
        raise PokernetsError(f"`convert` must be one of {', '.join(get_args(Format))}, not {convert}")
    if session is not None or (hands or 0) < 0:
        raise PokernetsError("hands of a file are units by themselves: leave `session` out, `hands` is 0 (all) or more")
    tally = _Tally(game, unit)
    folder = replay.report_folder(Path(out), path)
    files: dict[str, Path] = {}
    if phh is not None:
        convert, to = "phh", phh
    read = islice(read_hands(path, game, tally.refused.append if skip else None), hands or None)
    if convert is None:
        for hand in read:
            tally.add(hand)
    else:
        files[convert] = Path(to) if to else folder / f"{path.stem}{SUFFIXES[convert]}"
        if files[convert].resolve() == path.resolve():
            raise PokernetsError(f"{path} would be overwritten: give another file as `to`")
        write_hands(files[convert], convert, _written(read, convert, path, tally, skip))
    if not tally.hands:
        why_not = f"; {tally.refused[0]}" if tally.refused else ""
        raise PokernetsError(f"{path} holds no hands that can be read and written{why_not}")
    title = f"{path.name}: {tally.hands:,} hands, {tally.legality()}"
    return Report(title, tally.sections(title), tally.record(), {}, files).write(folder, Console())


def _written(
    hands: Iterable[PlayedHand], kind: Format, path: Path, tally: "_Tally", skip: bool
) -> Iterator[PlayedHand]:
    """Hands that can be written. The first that cannot is an error, or with `skip` all such are counted."""
    for hand in hands:
        if why_not := why_unwritable(kind, hand):
            error = HistoryError(path, hand.line, f"hand {hand.number} cannot be written as {kind}: {why_not}")
            if not skip:
                raise HistoryError(path, hand.line, f"{error.reason}; skip=true leaves such hands out")
            tally.refused.append(error)
        else:
            tally.add(hand)
            yield hand


class _Tally:
    """Totals over the hands read: results by name, games, and what was left out."""

    def __init__(self, game: Rules, unit: Unit) -> None:
        self.hands = 0
        self._game = game
        self._differing: Counter[str] = Counter()
        self._unit: Unit = unit
        self._values: defaultdict[str, array[float]] = defaultdict(lambda: array("d"))
        self._won: defaultdict[str, _Amounts] = defaultdict(lambda: defaultdict(Decimal))
        self._rake: _Amounts = defaultdict(Decimal)
        self._games: defaultdict[str, list[tuple[int, float, float]]] = defaultdict(list)
        self.refused: list[HistoryError] = []
        self._told_otherwise = 0
        self._irregular = 0
        self._irregularities = Counter[str]()

    def add(self, hand: PlayedHand) -> None:
        self.hands += 1
        self._told_otherwise += hand.told_otherwise
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
        self._differing[difference(hand.rules, self._game)] += 1
        self._games[_game(hand)].append((len(stacks), min(stacks), max(stacks)))

    def legality(self) -> str:
        """How many hands hold what the rules refuse in play."""
        return f"{self._irregular:,} with what play refuses" if self._irregular else "all legal"

    def _estimates(self) -> list[tuple[str, Estimate]]:
        """Estimates by name, most hands first."""
        names = sorted(self._values, key=lambda name: (-len(self._values[name]), name))
        return [(name, estimate_of(np.array(self._values[name]))) for name in names]

    def sections(self, title: str) -> list[Section]:
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
        if self._told_otherwise:
            notes += f"hands whose file tells other amounts than the rules pay: {self._told_otherwise:,}. "
        for kind, count in self._irregularities.most_common():
            notes += f"hands with {kind}: {count:,}. "
        short = sum(result.n < FEW_UNITS or result.has_few_large for _, _, result, _ in rows[:_ROWS])
        if short:
            notes += (
                f"Intervals of {short} of these may be too narrow: fewer than {FEW_UNITS} hands, or a few large results"
                " that make most of the spread. "
            )
        sections: list[Section] = [
            Table(("game", "hands", "players", "stacks, big blinds"), games, title, self._compared()),
            Table(columns, rows[:_ROWS], "Results", notes + more),
        ]
        if len(rows) > _ROWS:
            sections.append(Table(columns, rows, "All players", console=False))
        if self.refused:
            lines = [f"hands left out: {len(self.refused):,}", *map(str, self.refused[:_ROWS])]
            sections.append(Text("\n".join(lines), style="yellow"))
        return sections

    def _compared(self) -> str:
        """The settings in which hands differ from the given game."""
        parts = [f"{name} ({count:,} hands)" for name, count in self._differing.most_common() if name]
        return f"not as in {self._game.name}: {', '.join(parts)}" if parts else ""

    def record(self) -> dict[str, Any]:
        players = [
            {"player": name, "hands": estimate.n, **estimate.record(), "won": _amounts(self._won[name])}
            for name, estimate in self._estimates()
        ]
        return {
            "hands": self.hands,
            "unit": f"{self._unit}/hand",
            "games": {game: len(rows) for game, rows in self._games.items()},
            "differing": dict(self._differing),
            "rake": _amounts(self._rake),
            "told_otherwise": self._told_otherwise,
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
    """An amount as text, such as `$1,250`, `0.50 EUR` or `0.005`."""
    exponent = value.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return f"{money[0]}{value:,.{max(2, -exponent) if exponent < 0 else 0}f}{money[1]}"


def _game(hand: PlayedHand) -> str:
    """The game as the file tells it, such as `no-limit hold'em $0.50/$1`."""
    rules = hand.rules
    blinds = sorted({chips for chips in rules.blinds if 0 < chips < rules.min_bet} | {rules.min_bet})
    stakes = [rules.raise_sizes[0], rules.raise_sizes[-1]] if rules.is_limit else blinds
    sign, currency = _money(hand)
    return f"{rules.name} " + "/".join(_amount(chips / Decimal(hand.scale), (sign, "")) for chips in stakes) + currency
