"""The games of all visitors: one for each browser, in a folder of its own."""

import contextlib
import logging
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from poker.artifacts import fingerprint_of_settings
from poker.errors import PokernetsError
from poker.evaluation.review import Reviews
from poker.evaluation.running_result import RunningResult
from poker.formats.acpc_log import LoggedHand
from poker.lock import alone
from poker.play.hand import described
from poker.play.lineup import AgentSpec, Shared
from poker.play.table_files import TableFiles
from poker.play.table_game import PERSON, Opponents, TableGame
from poker.rules import Rules
from poker.search.memory import Memory
from poker.search.opponent_decision import DecisionSolver

_THREADS = 4
_REMEMBERED = 100
"""Games that stay in memory when nobody looks at them; others are read from their files again."""


@dataclass(eq=False)
class Visit:
    """A visitor's game and its result so far; `stopped` says why the agents have stopped, empty while they have not."""

    game: TableGame
    result: RunningResult
    folder: Path
    reviews: Reviews
    pool: ThreadPoolExecutor
    stopped: str = ""

    def go_on(self) -> None:
        """Lets the agents act, in a thread."""
        self.stopped = ""
        self.pool.submit(self._agents_act)

    def _agents_act(self) -> None:
        try:
            self.game.let_agents_act()
        except Exception as error:
            logging.exception("a game has stopped; it goes on when its page is opened again")
            self.stopped = described(error)


class Visitors:
    """Games of `rules` against `specs`, kept under `out` by game, agents and visitor; other settings of the agents are
    other agents. One server at a time: games are kept in memory, and two would deal the same hands."""

    def __init__(self, rules: Rules, specs: Sequence[AgentSpec], reviewer: AgentSpec | None, out: Path) -> None:
        """`reviewer` is the agent that solves for reviews where none of `specs` can."""
        self.rules = rules
        self.opponents = Opponents(rules, specs)
        settings = {spec.name: dict(spec.settings) for spec in specs}
        mark = fingerprint_of_settings(settings, rules.to_acpc())
        self._folder = out / rules.name / f"{'-'.join(settings)[:80]}-{mark[:10]}"
        self._folder.mkdir(parents=True, exist_ok=True)
        lock = contextlib.ExitStack()
        lock.enter_context(alone(self._folder, f"another server plays the games in {self._folder}: end it first"))
        weakref.finalize(self, lock.close)
        self._solver, self._solver_lock, self._reviews = self._reviewer(reviewer)
        self._open: weakref.WeakValueDictionary[str, Visit] = weakref.WeakValueDictionary()
        self._last: Memory[str, Visit] = Memory(_REMEMBERED)
        self._lock = threading.Lock()
        self._pool = ThreadPoolExecutor(_THREADS, "table")

    def visit(self, visitor: str) -> Visit:
        """The one game of a visitor, however many pages show it; it goes on if it had stopped."""
        with self._lock:
            visit = self._open.get(visitor)
            if visit is None:
                visit = self._open[visitor] = self._begin(self._folder / visitor)
            self._last.put(visitor, visit)
            visit.go_on()
            return visit

    def _begin(self, folder: Path) -> Visit:
        files = TableFiles(folder, self.rules)
        result = RunningResult(self.rules, PERSON, files.notes, folder / "hands.aivat.jsonl")

        def ended(hand: LoggedHand) -> None:
            result.add([hand])

        game = TableGame(self.rules, self.opponents, files, ended)
        result.add(files.hands())
        reviews = Reviews(self.rules, folder / self._reviews, self._solver, self._solver_lock)
        return Visit(game, result, folder, reviews, self._pool)

    def _reviewer(self, spec: AgentSpec | None) -> tuple[Callable[[], DecisionSolver], threading.Lock, str]:
        """What solves for reviews, built when it is first needed unless it plays, the lock to hold meanwhile, and the
        file of its reviews: the folder is of these settings of the agents that play, of another reviewer the file."""
        for agent in self.opponents.built:
            if isinstance(agent, DecisionSolver):
                return Shared(partial(_itself, agent)), self.opponents.lock, "reviews.jsonl"
        settings = {} if spec is None else dict(spec.settings)
        mark = fingerprint_of_settings(settings)
        return Shared(partial(solving, spec, self.rules)), threading.Lock(), f"reviews-{mark[:10]}.jsonl"


def _itself(agent: DecisionSolver) -> DecisionSolver:
    return agent


def solving(spec: AgentSpec | None, game: Rules) -> DecisionSolver:
    """The agent built, which must be one that can review."""
    agent: object = None if spec is None else spec.build(game)
    if not isinstance(agent, DecisionSolver):
        raise PokernetsError("reviews need an agent that solves: agents@reviewer=depth_limited")
    return agent
