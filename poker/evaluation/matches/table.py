"""Who plays whom on which cards: tables, seatings, and the play of one session.

A *table* is a line-up of agents, one entry a player. A *deal* is one set of cards; it is played in every *seating*:
both orders heads-up, all orders of three players, all rotations of more. A *session* is a run of deals during which
agents may remember; it is played in each seating from the start, all agents reset. Cards depend on the seed and the
number of the deal alone, so all tables play the same cards.
"""

import time
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np

from poker.agents.base import Agent
from poker.agents.remote import AgentGivenUp
from poker.formats.acpc_log import log_line
from poker.rules import CALL, FOLD, Rules
from poker.state import HandState

_CARDS, _AGENTS = range(2)
"""First word of the seed sequences of cards and of agents."""


class AgentSpec:
    """A name, a picklable factory (agents are built in the processes that play) and the settings, for the record."""

    def __init__(self, name: str, build: Callable[[], Agent], settings: Mapping[str, Any]) -> None:
        self.name = name
        self.build = build
        self.settings = dict(settings)


@dataclass(frozen=True)
class Table:
    """`players` are agent names, one for each entry; a name that is there twice is two agents."""

    players: tuple[str, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the entries; from the second on of the same agent with a number."""
        earlier = [self.players[:i].count(name) for i, name in enumerate(self.players)]
        return tuple(
            name if not count else f"{name}#{count + 1}" for name, count in zip(self.players, earlier, strict=True)
        )

    @property
    def title(self) -> str:
        return " vs ".join(self.labels)


@dataclass(frozen=True)
class Schedule:
    """What is played at every table: `deals` deals in sessions of `session`, from `seed`."""

    rules: Rules
    seed: int
    session: int

    @property
    def seatings(self) -> tuple[tuple[int, ...], ...]:
        """Each seating [P] gives the entry in every seat."""
        entries = range(self.rules.num_players)
        if len(entries) <= 3:
            return tuple(permutations(entries))
        return tuple(tuple((entry + shift) % len(entries) for entry in entries) for shift in entries)

    @property
    def hands_per_session(self) -> int:
        return self.session * len(self.seatings)

    def deal(self, number: int) -> HandState:
        return HandState.deal(self.rules, np.random.default_rng([_CARDS, self.seed, number]))

    def agent_seed(self, session: int, seating: int, entry: int) -> int:
        return int(
            np.random.SeedSequence([_AGENTS, self.seed, session, seating, entry]).generate_state(1, np.uint64)[0]
        )


@dataclass(frozen=True)
class Incident:
    """An agent failed: it raised an error or answered with something illegal, and checked or folded instead.

    One that is given up is named once a hand.
    """

    agent: str
    hand: int
    betting: str
    error: str
    trace: str


@dataclass
class SessionRecord:
    """A played session: log lines and payoffs [hands, P] by entry, failures, and seconds by (entry, street).

    `aivat` [hands, P] are estimates of the payoffs with less luck (`luck.py`), empty if not asked for; `unknown` are
    agents whose policies do not count in them, and why. `commit` is the code that played, as the hand store noted it.
    """

    lines: list[str] = field(default_factory=list)
    payoffs: list[list[int]] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    seconds: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    aivat: list[list[float]] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)
    commit: str = ""


class AbsentAgent:
    """In place of an agent that could not be built or reset: it checks or folds, and every hand names the error."""

    def __init__(self, name: str, what: str, error: Exception) -> None:
        self.name = name
        self._why = f"not {what}: {_described(error)}"
        self._error = error

    def reset(self, seed: int) -> None:
        """It stays as it is."""

    def start_hand(self, seat: int) -> None:
        raise AgentGivenUp(self._why) from self._error

    def act(self, state: HandState) -> int:
        raise AgentGivenUp(self._why) from self._error


def play_session(schedule: Schedule, table: Table, agents: Sequence[Agent], session: int) -> SessionRecord:
    """Plays every deal of the session in every seating; hand number = deal * seatings + seating."""
    record = SessionRecord()
    for seating in range(len(schedule.seatings)):
        present = _reset(schedule, agents, session, seating)
        for number, deal in _deals(schedule, session):
            _play_hand(record, schedule, table, present, number, seating, deal)
    return record


def play_session_by_deal(
    schedule: Schedule, table: Table, casts: Sequence[Sequence[Agent]], session: int
) -> SessionRecord:
    """The same hands, all seatings of a deal in a row, by a cast of agents for each seating.

    The record is that of `play_session`; agents that analyse boards do so once a deal.
    """
    records = [SessionRecord() for _ in casts]
    present = [_reset(schedule, agents, session, seating) for seating, agents in enumerate(casts)]
    for number, deal in _deals(schedule, session):
        for seating, (record, agents) in enumerate(zip(records, present, strict=True)):
            _play_hand(record, schedule, table, agents, number, seating, deal)
    whole = SessionRecord()
    for record in records:
        whole.lines += record.lines
        whole.payoffs += record.payoffs
        whole.incidents += record.incidents
        for key, seconds in record.seconds.items():
            whole.seconds.setdefault(key, []).extend(seconds)
    return whole


def _reset(schedule: Schedule, agents: Sequence[Agent], session: int, seating: int) -> list[Agent]:
    """The agents, ready to play; one that cannot be reset is absent from these hands."""
    present: list[Agent] = []
    for entry, agent in enumerate(agents):
        try:
            agent.reset(schedule.agent_seed(session, seating, entry))
        except Exception as error:
            present.append(AbsentAgent(agent.name, "reset", error))
        else:
            present.append(agent)
    return present


def _deals(schedule: Schedule, session: int) -> Iterator[tuple[int, HandState]]:
    for number in range(session * schedule.session, (session + 1) * schedule.session):
        yield number, schedule.deal(number)


def _play_hand(
    record: SessionRecord,
    schedule: Schedule,
    table: Table,
    agents: Sequence[Agent],
    deal: int,
    seating: int,
    start: HandState,
) -> None:
    entries, labels = schedule.seatings[seating], table.labels
    number = deal * len(schedule.seatings) + seating
    hand = _Hand(record, number, entries, [labels[entry] for entry in entries])
    end = hand.play([agents[entry] for entry in entries], start)
    record.lines.append(log_line(end, number, hand.names))
    by_seat = end.payoffs()
    record.payoffs.append([by_seat[entries.index(entry)] for entry in range(len(entries))])


@dataclass(frozen=True)
class _Hand:
    """One hand in progress; names and entries in seat order."""

    record: SessionRecord
    number: int
    entries: tuple[int, ...]
    names: list[str]
    given_up: set[int] = field(default_factory=set)

    def play(self, agents: Sequence[Agent], state: HandState) -> HandState:
        for seat, agent in enumerate(agents):
            self._guarded(seat, state, partial(agent.start_hand, seat))
        while not state.is_over:
            state = state.apply(self._decide(agents[state.to_act], state))
        for seat, agent in enumerate(agents):
            end_hand = getattr(agent, "end_hand", None)  # isinstance of a protocol is slow
            if end_hand is not None:
                self._guarded(seat, state, partial(end_hand, state.view(seat)))
        return state

    def _decide(self, agent: Agent, state: HandState) -> int:
        seat = state.to_act
        view = state.view(seat)
        started = time.perf_counter()
        action = self._guarded(seat, state, partial(_legal_action, agent, view))
        elapsed = time.perf_counter() - started
        self.record.seconds.setdefault((self.entries[seat], state.street), []).append(elapsed)
        if action is not None:
            return action
        return FOLD if state.legal().fold else CALL

    def _guarded(self, seat: int, state: HandState, step: Callable[[], int | None]) -> int | None:
        try:
            return step()
        except Exception as error:
            if seat not in self.given_up:
                betting, trace = state.betting.text(), traceback.format_exc(limit=-5)
                self.record.incidents.append(Incident(self.names[seat], self.number, betting, _described(error), trace))
            if isinstance(error, AgentGivenUp):
                self.given_up.add(seat)
            return None


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def _legal_action(agent: Agent, view: HandState) -> int:
    action = agent.act(view)
    if not isinstance(action, int | np.integer):
        raise TypeError(f"the answer is no action but {repr(action)[:100]}")
    view.betting.apply(int(action))
    return int(action)
