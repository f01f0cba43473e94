"""Plays the sessions of many line-ups in this process or on a cluster, and yields them as they finish.

Processes build the agents that they need. Each gets its share of the cores for threads inside agents.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from poker.agents.base import Agent
from poker.play.lineup import AgentSpec, LineUp, Rotation, Task
from poker.play.session import SessionRecord, play_at_tables, play_session, shares_tables
from poker.run.errors import PokernetsError, described
from poker.run.parallel import Cluster, Given, Work

Estimator = Callable[[Rotation, Sequence[Sequence[Agent]], SessionRecord], None]
"""Picklable function that fills `record.aivat` of a session; its agents are as in `play_session`."""

_ALONE_SECONDS, _WORTH_SECONDS = 1.0, 3.0
_CHUNK_SECONDS, _UNIT_SECONDS = 0.5, 60.0
_MAX_CHUNK = 500


@dataclass
class Worker:
    """Plays and estimates sessions in one process.

    Attributes:
        rotation: the deals and seatings.
        specs: the agents by name.
        estimator: computes AIVAT estimates; None for none.
        tables: number of tables that are played in parallel.
        played: sessions that have been played and need only estimates.
        agents: agents that have been built, by name, copy and seating.
    """

    rotation: Rotation
    specs: dict[str, AgentSpec]
    estimator: Estimator | None = None
    tables: int = 1
    played: Mapping[Task, SessionRecord] = field(default_factory=dict)
    agents: dict[tuple[str, int, int], Agent] = field(default_factory=dict)

    def seated(self, lineup: LineUp) -> list[Agent]:
        """Return the agents of a line-up, building those that are missing.

        Raises:
            PokernetsError: an agent cannot be built.
        """
        return [self._agent(name, copy, 0) for name, copy in lineup.copies]

    def play(self, task: Task) -> SessionRecord:
        """Play a session of a line-up, or take it from `played`, and estimate it."""
        lineup, session = task
        copies = range(len(self.rotation.seatings) if self.rotation.by_deal else 1)
        agents = [[self._agent(name, copy, seating) for name, copy in lineup.copies] for seating in copies]
        record = self.played.get(task) or play_session(self.rotation, lineup, agents, session)
        self._estimate(agents, record)
        return record

    def play_all(self, tasks: Iterable[Task]) -> Iterator[tuple[Task, SessionRecord]]:
        """Yield each task with its record, in order of completion; tasks are taken as tables become free."""
        if self.tables == 1:
            yield from ((task, self.play(task)) for task in tasks)
            return
        done = deque[Task]()

        def to_play() -> Iterator[Task]:
            for task in tasks:
                if task in self.played:
                    done.append(task)
                else:
                    yield task

        for task, record in play_at_tables(self.rotation, to_play(), self.tables, self._sit):
            self._estimate([self._agents_of(task[0])], record)
            yield task, record
        yield from ((task, self.play(task)) for task in done)

    def _estimate(self, agents: Sequence[Sequence[Agent]], record: SessionRecord) -> None:
        if self.estimator is not None:
            self.estimator(self.rotation, agents, record)
        record.policies.clear()

    def _sit(self, lineup: LineUp, table: int) -> list[Agent]:
        """Return the agents at one of several tables: the originals at the first, perhaps copies at the others."""
        return [
            agent.at_another_table() if table and shares_tables(agent) else self._agent(name, copy, table)
            for agent, (name, copy) in zip(self.seated(lineup), lineup.copies, strict=True)
        ]

    def _agents_of(self, lineup: LineUp) -> list[Agent]:
        """Return the agents for estimates; agents that learn are separate instances, as they see the session again."""
        return [
            self._agent(name, copy, self.tables) if agent.has_policy and agent.learns else agent
            for agent, (name, copy) in zip(self.seated(lineup), lineup.copies, strict=True)
        ]

    def _agent(self, name: str, copy: int, seating: int) -> Agent:
        """Return the agent, building it once; raises PokernetsError if that fails."""
        key = name, copy, seating
        if key not in self.agents:
            try:
                self.agents[key] = self.specs[name].build(self.rotation.rules)
            except PokernetsError:
                raise
            except Exception as error:
                raise PokernetsError(f"the agent `{name}` cannot be built: {described(error)}") from error
        return self.agents[key]


def play_all(
    worker: Worker, tasks: Sequence[Task], cluster: Cluster, wanted: Callable[[Task], bool] = lambda task: True
) -> Iterator[tuple[Task, SessionRecord]]:
    """Play tasks and yield each with its record, in order of completion.

    This process plays alone until it is worth starting others, which must build agents and load kernels of their own.

    Args:
        worker: plays the sessions.
        tasks: line-ups and sessions.
        wanted: a task is left out if this is False when its turn comes.
    """
    waiting, seconds = deque(tasks), 0.0

    def alone() -> Iterator[Task]:
        while waiting and (cluster.workers == 1 or not _is_long(seconds, len(tasks) - len(waiting), len(waiting))):
            task = waiting.popleft()
            if wanted(task):
                yield task

    playing = worker.play_all(alone())
    while True:
        started = time.perf_counter()
        played = next(playing, None)
        seconds += time.perf_counter() - started
        if played is None:
            break
        yield played
    worker.agents.clear()
    per_task = seconds / max(1, len(tasks) - len(waiting))
    chunks = _Chunks(_units(waiting, cluster.workers, per_task), cluster.workers, wanted, worker.tables)
    for records, taken in cluster.run(Work(Given(partial(_played, worker)), share_cores=True), chunks):
        chunks.seen(len(records), taken)
        yield from records


def _is_long(seconds: float, played: int, left: int) -> bool:
    """Return whether the remaining tasks are worth more processes, if `played` tasks took `seconds`."""
    return seconds > _ALONE_SECONDS and left * seconds / played > _WORTH_SECONDS


def _units(tasks: Iterable[Task], processes: int, seconds: float) -> list[list[Task]]:
    """Group tasks into units that one process plays in a row.

    A unit has all line-ups of a session. They share their deals, so that an agent that solves public states meets many
    of them again. Units are single tasks if processes would be idle otherwise, or if a task takes `seconds` that make a
    unit long, since a unit is lost as a whole.
    """
    by_session: dict[int, list[Task]] = {}
    for task in tasks:
        by_session.setdefault(task[1], []).append(task)
    in_a_row = max((len(unit) for unit in by_session.values()), default=0) * seconds
    if len(by_session) < 4 * processes or in_a_row > _UNIT_SECONDS:
        return [[task] for unit in by_session.values() for task in unit]
    return list(by_session.values())


class _Chunks(Iterator[list[Task]]):
    """Chunks of units that take a process about half a second, without unwanted tasks.

    A chunk has at least as many tasks as there are tables.
    """

    def __init__(self, units: list[list[Task]], processes: int, wanted: Callable[[Task], bool], tables: int) -> None:
        self._waiting, self._processes, self._wanted = deque(units), processes, wanted
        self._size, self._least, self._per_unit = tables, tables, max((len(unit) for unit in units), default=1)

    def __next__(self) -> list[Task]:
        while self._waiting:
            size = min(self._size, -(-len(self._waiting) // self._processes))
            tasks = [task for _ in range(size) for task in self._waiting.popleft() if self._wanted(task)]
            if tasks:
                return tasks
        raise StopIteration

    def seen(self, tasks: int, seconds: float) -> None:
        """Record that a process took `seconds` for this number of `tasks`."""
        pace = tasks / max(seconds, 1e-6)
        self._size = max(self._least, min(_MAX_CHUNK, round(_CHUNK_SECONDS * pace)) // self._per_unit)


def _played(worker: Worker, tasks: list[Task]) -> tuple[list[tuple[Task, SessionRecord]], float]:
    started = time.perf_counter()
    records = list(worker.play_all(tasks))
    return records, time.perf_counter() - started
