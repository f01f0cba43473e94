"""Agents of a match side by side: their means over all tables, their crosstable, and differences on common cards.

All tables play the same cards, so results are averaged and subtracted deal by deal (session by session): what two
agents have in common, their cards and their opponent, falls out of their difference. AIVAT counts where all tables
concerned have it, else chips.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from poker.evaluation.matches.results import TableResults
from poker.report.estimates import Estimate, Floats, difference, estimate

Place = tuple[int, int]
"""Number of a table and of an entry of it."""


@dataclass(frozen=True)
class Contrast:
    """What `first` won less what `second` won, on the same cards and against the same line-ups of opponents."""

    first: str
    second: str
    against: tuple[str, ...]
    aivat: bool
    found: Estimate


def is_round_robin(tables: Sequence[TableResults]) -> bool:
    """Heads-up tables at which everybody meets everybody else once."""
    pairs = [frozenset(result.table.players) for result in tables]
    names = sorted({name for pair in pairs for name in pair})
    heads_up = all(len(result.table.players) == 2 for result in tables)
    return heads_up and sorted(map(sorted, pairs)) == [list(pair) for pair in combinations(names, 2)]


def over_tables(tables: Sequence[TableResults], *, aivat: bool = False) -> dict[str, Estimate]:
    """By agent, its mean over all its places at the tables; with `aivat` of those whose tables all have estimates.

    Empty where heads-up tables are no round robin: means over different opponents say nothing about the agents.
    """
    if not is_round_robin(tables) and any(len(result.table.players) == 2 for result in tables):
        return {}
    places: dict[str, list[Place]] = {}
    for number, result in enumerate(tables):
        for entry, name in enumerate(result.table.players):
            places.setdefault(name, []).append((number, entry))
    values = [result.values(aivat=aivat) for result in tables]
    return {
        name: estimate(_mean_of(values, [mine]))
        for name, mine in places.items()
        if not aivat or all(tables[number].aivat_units for number, _ in mine)
    }


def crosstable(tables: Sequence[TableResults]) -> dict[str, dict[str, tuple[Estimate, bool]]]:
    """Agent -> opponent -> what the agent won, and whether that is by AIVAT; empty if the tables are no round robin."""
    if not is_round_robin(tables):
        return {}
    found: dict[str, dict[str, tuple[Estimate, bool]]] = {}
    for result in tables:
        aivat = bool(result.aivat_units)
        estimates = result.estimates(aivat=aivat)
        for entry, name in enumerate(result.table.players):
            found.setdefault(name, {})[result.table.players[1 - entry]] = (estimates[entry], aivat)
    return found


def contrasts(tables: Sequence[TableResults]) -> list[Contrast]:
    """Every two agents that played the same opponents, against each line-up of these and, if there are several, all.

    Where one agent comes first at all tables, the others are what it is measured by, and are not compared.
    """
    if len({result.table.players[0] for result in tables}) < 2:
        return []
    places: dict[str, dict[tuple[str, ...], list[Place]]] = {}
    for number, result in enumerate(tables):
        for entry, name in enumerate(result.table.players):
            places.setdefault(name, {}).setdefault(_others(result, entry), []).append((number, entry))
    values = {aivat: [result.values(aivat=aivat) for result in tables] for aivat in (False, True)}
    found = []
    for first, second in combinations(places, 2):
        common = [others for others in places[first] if others in places[second]]
        for group in ([common] if len(common) > 1 else []) + [[others] for others in common]:
            mine, theirs = ([places[name][others] for others in group] for name in (first, second))
            aivat = all(tables[number].aivat_units for some in mine + theirs for number, _ in some)
            against = tuple(" and ".join(others) for others in group)
            won = difference(_mean_of(values[aivat], mine), _mean_of(values[aivat], theirs))
            found.append(Contrast(first, second, against, aivat, won))
    return found


def _mean_of(values: Sequence[Floats], groups: Sequence[Sequence[Place]]) -> Floats:
    """[n] mean over groups of places, each group's own mean counting once; values [n, P] by table."""
    return _mean([_mean([values[number][:, entry] for number, entry in group]) for group in groups])


def _others(result: TableResults, entry: int) -> tuple[str, ...]:
    """Up to three players sit in all orders; more only rotate, so that who sits behind whom matters.

    An adversary that was made for one agent (`lbr_56_sizes@naive`) is the same opponent as those made for others.
    """
    players = result.table.players
    others = tuple(name.partition("@")[0] for name in players[entry + 1 :] + players[:entry])
    return tuple(sorted(others)) if len(players) <= 3 else others


def _mean(columns: Sequence[Floats]) -> Floats:
    """[n] unit by unit, as far as all go."""
    shortest = min(map(len, columns))
    mean: Floats = np.mean([column[:shortest] for column in columns], axis=0)
    return mean
