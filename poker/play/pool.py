"""Agents in a pool of processes that serves many owners at a time; calls wait in fair queues that can be inspected.

An owner has a home, the process that remembers what was solved of their hand; a new hand may move to another process.
In the queue of a process the owner that has been served less goes first (start-time fair queueing: a call's turn is
that of the running call, or one after its owner's last turn if that is later). A process is started when all are busy.
"""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from typing import Any

from poker.agents.base import ObservingAgent, PolicyAgent, ReadingAgent
from poker.agents.remote import AgentFailure
from poker.play.hand import AbsentAgent, described
from poker.run.errors import PokernetsError
from poker.run.lru_cache import LRUCache
from poker.run.machine import cores
from poker.run.parallel import Child
from poker.search.opponent_decision import DecisionSolver

Builders = Mapping[str, Callable[[], Any]]
"""Factory of each agent by its name; picklable where other processes make the agents."""
_REMEMBERED = 1000
"""Latest owners whose homes and turns are remembered."""
_NICE = 10
_TRIES = 2
"""Processes that a call may kill before it fails."""


@dataclass(frozen=True)
class Call:
    """A call of `method` of the agent `name`, or of a `copy` of it: (its owner, the seed that it is reset to)."""

    name: str
    method: str
    arguments: tuple[Any, ...] = ()
    copy: tuple[str, int] | None = None


@dataclass(frozen=True)
class Offers:
    """Abilities of an agent: `by_policy` if it plays every hand by a policy that is known, `observes` if it is shown
    how hands end, `solves` if it can review decisions, `reads` if it says what it has learned of its opponent."""

    by_policy: bool
    observes: bool
    solves: bool
    reads: bool


class _Here:
    """The agents of one process, in this one; they are built when they are first asked."""

    def __init__(self, builders: Builders) -> None:
        self._builders = builders
        self._built: dict[tuple[str, tuple[str, int] | None], Any] = {}

    def do(self, method: str, *arguments: Any) -> Any:
        """Call a method of these by name: `offers`, `answer` or `forget`."""
        return getattr(self, method)(*arguments)

    def close(self) -> None:
        """There is no process to end."""

    def offers(self) -> dict[str, Offers]:
        """Abilities of all agents, which are built for this."""
        offers = {}
        for name in self._builders:
            agent = self._agent(name, None)
            observes = isinstance(agent, ObservingAgent)
            by_policy = isinstance(agent, PolicyAgent) and not observes
            offers[name] = Offers(
                by_policy, observes, isinstance(agent, DecisionSolver), isinstance(agent, ReadingAgent)
            )
        return offers

    def answer(self, call: Call) -> Any:
        return getattr(self._agent(call.name, call.copy), call.method)(*call.arguments)

    def forget(self, owner: str) -> None:
        """Drop the copies of `owner`."""
        self._built = {key: agent for key, agent in self._built.items() if key[1] is None or key[1][0] != owner}

    def _agent(self, name: str, copy: tuple[str, int] | None) -> Any:
        if (name, copy) not in self._built:
            try:
                agent = self._builders[name]()
                if copy is not None:
                    agent.reset(copy[1])
            except Exception as error:
                if copy is None:
                    raise
                agent = AbsentAgent(name, "built", error)
            self._built[name, copy] = agent
        return self._built[name, copy]


