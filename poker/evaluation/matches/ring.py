"""Ring games: a duplicate tournament of 2 to 10 players [POKI] section 7, reported in small bets per hand.

Every deal is played in all seatings of the table, so that everybody holds every hand once (in all orders up to three
players, in all rotations beyond). Agents keep what they learn for a session of many deals; each seating has its own
copies of them, which know only that seating. `run` is what `evaluate.py evaluate=ring` calls.

The unit of every interval is a deal, averaged over its seatings and over the places of one agent: cards are independent
between deals, and what learning ties together is left out of account.

What an agent wins from a class of opponents: in each hand the losses of every loser go to the winners in proportion to
what they win, and these flows are summed. Classes are tight or loose (tightness 0.5), passive or aggressive
(aggressiveness 0.5) by the settings of an agent; one without these settings is a class of its own.
"""

import contextlib
import json
import math
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table as TextTable

from poker.artifacts import fingerprint_of, write_atomically
from poker.errors import PokernetsError
from poker.evaluation.matches.closing import Counted, close_logs
from poker.evaluation.matches.hand_store import HandStore
from poker.evaluation.matches.report import LiveReport
from poker.evaluation.matches.results import MatchResults, TableResults
from poker.evaluation.matches.table import AgentSpec, Schedule, SessionRecord, Table
from poker.evaluation.matches.workers import play_all
from poker.evaluation.pages.html import record_page
from poker.evaluation.provenance import provenance
from poker.evaluation.statistics import Estimate, estimate
from poker.rules import Rules

Floats = NDArray[np.float64]

_MOST_PLAYERS = 10


