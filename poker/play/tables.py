"""Sessions played side by side: an agent that several tables wait for decides for all of them at once.

A table plays one seating of a session, from the first deal to the last, and then takes the next. Agents that sample a
policy sit at all tables as copies that share what they have worked out (`SamplingAgent.at_another_table`); others need
an agent for each table. Hands are those of `play_session`, whatever the number of tables.
"""

import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence

from poker.agents.base import Agent, SamplingAgent
from poker.play.hand import Guarded
from poker.play.lineup import LineUp, Rotation, Task
from poker.play.session import Seating, SessionRecord, joined
from poker.state import HandState, Policy

_Asked = tuple[Guarded, HandState]


def play_at_tables(
    rotation: Rotation, tasks: Iterable[Task], tables: int, sit: Callable[[LineUp, int], Sequence[Agent]]
) -> Iterator[tuple[Task, SessionRecord]]:
    """Play sessions and yield them in the order in which they end; `tasks` are taken as tables come free. `sit` gives
    the agents of a line-up at a table, by entry."""
    seatings = range(len(rotation.seatings))
    waiting = ((task, seating) for task in tasks for seating in seatings)
    playing: dict[int, _Table] = {}
    ended: dict[Task, dict[int, SessionRecord]] = defaultdict(dict)
    free = list(range(tables))
    while True:
        for number in free:
            following = next(waiting, None)
            if following is not None:
                task, seating = following
                playing[number] = _Table(rotation, task, seating, sit(task[0], number))
        if not playing:
            return
        asked = [table.asked for table in playing.values() if table.asked is not None]
        if len(asked) == len(playing):
            for table, action in zip(playing.values(), _actions(asked), strict=True):
                table.go_on(action)
        free = [number for number, table in playing.items() if table.asked is None]
        for table in [playing.pop(number) for number in free]:
            records = ended[table.task]
            records[table.seating] = table.record
            if len(records) == len(seatings):
                del ended[table.task]
                yield table.task, joined(records[seating] for seating in seatings)


class _Table:
    """One seating of a session under way; `asked` is who has to act, with their view, None at the end."""

    def __init__(self, rotation: Rotation, task: Task, seating: int, agents: Sequence[Agent]) -> None:
        self.task, self.seating = task, seating
        lineup, session = task
        played = Seating(rotation, lineup, agents, session, seating)
        self.record = played.record
        self._steps = _deals(rotation, played, session)
        self.asked: _Asked | None = None
        self.go_on(None)

    def go_on(self, action: int | None) -> None:
        try:
            self.asked = self._steps.send(action)
        except StopIteration:
            self.asked = None


def _deals(rotation: Rotation, seating: Seating, session: int) -> Generator[_Asked, int | None, None]:
    for number in range(session * rotation.session, (session + 1) * rotation.session):
        yield from seating.steps(number, rotation.deal(number))


def shares_tables(agent: Agent) -> bool:
    """Whether copies of the agent may sit at many tables: it samples a policy and learns nothing from hands."""
    return (
        isinstance(agent, SamplingAgent)
        and type(agent).act is SamplingAgent.act
        and not hasattr(agent, "end_hand")
        and not hasattr(agent, "watch")
    )


def _actions(asked: Sequence[_Asked]) -> list[int]:
    """The action of each player that is `asked`, in order."""
    together: dict[int, list[int]] = defaultdict(list)
    for number, (player, _) in enumerate(asked):
        if isinstance(player.agent, SamplingAgent) and shares_tables(player.agent):
            together[id(player.agent.original)].append(number)
    known: dict[int, Policy] = {}
    seconds: dict[int, float] = {}
    for numbers in together.values():
        agent, started = asked[numbers[0]][0].agent, time.perf_counter()
        assert isinstance(agent, SamplingAgent)
        try:
            known |= zip(numbers, agent.original.policies([asked[number][1] for number in numbers]), strict=True)
        except Exception:
            continue
        seconds |= dict.fromkeys(numbers, (time.perf_counter() - started) / len(numbers))
    return [
        player.act(view, known.get(number), seconds.get(number, 0.0)) for number, (player, view) in enumerate(asked)
    ]
