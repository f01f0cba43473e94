"""A session: a run of deals, each in every seating, and what is left of them; one alone, or several side by side.

Side by side, an agent that several tables wait for decides for all of them at once. A table plays one seating of a
session, from the first deal to the last, and then takes the next. Agents that sample a policy sit at all tables as
copies that share what they have worked out (`SamplingAgent.at_another_table`); others need an agent for each table.
Hands are the same whatever the number of tables.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from poker.agents.base import Agent, SamplingAgent
from poker.formats.acpc.log import log_line
from poker.game.state import HandState, Policy
from poker.play.hand import AbsentAgent, Guarded, Incident, Policies, finish, hand_steps
from poker.play.lineup import LineUp, Rotation, Task

_Asked = tuple[Guarded, HandState]


@dataclass
class SessionRecord:
    """A played session: log lines and payoffs [hands, P] by entry, failures, and seconds by (entry, street).

    Hands are in the order of the seatings, then of the deals; hand number = deal * seatings + seating. `aivat` [hands,
    P] are AIVAT estimates, empty if not asked for; `unknown` are agents whose policies do not count in them, and why.
    `commit` is the code that played. `policies`, by hand and betting, are those of agents that are not repeatable,
    until the session is estimated.
    """

    lines: list[str] = field(default_factory=list)
    payoffs: list[list[int]] = field(default_factory=list)
    incidents: list[Incident] = field(default_factory=list)
    seconds: dict[tuple[int, int], list[float]] = field(default_factory=dict)
    aivat: list[list[float]] = field(default_factory=list)
    unknown: dict[str, str] = field(default_factory=dict)
    commit: str = ""
    policies: Policies = field(default_factory=dict, repr=False, compare=False)


class _Seating:
    """The hands of one seating of a session, as they are played; an agent that cannot be reset is absent from them."""

    def __init__(self, rotation: Rotation, task: Task, seating: int, agents: Sequence[Agent]) -> None:
        self.task, self.seating, self._rotation = task, seating, rotation
        lineup, session = task
        self._entries = rotation.seatings[seating]
        self.record = SessionRecord()
        guarded: list[Guarded] = []
        for entry, (label, agent) in enumerate(zip(lineup.labels, agents, strict=True)):
            present = agent
            try:
                agent.reset(rotation.agent_seed(session, seating, entry))
            except Exception as error:
                present = AbsentAgent(agent.name, "reset", error)
            noted = self.record.incidents, self.record.seconds, self.record.policies
            guarded.append(Guarded(present, label, entry, *noted))
        self._seats = [guarded[entry] for entry in self._entries]
        self._session = self.steps(rotation.deals(session))
        self.asked: _Asked | None = None
        """Who has to act, with their view; None at the end."""

    def go_on(self, action: int | None) -> None:
        """Play on to the next decision, first with None."""
        try:
            self.asked = self._session.send(action)
        except StopIteration:
            self.asked = None

    def steps(self, numbers: Iterable[int]) -> Generator[_Asked, int | None, None]:
        """Play deals in steps, as `hand_steps` does."""
        for number in numbers:
            hand = number * len(self._rotation.seatings) + self.seating
            for player in self._seats:
                player.hand = hand
            end = yield from hand_steps(self._seats, self._rotation.deal(number))
            self.record.lines.append(log_line(end, hand, [player.label for player in self._seats]))
            by_entry = dict(zip(self._entries, end.payoffs(), strict=True))
            self.record.payoffs.append([by_entry[entry] for entry in range(len(by_entry))])


def play_session(rotation: Rotation, lineup: LineUp, agents: Sequence[Sequence[Agent]], session: int) -> SessionRecord:
    """Plays every deal of the session in every seating.

    `agents` by entry: one list plays the seatings in turn, from the first deal to the last; a list for each seating
    plays all seatings of a deal in a row. The record is the same.
    """
    places = range(len(rotation.seatings))
    played: list[_Seating] = []
    for together in [[place] for place in places] if len(agents) == 1 else [places]:
        seated = [_Seating(rotation, (lineup, session), place, agents[place % len(agents)]) for place in together]
        for number in rotation.deals(session):
            for seating in seated:
                finish(seating.steps([number]))
        played += seated
    return _joined(seating.record for seating in played)


def _joined(seatings: Iterable[SessionRecord]) -> SessionRecord:
    """Join the records of all seatings of a session, in their order."""
    whole = SessionRecord()
    for record in seatings:
        whole.lines += record.lines
        whole.payoffs += record.payoffs
        whole.incidents += record.incidents
        for key, seconds in record.seconds.items():
            whole.seconds.setdefault(key, []).extend(seconds)
        whole.policies |= record.policies
    return whole


def play_at_tables(
    rotation: Rotation, tasks: Iterable[Task], tables: int, sit: Callable[[LineUp, int], Sequence[Agent]]
) -> Iterator[tuple[Task, SessionRecord]]:
    """Play sessions and yield them in the order in which they end; `tasks` are taken as tables come free. `sit` gives
    the agents of a line-up at a table, by entry."""
    seatings = range(len(rotation.seatings))
    waiting = ((task, seating) for task in tasks for seating in seatings)
    playing: dict[int, _Seating] = {}
    ended: dict[Task, dict[int, SessionRecord]] = defaultdict(dict)
    free = list(range(tables))
    while True:
        for number in free:
            following = next(waiting, None)
            if following is not None:
                task, seating = following
                playing[number] = _Seating(rotation, task, seating, sit(task[0], number))
                playing[number].go_on(None)
        if not playing:
            return
        waiting_for = [table.asked for table in playing.values() if table.asked is not None]
        if len(waiting_for) == len(playing):
            for table, action in zip(playing.values(), _actions(waiting_for), strict=True):
                table.go_on(action)
        free = [number for number, table in playing.items() if table.asked is None]
        for table in [playing.pop(number) for number in free]:
            records = ended[table.task]
            records[table.seating] = table.record
            if len(records) == len(seatings):
                del ended[table.task]
                yield table.task, _joined(records[seating] for seating in seatings)


def shares_tables(agent: Agent) -> bool:
    """Whether copies of the agent may sit at many tables: it samples a policy and learns nothing from hands."""
    return (
        isinstance(agent, SamplingAgent)
        and type(agent).act is SamplingAgent.act
        and not hasattr(agent, "end_hand")
        and not hasattr(agent, "watch")
    )


def _actions(waiting: Sequence[_Asked]) -> list[int]:
    """The action of each player that is `asked`, in order."""
    together: dict[int, list[int]] = defaultdict(list)
    for number, (player, _) in enumerate(waiting):
        if isinstance(player.agent, SamplingAgent) and shares_tables(player.agent):
            together[id(player.agent.original)].append(number)
    policies: dict[int, Policy] = {}
    seconds: dict[int, float] = {}
    for numbers in together.values():
        agent, started = waiting[numbers[0]][0].agent, time.perf_counter()
        assert isinstance(agent, SamplingAgent)
        try:
            policies |= zip(numbers, agent.original.policies([waiting[number][1] for number in numbers]), strict=True)
        except Exception:
            continue
        seconds |= dict.fromkeys(numbers, (time.perf_counter() - started) / len(numbers))
    return [
        player.act(view, policies.get(number), seconds.get(number, 0.0))
        for number, (player, view) in enumerate(waiting)
    ]
