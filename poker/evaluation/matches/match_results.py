"""Results of all line-ups of a match: means over line-ups, their crosstable, and differences.

Line-ups of a match play the same cards, so results are averaged and subtracted unit by unit. Luck that two agents share
cancels in their difference. Luck-adjusted payoffs (AIVAT) are used if all line-ups concerned have them.

Symbols: n units.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from poker.evaluation.matches.results import Results, Unit, estimate_of
from poker.game.rules import Rules
from poker.kernels.types import Floats
from poker.play.lineup import LineUp
from poker.report.estimates import Estimate, difference
from poker.run.errors import PokernetsError

_Place = tuple[int, int]
"""Index of a line-up and of an entry in it."""
_Groups = Sequence[Sequence[_Place]]


@dataclass(frozen=True)
class Contrast:
    """The result of one agent minus another's on the same cards.

    Attributes:
        first: name of the first agent or group.
        second: name of the second agent or group.
        against: the opponents of both; empty if they may differ.
        aivat: whether results are luck-adjusted.
        difference: result of the first minus the second.
    """

    first: str
    second: str
    against: tuple[str, ...]
    aivat: bool
    difference: Estimate


@dataclass(frozen=True)
class Standing:
    """Mean results of an agent in a round robin.

    Attributes:
        name: name of the agent.
        all: result against all others.
        left: result against the agents left when it dropped out of the run-off.
        opponents_left: number of these agents.
    """

    name: str
    all: Estimate
    left: Estimate
    opponents_left: int


@dataclass
class MatchResults:
    """Results of all line-ups of a match.

    Attributes:
        seed: seed of the deals.
        session: deals per session.
        settings: settings by agent.
        lineups: results by line-up.
        pairs: pairs of groups of agents to compare.
        seconds: duration of the match.
    """

    game: Rules
    unit: Unit
    seed: int
    session: int
    settings: dict[str, Any]
    lineups: list[Results]
    pairs: list[tuple[list[str], list[str]]] = field(default_factory=list)
    seconds: float = 0.0
    processes: int = 1

    @property
    def metric(self) -> float:
        """The objective of a sweep: mean of the first agent of the first line-up, luck-adjusted if possible."""
        return self.lineups[0].best[0].mean

    @property
    def failure(self) -> str:
        """The failures of agents in one line; empty if none failed."""
        incidents = [incident for result in self.lineups for incident in result.incidents]
        if not incidents:
            return ""
        return f"agents failed {len(incidents):,} times, first {incidents[0].agent} with {incidents[0].error}"

    @property
    def is_round_robin(self) -> bool:
        """Whether the match is heads-up, and every agent meets every other agent once."""
        pairs = sorted(sorted(set(result.lineup.players)) for result in self.lineups)
        names = sorted({name for pair in pairs for name in pair})
        return not self._is_ring and pairs == [list(pair) for pair in combinations(names, 2)]

    @property
    def _is_ring(self) -> bool:
        return self.game.num_players > 2

    def by_agent(self, *, aivat: bool = False) -> dict[str, Estimate]:
        """Return the mean of each agent over all its places in the line-ups.

        The result is empty if heads-up line-ups are not a round robin, because means over different opponents are not
        comparable.

        Args:
            aivat: use luck-adjusted payoffs, and leave out agents without them.
        """
        if not (self.is_round_robin or self._is_ring):
            return {}
        places = {name: self._places([name]) for result in self.lineups for name in result.lineup.players}
        return {
            name: estimate_of(self._mean_of([mine], aivat=aivat))
            for name, mine in places.items()
            if not aivat or self._have_aivat(mine)
        }

    def crosstable(self) -> dict[str, dict[str, tuple[Estimate, bool]]]:
        """Return each agent's result against each opponent, and whether it is by AIVAT; empty without a round robin."""
        table: dict[str, dict[str, tuple[Estimate, bool]]] = {}
        for result in self.lineups if self.is_round_robin else []:
            first, second = result.lineup.players
            for name, other, won in zip((first, second), (second, first), result.best, strict=True):
                table.setdefault(name, {})[other] = (won, result.has_aivat)
        return table

    def run_off(self) -> list[Standing]:
        """Return the standings of a round robin, best first, by the instant run-off of the ACPC.

        The agent with the lowest result against the others remaining in drops out. The winner's `left` is its result
        against the second. AIVAT is used if all line-ups have it. The list is empty if there is no round robin.
        """
        aivat = all(result.has_aivat for result in self.lineups)
        every = self.by_agent(aivat=aivat) if self.is_round_robin else {}
        remaining, standings = list(every), []
        while len(remaining) > 1:
            left = {name: self._against(name, remaining, aivat=aivat) for name in remaining}
            last = min(remaining, key=lambda name: left[name].mean)
            standings.append(Standing(last, every[last], left[last], len(remaining) - 1))
            remaining.remove(last)
            if len(remaining) == 1:
                standings.append(Standing(remaining[0], every[remaining[0]], left[remaining[0]], 1))
        return standings[::-1]

    def _against(self, name: str, others: Sequence[str], *, aivat: bool) -> Estimate:
        """Return the mean result of `name` against `others`, except itself."""
        places = [
            (number, entry)
            for number, entry in self._places([name])
            if self.lineups[number].lineup.players[1 - entry] in others
        ]
        return estimate_of(self._mean_of([places], aivat=aivat))

    def contrasts(self) -> list[Contrast]:
        """Return the configured contrasts, and then all pairs of agents with common opponents.

        Pairs are compared against each line-up of opponents and, if there are several, against all of them. If one
        agent is first in all line-ups, the others only measure it, and are not compared.
        """
        contrasts = [
            self._contrast("+".join(first), "+".join(second), (), [self._places(first)], [self._places(second)])
            for first, second in self.pairs
        ]
        if len({result.lineup.players[0] for result in self.lineups}) < 2:
            return contrasts
        places: dict[str, dict[tuple[str, ...], list[_Place]]] = {}
        for number, result in enumerate(self.lineups):
            for entry, name in enumerate(result.lineup.players):
                places.setdefault(name, {}).setdefault(_others(result.lineup, entry), []).append((number, entry))
        for first, second in combinations(places, 2):
            common = [others for others in places[first] if others in places[second]]
            for group in ([common] if len(common) > 1 else []) + [[others] for others in common]:
                mine, theirs = ([places[name][others] for others in group] for name in (first, second))
                contrasts.append(self._contrast(first, second, tuple(map(" and ".join, group)), mine, theirs))
        return contrasts

    def _contrast(self, first: str, second: str, against: tuple[str, ...], mine: _Groups, theirs: _Groups) -> Contrast:
        aivat = all(self._have_aivat(places) for places in (*mine, *theirs))
        won = difference(self._mean_of(mine, aivat=aivat), self._mean_of(theirs, aivat=aivat))
        return Contrast(first, second, against, aivat, won)

    def _places(self, names: Sequence[str]) -> list[_Place]:
        return [(number, entry) for number, result in enumerate(self.lineups) for entry in result.places(names)]

    def _have_aivat(self, places: Sequence[_Place]) -> bool:
        return all(self.lineups[number].has_aivat for number, _ in places)

    def _mean_of(self, groups: _Groups, *, aivat: bool) -> Floats:
        """Return the mean [n] over groups of places, each group with the same weight, cut to the shortest line-up."""
        return _common_mean(
            [
                _common_mean([self.lineups[number].values(aivat=aivat)[:, entry] for number, entry in group])
                for group in groups
            ]
        )


