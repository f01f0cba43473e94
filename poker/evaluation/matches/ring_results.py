"""What a ring game found, in small bets per hand.

The unit of every interval is a deal, averaged over its seatings and over the places of one agent: cards are independent
between deals, and what learning ties together is left out of account. Intervals over whole sessions, which begin with
agents that know nothing, take it into account; they need many sessions.

What an agent wins from a class of opponents: in each hand the losses of every loser go to the winners in proportion to
what they win, and these flows are summed. Classes are tight or loose (tightness 0.5), passive or aggressive
(aggressiveness 0.5) by the settings of an agent; one without these settings is a class of its own.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.evaluation.matches.table import AgentSpec, Schedule, SessionRecord, Table
from poker.provenance import provenance
from poker.report.estimates import Estimate, difference, estimate

Floats = NDArray[np.float64]


def opponent_class(spec: AgentSpec) -> str:
    """`tight passive`, ..., `loose aggressive` by the agent's settings, or its name."""
    tightness, aggressiveness = spec.settings.get("tightness"), spec.settings.get("aggressiveness")
    if tightness is None or aggressiveness is None:
        return spec.name
    return f"{'tight' if tightness >= 0.5 else 'loose'} {'aggressive' if aggressiveness >= 0.5 else 'passive'}"


def flows(nets: Floats) -> Floats:
    """[n, P, P] what entry i won from entry j in hands with net results [n, P]: antisymmetric, rows sum to the nets."""
    won, lost = np.maximum(nets, 0), np.maximum(-nets, 0)
    total = won.sum(axis=1)
    share = np.divide(won, total[:, None], out=np.zeros_like(won), where=total[:, None] > 0)
    taken: Floats = share[:, :, None] * lost[:, None, :]
    return taken - taken.transpose(0, 2, 1)


@dataclass
class RingResults:
    """Hands of one table so far; all figures are small bets per hand."""

    schedule: Schedule
    table: Table
    specs: dict[str, AgentSpec]
    contrasts: list[tuple[list[str], list[str]]]
    nets: dict[int, Floats] = field(default_factory=dict)  # [seatings, deals of a session, P] by session
    incidents: list[str] = field(default_factory=list)
    decisions: dict[tuple[str, int], list[float]] = field(default_factory=dict)  # seconds by agent and street
    seconds: float = 0.0

    def add(self, session: int, record: SessionRecord) -> None:
        shape = (len(self.schedule.seatings), self.schedule.session, len(self.table.players))
        self.nets[session] = np.array(record.payoffs, dtype=np.float64).reshape(shape) / self.small_bet
        self.incidents += [f"{incident.agent}: {incident.error}" for incident in record.incidents]
        for (entry, street), seconds in record.seconds.items():
            self.decisions.setdefault((self.table.players[entry], street), []).extend(seconds)

    @property
    def small_bet(self) -> int:
        """The first street's bet; the big blind where bets have no fixed size."""
        rules = self.schedule.rules
        return rules.raise_sizes[0] if rules.is_limit else rules.big_blind

    @property
    def hands(self) -> int:
        return sum(nets.shape[0] * nets.shape[1] for nets in self.nets.values())

    def deals(self) -> Floats:
        """[deals, seatings, P] in the order of the deals."""
        return np.concatenate([self.nets[session].transpose(1, 0, 2) for session in sorted(self.nets)])

    def places(self, name: str) -> list[int]:
        return [entry for entry, player in enumerate(self.table.players) if player == name]

    def result(self, names: Sequence[str]) -> Floats:
        """[deals] mean of all places of these agents."""
        places = [entry for name in names for entry in self.places(name)]
        mean: Floats = self.deals()[:, :, places].mean(axis=(1, 2))
        return mean

    def over_sessions(self, values: Floats) -> Estimate:
        """The same mean of values [deals], with an interval over whole sessions, which are independent."""
        return estimate(values.reshape(-1, self.schedule.session).mean(axis=1))

    def compared(self) -> list[tuple[list[str], list[str], Estimate]]:
        """The contrasts: two groups, and the first's result less the second's."""
        return [(a, b, difference(self.result(a), self.result(b))) for a, b in self.contrasts]

    @property
    def caveat(self) -> str:
        """What the intervals stand on."""
        told = "intervals over deals, each played in all seatings"
        if self.schedule.session == 1:
            return told
        return (
            f"{told}; they take deals as independent, but agents learn from deal to deal for sessions of"
            f" {self.schedule.session}, so they can be too narrow: those over sessions are not, where there are many"
        )

    def by_seat(self, name: str) -> list[Estimate]:
        """[P] from the first blind on."""
        deals = self.deals()
        found = []
        for seat in range(len(self.table.players)):
            entries = [entries[seat] for entries in self.schedule.seatings]
            mine = [i for i, entry in enumerate(entries) if self.table.players[entry] == name]
            found.append(estimate(np.mean([deals[:, i, entries[i]] for i in mine], axis=0)))
        return found

    def by_class(self) -> dict[str, dict[str, Estimate]]:
        """Of each agent, what a place of it wins from each class."""
        deals = self.deals()
        players = self.table.players
        flow = flows(deals.reshape(-1, len(players))).reshape(*deals.shape, len(players)).mean(axis=1)
        classes = {name: opponent_class(spec) for name, spec in self.specs.items()}
        found: dict[str, dict[str, Estimate]] = {}
        for name in self.specs:
            rows = flow[:, self.places(name)].mean(axis=1)
            found[name] = {
                kind: estimate(rows[:, [i for i, player in enumerate(players) if classes[player] == kind]].sum(axis=1))
                for kind in sorted(set(classes.values()))
            }
        return found

    def to_json(self) -> dict[str, Any]:
        by_class = self.by_class()
        return {
            "game": self.schedule.rules.name,
            "definition": self.schedule.rules.to_acpc(),
            "table": list(self.table.players),
            "seed": self.schedule.seed,
            "session": self.schedule.session,
            "unit": f"small bets per hand; {self.caveat}",
            "hands": self.hands,
            "deals": len(self.deals()),
            "agents": {
                name: {
                    **_json(estimate(self.result([name]))),
                    "over_sessions": _json(self.over_sessions(self.result([name]))),
                    "class": opponent_class(spec),
                    "by_seat": [_json(found) for found in self.by_seat(name)],
                    "won_from_class": {kind: _json(found) for kind, found in by_class[name].items()},
                    "settings": spec.settings,
                }
                for name, spec in self.specs.items()
            },
            "contrasts": [
                {"first": first, "second": second, **_json(found)} for first, second, found in self.compared()
            ],
            "decision_seconds": {
                f"{name}, street {street}": {
                    "median": float(np.median(times)),
                    "p95": float(np.quantile(times, 0.95)),
                    "max": max(times),
                    "n": len(times),
                }
                for (name, street), times in sorted(self.decisions.items())
            },
            "incidents": self.incidents[:100],
            "seconds": round(self.seconds, 1),
            **provenance(),
        }


def _json(found: Estimate) -> dict[str, Any]:
    return {"mean": round(found.mean, 5), **found.interval(5)}
