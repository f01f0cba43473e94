"""Plays sessions of many line-ups in this process, or in several, and yields them as they are done.

Workers are spawned, build the agents they need, and end with the process that started them, however it ends. Each gets
its share of the cores for threads inside agents.
"""

import multiprocessing
import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field

from poker.agents.base import Agent
from poker.agents.remote import RemoteAgent
from poker.errors import PokernetsError
from poker.parallel import BLAS_THREADS, end_with_parent, environment
from poker.play.hand import AbsentAgent
from poker.play.lineup import AgentSpec, LineUp, Rotation
from poker.play.session import SessionRecord, play_session

Task = tuple[LineUp, int]
"""A line-up and a session."""
Estimator = Callable[[Rotation, Sequence[Sequence[Agent]], SessionRecord], None]
"""Fills `record.aivat` of a session that the agents, as `play_session` takes them, have played; picklable."""

_ALONE_SECONDS, _WORTH_SECONDS = 1.0, 3.0
_CHUNK_SECONDS = 0.5
_MAX_CHUNK = 500
_THREAD_VARIABLES = (*BLAS_THREADS, "NUMBA_NUM_THREADS")
"""A fair share of the cores for each process; what the user has set stays."""


@dataclass
class Worker:
    """Plays and estimates sessions in one process; agents are built when they are first needed.

    With `decision_seconds` each agent gets a process of its own and that much time for every decision. What is in
    `played` is estimated only.
    """

    rotation: Rotation
    specs: dict[str, AgentSpec]
    decision_seconds: float | None = None
    estimator: Estimator | None = None
    played: Mapping[Task, SessionRecord] = field(default_factory=dict)
    _agents: dict[tuple[str, int, int], Agent] = field(default_factory=dict, init=False)

    def play(self, task: Task) -> SessionRecord:
        lineup, session = task
        by_deal = self.rotation.by_deal and self.decision_seconds is None  # else too many processes
        copies = range(len(self.rotation.seatings) if by_deal else 1)
        agents = [[self._agent(name, copy, seating) for name, copy in lineup.copies] for seating in copies]
        record = self.played.get(task) or play_session(self.rotation, lineup, agents, session)
        if self.estimator is not None:
            self.estimator(self.rotation, agents, record)
        return record

    def _agent(self, name: str, copy: int, seating: int) -> Agent:
        key = name, copy, seating
        if key not in self._agents:
            self._agents[key] = self._build(self.specs[name])
        return self._agents[key]

    def _build(self, spec: AgentSpec) -> Agent:
        """An agent that cannot be built is absent from every hand; only what the user can mend ends the match."""
        limit = self.decision_seconds
        try:
            return spec.build() if limit is None else RemoteAgent(spec.name, spec.build, limit)
        except PokernetsError:
            raise
        except Exception as error:
            return AbsentAgent(spec.name, "built", error)

    def close(self) -> None:
        """Forgets the agents, and ends their processes."""
        for agent in self._agents.values():
            if isinstance(agent, RemoteAgent):
                agent.close()
        self._agents.clear()


def play_all(
    worker: Worker, tasks: Sequence[Task], processes: int, wanted: Callable[[Task], bool] = lambda task: True
) -> Iterator[tuple[Task, SessionRecord]]:
    """Every task with its record, in order of completion; a task that is not `wanted` any more when its turn comes is
    left out.

    This process plays until it is worth starting others, which build agents and load kernels of their own.
    """
    waiting, seconds = deque(tasks), 0.0
    try:
        while waiting and (processes == 1 or not _is_long(seconds, len(tasks) - len(waiting), len(waiting))):
            task = waiting.popleft()
            if wanted(task):
                started = time.perf_counter()
                record = worker.play(task)
                seconds += time.perf_counter() - started
                yield task, record
    finally:
        worker.close()
    if not waiting:
        return
    threads = str(max(1, (os.cpu_count() or 1) // processes))
    with environment({name: threads for name in _THREAD_VARIABLES if name not in os.environ}):
        pool = ProcessPoolExecutor(processes, multiprocessing.get_context("spawn"), _start_worker, (worker,))
        try:
            yield from _play_in(pool, deque(_units(waiting, processes)), processes, wanted)
        except BrokenProcessPool as error:
            raise PokernetsError(
                "a process that plays hands was killed, perhaps for want of memory: use fewer `processes`; what was"
                " played is kept, the same command continues"
            ) from error
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _is_long(seconds: float, played: int, left: int) -> bool:
    """Whether the tasks left are worth more processes, after so many were played in `seconds`."""
    return seconds > _ALONE_SECONDS and left * seconds / played > _WORTH_SECONDS


def _units(tasks: Iterable[Task], processes: int) -> list[list[Task]]:
    """Tasks that one process plays in a row: all line-ups of a session, whose deals are the same, so that an agent that
    solves for public states meets many of them again; single tasks where that would leave processes idle."""
    by_session: dict[int, list[Task]] = {}
    for task in tasks:
        by_session.setdefault(task[1], []).append(task)
    return list(by_session.values()) if len(by_session) >= 4 * processes else [[task] for task in tasks]


def _play_in(
    pool: ProcessPoolExecutor, waiting: deque[list[Task]], processes: int, wanted: Callable[[Task], bool]
) -> Iterator[tuple[Task, SessionRecord]]:
    running: set[Future[tuple[list[tuple[Task, SessionRecord]], float]]] = set()
    chunk, per_unit = 1, max((len(unit) for unit in waiting), default=1)
    while waiting or running:
        while waiting and len(running) < 2 * processes:
            size = min(chunk, -(-len(waiting) // processes))
            tasks = [task for _ in range(size) for task in waiting.popleft() if wanted(task)]
            if tasks:
                running.add(pool.submit(_work, tasks))
        if not running:
            return
        done, running = wait(running, return_when=FIRST_COMPLETED)
        for future in done:
            records, seconds = future.result()
            pace = len(records) / max(seconds, 1e-6)
            chunk = max(1, min(_MAX_CHUNK, round(_CHUNK_SECONDS * pace)) // per_unit)
            yield from records


_worker: Worker | None = None


def _start_worker(worker: Worker) -> None:
    global _worker  # noqa: PLW0603 (a process has one worker for its whole life)
    _worker = worker
    end_with_parent()


def _work(tasks: list[Task]) -> tuple[list[tuple[Task, SessionRecord]], float]:
    assert _worker is not None
    started = time.perf_counter()
    records = [(task, _worker.play(task)) for task in tasks]
    return records, time.perf_counter() - started