class _Apart:
    """Agents in a process of their own, which is replaced at the next call if it dies; `nice` as for `os.nice`."""

    def __init__(self, builders: Builders, nice: int) -> None:
        self._builders, self._nice = builders, nice
        self._child: Child | None = None

    def do(self, method: str, *arguments: Any) -> Any:
        for _ in range(_TRIES):
            try:
                if self._child is None:
                    self._child = Child(_serve, self._builders, self._nice)
                pipe = self._child.pipe
                pipe.send((method, arguments))
                answer = pipe.recv()
            except (EOFError, OSError):
                self.close()
                continue
            if isinstance(answer, Exception):
                raise answer
            return answer
        raise AgentFailure("its process died, perhaps for want of memory")

    def close(self) -> None:
        """Ends the process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()


def _serve(pipe: Connection, builders: Builders, nice: int) -> None:
    """The loop of a process: (method, arguments) in, the answer or its error out."""
    os.nice(nice)
    agents = _Here(builders)
    with suppress(EOFError):
        while True:
            method, arguments = pipe.recv()
            try:
                answer = agents.do(method, *arguments)
            except PokernetsError as error:
                answer = PokernetsError(str(error))
            except Exception as error:
                answer = AgentFailure(described(error))
            pipe.send(answer)


@dataclass(order=True)
class _Ticket:
    """A call that waits, in the order in which calls of a process are made."""

    turn: int
    number: int
    owner: str = field(compare=False)
    method: str = field(compare=False)
    arguments: tuple[Any, ...] = field(compare=False)
    future: "Future[Any]" = field(default_factory=Future, compare=False)


@dataclass(eq=False)
class _Worker:
    agents: _Apart | _Here
    waiting: list[_Ticket] = field(default_factory=list)
    running: _Ticket | None = None
    ready: bool = False
    homes: int = 0

    @property
    def load(self) -> tuple[int, int]:
        return len(self.waiting) + (self.running is not None), self.homes


class Pool:
    """At most `processes` processes, started one by one; None: one a core, 0: agents are in this process, one call at a
    time. A pool in the `background` has half as many at lower priority, which build agents when these are asked.
    """

    def __init__(self, builders: Builders, processes: int | None, *, background: bool = False) -> None:
        if processes is not None and processes < 0:
            raise PokernetsError("`processes` must be at least 0 (agents in the server itself), or null for one a core")
        most = cores() if processes is None else processes
        self._builders, self._background = builders, background
        self._most = min(most, max(1, most // 2)) if background else most
        self._changed = threading.Condition()
        self._workers: list[_Worker] = []
        self._homes: LRUCache[str, _Worker] = LRUCache(_REMEMBERED)
        self._turns: LRUCache[str, int] = LRUCache(_REMEMBERED)
        self._now = 0
        self._numbers: Iterator[int] = count()
        self.offers: Future[dict[str, Offers]] = Future()
        """Abilities of the agents once the first process has built them, or its error."""

    def start(self) -> "Pool":
        """Starts the first process, if that is not done."""
        with self._changed:
            if not self._workers:
                self._add()
        return self

    def ask(self, owner: str, call: Call, *, moves: bool = False) -> Any:
        """Wait for the answer to a call. One that `moves` may change the home of `owner`."""
        self.start()
        with self._changed:
            ticket = self._put(self._home(owner, moves), owner, "answer", call)
        return ticket.future.result()

    def forget(self, owner: str) -> None:
        """Drop the copies of agents that `owner` has."""
        with self._changed:
            home = self._homes.get(owner)
            if home is not None:
                self._put(home, owner, "forget", owner)

    def place(self, owner: str) -> int:
        """Place in the queue of the next call of `owner`, counted from 1; 0 where none waits."""
        with self._changed:
            home = self._homes.get(owner)
            waiting = [] if home is None else sorted(home.waiting)
            return next((place for place, ticket in enumerate(waiting, 1) if ticket.owner == owner), 0)

    def _put(self, worker: _Worker, owner: str, method: str, *arguments: Any) -> _Ticket:
        turn = max(self._now, (self._turns.get(owner) or 0) + 1)
        self._turns.put(owner, turn)
        ticket = _Ticket(turn, next(self._numbers), owner, method, arguments)
        worker.waiting.append(ticket)
        self._changed.notify_all()
        return ticket

    def _home(self, owner: str, moves: bool) -> _Worker:
        """The process for `owner`: the least busy one if they are new or move; another is started if that is busy."""
        home = self._homes.get(owner)
        if home is not None and home in self._workers and not moves:
            return home
        ready = [worker for worker in self._workers if worker.ready] or self._workers[:1]
        best = min(ready, key=lambda worker: (worker.load[0], worker is not home, worker.homes))
        if best.load[0] and len(self._workers) < self._most and all(worker.ready for worker in self._workers):
            self._add()
        if home is not None:
            home.homes -= 1
        best.homes += 1
        self._homes.put(owner, best)
        return best

    def _add(self) -> None:
        nice = _NICE if self._background else 0
        worker = _Worker(_Apart(self._builders, nice) if self._most else _Here(self._builders))
        self._workers.append(worker)
        threading.Thread(target=self._work, args=(worker,), daemon=True, name="pool").start()

    def _work(self, worker: _Worker) -> None:
        """Serve one process, in a thread of its own, unless it cannot build the agents; `offers` gets the error if no
        process has built them yet."""
        try:
            offers = worker.agents.do("offers") if not self._background else {}
        except Exception as error:
            worker.agents.close()
            with self._changed:
                self._workers.remove(worker)
            if not self.offers.done():
                self.offers.set_exception(error)
            for ticket in worker.waiting:
                ticket.future.set_exception(error)
            return
        if not self.offers.done():
            self.offers.set_result(offers)
        worker.ready = True
        while True:
            with self._changed:
                worker.running = None
                while not worker.waiting:
                    self._changed.wait()
                ticket = worker.running = min(worker.waiting)
                worker.waiting.remove(ticket)
                self._now = max(self._now, ticket.turn)
            try:
                ticket.future.set_result(worker.agents.do(ticket.method, *ticket.arguments))
            except Exception as error:
                ticket.future.set_exception(error)
