"""Agents in a pool of processes that serves several owners, such as the visitors of a server.

Each owner has a home process, which caches the solutions of their hand, so the calls of one owner run one at a time. A
new owner gets the least busy process; another process is started if all are busy.
"""

import os
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from poker.play.hand import AbsentAgent
from poker.run.child import Child, ChildDied
from poker.run.errors import PokernetsError
from poker.run.machine import cores

Builders = Mapping[str, Callable[[], Any]]
"""Factory of each agent by its name; picklable if other processes make the agents."""
_NICE = 10


@dataclass(frozen=True)
class Call:
    """A call of an agent's method.

    Attributes:
        name: name of the agent.
        method: name of the method.
        copy: (owner, seed) of the agent's copy that is called, which is reset to the seed; None for the shared agent.
    """

    name: str
    method: str
    arguments: tuple[Any, ...] = ()
    copy: tuple[str, int] | None = None


@dataclass(frozen=True)
class Offers:
    """Abilities of an agent.

    Attributes:
        by_policy: whether it plays every hand by a policy that can be queried.
        observes: whether it is shown how hands end.
        solves: whether it can review decisions.
        reads: whether it reports what it has learned of its opponent.
        hints: whether its play and its hints come from the same solve.
    """

    by_policy: bool
    observes: bool
    solves: bool
    reads: bool
    hints: bool


class _Agents:
    """The agents of one process, built when they are first needed."""

    def __init__(self, builders: Builders, nice: int) -> None:
        os.nice(nice)
        self._builders = builders
        self._built: dict[tuple[str, tuple[str, int] | None], Any] = {}

    def call(self, method: str, *arguments: Any) -> Any:
        """Call a method, as a `Child` does for agents in another process."""
        return getattr(self, method)(*arguments)

    def offers(self) -> dict[str, Offers]:
        """Build all agents and return their abilities."""
        offers = {}
        for name in self._builders:
            agent = self._agent(name, None)
            by_policy = agent.has_policy and not agent.learns
            offers[name] = Offers(by_policy, agent.learns, agent.solves, agent.reads, hints=agent.joint)
        return offers

    def answer(self, call: Call) -> Any:
        return getattr(self._agent(call.name, call.copy), call.method)(*call.arguments)

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


@dataclass(eq=False)
class _Process:
    """A process; `load` is the number of calls that run or wait in it."""

    agents: Child | _Agents
    load: int = 0
    turn: threading.Lock = field(default_factory=threading.Lock)

    def call(self, method: str, *arguments: Any) -> Any:
        """Wait for the answer; if the process dies, the call is repeated once in a new one."""
        with self.turn:
            try:
                return self.agents.call(method, *arguments)
            except ChildDied:
                return self.agents.call(method, *arguments)


class Pool:
    """A pool of processes, which are started one by one.

    Args:
        builders: the agents' factories.
        processes: most processes; None for one per core, 0 to run agents in this process, one call at a time.
        background: whether the pool has half as many processes, with lower priority, which build each agent at its
            first call.
    """

    def __init__(self, builders: Builders, processes: int | None, *, background: bool = False) -> None:
        """Set up an empty pool.

        Raises:
            PokernetsError: `processes` is negative.
        """
        if processes is not None and processes < 0:
            raise PokernetsError("`processes` must be at least 0 (in the server itself), or null for one per core")
        most = cores() if processes is None else processes
        build = partial(_Agents, builders, _NICE if background and most else 0)
        self._new = partial(Child, build) if most else build
        self._most = max(1, most // 2 if background else most)
        self._lock = threading.Lock()
        self._processes: list[_Process] = []
        self._homes: dict[str, _Process] = {}
        self._started: Future[dict[str, Offers]] | None = None

    def start(self) -> "Future[dict[str, Offers]]":
        """Start the first process, unless that is done, and return a future of the agents' abilities."""
        with self._lock:
            if self._started is None:
                self._started = Future()
                threading.Thread(target=self._build, args=(self._started, self._home("")), daemon=True).start()
            return self._started

    def ask(self, owner: str, call: Call) -> Any:
        """Call an agent in the home of an owner and wait for the answer, after earlier calls there.

        Args:
            owner: name of the owner.

        Raises:
            PokernetsError: as raised by the agent.
            ChildFailure: the process died, or the agent raised another error.
        """
        with self._lock:
            home = self._home(owner)
            home.load += 1
        try:
            return home.call("answer", call)
        finally:
            with self._lock:
                home.load -= 1

    def _home(self, owner: str) -> _Process:
        if owner not in self._homes:
            best = min(self._processes, key=lambda process: process.load, default=None)
            if best is None or (best.load and len(self._processes) < self._most):
                best = _Process(self._new())
                self._processes.append(best)
            self._homes[owner] = best
        return self._homes[owner]

    def _build(self, offers: "Future[dict[str, Offers]]", process: _Process) -> None:
        try:
            offers.set_result(process.call("offers"))
        except Exception as error:
            offers.set_exception(error)