def run(
    *,
    game: Rules,
    players: int | None,
    agents: Sequence[AgentSpec],
    contrasts: Sequence[Sequence[str]],
    hands: int,
    session: int,
    seed: int,
    processes: int,
    fresh: bool,
    out: str,
) -> "RingResults":
    """Play `hands` hands (whole sessions of `session` deals) and write the report to `out`.

    `players` 2 to 10 changes the size of the table, null leaves it as the game says. `agents` sit down in their order,
    again and again until the table is full. Each of `contrasts` names two groups of agents, joined by `+`: the first
    group's mean result less the second's is reported with its interval.
    """
    game = game if players is None else with_players(game, players)
    specs = {spec.name: spec for spec in agents}
    if len(specs) < len(agents) or not agents:
        raise PokernetsError("`agents` needs names, each once: a shorter list is repeated until the table is full")
    if hands < 1 or session < 1 or processes < 0:
        raise PokernetsError("`hands` and `session` must be at least 1, `processes` 0 (one for each core) or more")
    if len(agents) > game.num_players:
        raise PokernetsError(f"`{game.name}` seats {game.num_players} players, `agents` are {len(agents)}")
    table = Table(tuple(agents[i % len(agents)].name for i in range(game.num_players)))
    schedule = Schedule(game, seed, session)
    results = RingResults(schedule, table, specs, [_contrast(pair, specs) for pair in contrasts])
    sessions = -(-hands // schedule.hands_per_session)
    folder, console = Path(out), Console()
    started = time.monotonic()
    store = HandStore(folder / "hands", schedule, table, {name: specs[name].settings for name in sorted(specs)})
    if fresh:
        store.discard()
    with store:
        _play(results, store, agents, sessions, processes or os.cpu_count() or 1, console, folder)
    results.seconds = time.monotonic() - started
    write_ring_report(results, folder, console)
    close_logs(game, {store.path: Counted(results.hands, 1)}, console)
    return results


def with_players(game: Rules, players: int) -> Rules:
    """The hold'em game with another number of players: small and big blind, heads-up reversed as in ACPC."""
    if not 2 <= players <= _MOST_PLAYERS:
        raise PokernetsError(f"players={players}: a ring has 2 to {_MOST_PLAYERS}")
    small, big = sorted(game.blinds)[-2:]
    heads_up = players == 2
    return replace(
        game,
        name=f"{re.sub(r'_[0-9]+p$', '', game.name)}_{players}p",
        num_players=players,
        blinds=(big, small) if heads_up else (small, big) + (0,) * (players - 2),
        stacks=(min(game.stacks),) * players,
        first_player=(1 if heads_up else 2 % players, *(0 for _ in game.board_cards[1:])),
    )


def _play(
    results: "RingResults",
    store: HandStore,
    agents: Sequence[AgentSpec],
    sessions: int,
    processes: int,
    console: Console,
    folder: Path,
) -> None:
    schedule, table = results.schedule, results.table
    progress = TableResults(table, store.path, schedule)
    settings = {spec.name: spec.settings for spec in agents}
    match = MatchResults(schedule.rules, schedule.seed, schedule.session, settings, [progress])

    def take(session: int, record: SessionRecord) -> None:
        results.add(session, record)
        progress.add(session, record)

    for session, record in store.kept.items():
        if session < sessions:
            take(session, record)
    progress.kept = progress.hands
    tasks = [(table, session) for session in range(sessions) if session not in store.kept]
    with contextlib.ExitStack() as stack:
        live = stack.enter_context(LiveReport(match, sessions, folder, console)) if tasks else None
        for (_, session), record in play_all(schedule, agents, tasks, processes, by_deal=True):
            store.add(session, record)
            take(session, record)
            if live is not None:
                live.update(progress)


def _contrast(pair: Sequence[str], specs: dict[str, AgentSpec]) -> tuple[list[str], list[str]]:
    groups = [str(group).split("+") for group in pair]
    unknown = [name for group in groups for name in group if name not in specs]
    if len(groups) != 2 or unknown:
        wrong = f"`{unknown[0]}` is not among `agents`" if unknown else "two groups are compared"
        raise PokernetsError(f"contrast {list(pair)}: {wrong}; write [[a+b,c+d]]")
    return groups[0], groups[1]


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
            "unit": "small bets per hand; intervals over deals, each played in all seatings",
            "hands": self.hands,
            "deals": len(self.deals()),
            "agents": {
                name: {
                    **_json(estimate(self.result([name]))),
                    "class": opponent_class(spec),
                    "by_seat": [_json(found) for found in self.by_seat(name)],
                    "won_from_class": {kind: _json(found) for kind, found in by_class[name].items()},
                    "settings": spec.settings,
                }
                for name, spec in self.specs.items()
            },
            "contrasts": [
                {"first": first, "second": second, **_json(estimate(self.result(first) - self.result(second)))}
                for first, second in self.contrasts
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
    finite = math.isfinite(found.half_width)
    return {"mean": round(found.mean, 5), "half_width_95": round(found.half_width, 5) if finite else None}


def write_ring_report(results: RingResults, folder: Path, console: Console) -> None:
    """`ring-<game>-<fingerprint>.json`, named by what was played, and tables on the console."""
    record = results.to_json()
    settings = {name: spec.settings for name, spec in results.specs.items()}
    identity = fingerprint_of([results.table.players, settings, record["seed"], record["session"]])
    path = folder / f"ring-{results.schedule.rules.name}-{identity[:10]}.json"
    write_atomically(path, json.dumps(record, indent=1).encode() + b"\n")
    record_page(f"Ring game of {results.schedule.rules.name}", record).write(path.with_suffix(".html"))
    _print(results, console)
    console.print(f"results: {path}", soft_wrap=True, highlight=False)
    console.print(f"report: {path.with_suffix('.html')}", soft_wrap=True, highlight=False)


def _print(results: RingResults, console: Console) -> None:
    by_class = results.by_class()
    kinds = sorted({kind for row in by_class.values() for kind in row})
    text = TextTable(title=f"{results.schedule.rules.name}: small bets per hand with 95% intervals")
    for heading in ("agent", "sb/hand", *(f"from {kind}" for kind in kinds)):
        text.add_column(heading, justify="left" if heading == "agent" else "right")
    for name in results.specs:
        text.add_row(name, _sb(estimate(results.result([name]))), *(_sb(by_class[name][kind]) for kind in kinds))
    text.caption = f"{results.hands:,} hands, {len(results.deals()):,} deals"
    console.print(text)
    for first, second in results.contrasts:
        found = estimate(results.result(first) - results.result(second))
        console.print(f"{'+'.join(first)} less {'+'.join(second)}: {_sb(found)} sb/hand", highlight=False)
    if results.incidents:
        count = len(results.incidents)
        console.print(f"[red]{count} failures of agents (they checked or folded instead)[/red]: {results.incidents[0]}")


def _sb(found: Estimate) -> str:
    return f"{found.mean:+.3f}" + (f" ± {found.half_width:.3f}" if math.isfinite(found.half_width) else "")