def _common_mean(columns: Sequence[Floats]) -> Floats:
    """Return the mean [n] of the columns unit by unit, cut to the shortest."""
    shortest = min(map(len, columns))
    mean: Floats = np.mean([column[:shortest] for column in columns], axis=0)
    return mean


def _others(lineup: LineUp, entry: int) -> tuple[str, ...]:
    """Return the opponents of an entry.

    Up to three players sit in all orders, so their order does not matter; more only rotate. Adversaries made for
    different agents (`lbr_56_sizes@naive`) count as the same opponent.
    """
    players = lineup.players
    others = tuple(name.partition("@")[0] for name in players[entry + 1 :] + players[:entry])
    return tuple(sorted(others)) if len(players) <= 3 else others


def comparison(groups: Sequence[str], names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Read two groups of agents.

    Args:
        groups: two texts such as `a+b` and `c+d`.
        names: names of all agents.

    Raises:
        PokernetsError: there are not two groups, or an agent is unknown.
    """
    pair = [str(group).split("+") for group in groups]
    unknown = [name for group in pair for name in group if name not in names]
    if len(pair) != 2 or unknown:
        wrong = f"`{unknown[0]}` is not among `agents`" if unknown else "two groups are compared"
        raise PokernetsError(f"contrast {list(groups)}: {wrong}; write [[a+b,c+d]]")
    return pair[0], pair[1]
