"""A session (a run of deals, each in every seating) and its record; one alone, or several in parallel.

If several tables play in parallel, an agent that several tables wait for decides for all of them at once. A table plays
one seating of a session, from the first deal to the last, and then takes the next. Agents that sample a policy sit at
all tables as copies that share their computations (`Agent.at_another_table`); other agents need an instance for
each table. The hands do not depend on the number of tables.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from poker.agents.base import Agent
from poker.formats.acpc.log import log_line
from poker.game.state import HandState, Policy
from poker.play.hand import AbsentAgent, Guarded, Incident, Policies, finish, hand_steps
from poker.play.lineup import LineUp, Rotation, Task

_Asked = tuple[Guarded, HandState]


@dataclass
class SessionRecord:
    """A session that was played.

    Hands are in the order of the seatings, then of the deals; hand number = deal * seatings + seating.

    Attributes:
        lines: log lines.
        payoffs: [hands, P] chips by entry.
        incidents: failures of agents.
        seconds: seconds of decisions by (entry, street).
        aivat: [hands, P] AIVAT estimates in chips; empty if there are none.
        unknown: agents whose policies are not used by the estimates, and why.
        commit: commit of the code that played.
        policies: policies of agents that are not repeatable, by hand and betting, until the session is estimated.
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
    """The hands of one seating of a session; an agent that cannot be reset is absent from them."""

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
        """The player to act, with their view; None at the end."""

    def go_on(self, action: int | None) -> None:
        """Play on to the next decision; the first action is None."""
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
    """Play every deal of a session in every seating.

    Args:
        rotation: the deals and seatings.
        agents: lists of agents by entry. One list plays the seatings in turn, each from the first deal to the last. A
            list for each seating plays all seatings of a deal in a row. The record is the same.
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
    """Play sessions at several tables.

    Args:
        rotation: the deals and seatings.
        tasks: line-ups and sessions, taken as tables become free.
        sit: function from a line-up and a table to its agents by entry.

    Yields:
        each task with its record, in order of completion.
    """
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
    """Return whether copies of an agent may sit at many tables: it samples a policy and learns nothing from hands."""
    return agent.has_policy and type(agent).act is Agent.act and not agent.learns and not agent.watches


def _actions(waiting: Sequence[_Asked]) -> list[int]:
    """Return the action of each player that is `asked`, in order."""
    together: dict[int, list[int]] = defaultdict(list)
    for number, (player, _) in enumerate(waiting):
        if shares_tables(player.agent):
            together[id(player.agent.original)].append(number)
    policies: dict[int, Policy] = {}
    seconds: dict[int, float] = {}
    for numbers in together.values():
        agent, started = waiting[numbers[0]][0].agent, time.perf_counter()
        try:
            policies |= zip(numbers, agent.original.policies([waiting[number][1] for number in numbers]), strict=True)
        except Exception:
            continue
        seconds |= dict.fromkeys(numbers, (time.perf_counter() - started) / len(numbers))
    return [
        player.act(view, policies.get(number), seconds.get(number, 0.0))
        for number, (player, view) in enumerate(waiting)
    ]
