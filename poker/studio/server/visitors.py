"""The games of all visitors: one for each browser, in its own folder."""

import contextlib
import logging
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from poker.agents.base import Agent
from poker.evaluation.matches.noted import RunningResult
from poker.game.rules import Rules
from poker.game.state import HandState, RangedPolicy
from poker.play.lineup import AgentSpec
from poker.run.child import ChildFailure
from poker.run.errors import PokernetsError, described
from poker.run.lock import alone
from poker.search.opponent_decision import SolvedDecision
from poker.store.artifacts import fingerprint_of_settings
from poker.studio.games.pool import Call, Pool
from poker.studio.games.table_files import TableFiles
from poker.studio.games.table_game import PERSON, Opponents, TableGame
from poker.studio.hands.review import Reviews

REVIEWER = ""
"""Name of the agent that reviews in place of the agents that play; no agent that plays has this name."""
_MARK = 10
"""Number of characters of a fingerprint that are shown."""


@dataclass(eq=False)
class Visit:
    """A visitor's game.

    Attributes:
        result: the result so far.
        folder: folder of the game.
        reviews: reviews of its hands.
        agents: fingerprints of the opponents' settings and artifacts, by name.
        stopped: the reason why the agents have stopped; empty if they have not.
    """

    game: TableGame
    result: RunningResult
    folder: Path
    reviews: Reviews
    agents: Mapping[str, str]
    stopped: str = ""

    def go_on(self) -> None:
        """Let the agents act, in a thread."""
        self.stopped = ""
        threading.Thread(target=self._agents_act, daemon=True, name="table").start()

    def _agents_act(self) -> None:
        try:
            self.game.let_agents_act()
        except Exception as error:
            logging.exception("a game has stopped; open its page to continue")
            self.stopped = described(error)


class Visitors:
    """Games of all visitors against the same agents, stored by game, agents and visitor.

    Agents with other settings count as other agents. Only one server may use a folder at a time: games are kept in
    memory, and two servers would deal the same hands.

    Args:
        reviewer: the agent that solves for reviews if none of `specs` can.
        out: folder of the games.
        processes: processes of the agents, as in `Pool`.
    """

    def __init__(
        self, rules: Rules, specs: Sequence[AgentSpec], reviewer: AgentSpec | None, out: Path, processes: int | None = 0
    ) -> None:
        """Start to build the agents in the background.

        Raises:
            PokernetsError: the agents do not fit the game, or another server uses the folder.
        """
        self._rules = rules
        self._opponents = Opponents(rules, specs, processes)
        settings = {spec.name: dict(spec.settings) for spec in specs}
        mark = fingerprint_of_settings(settings, rules.to_acpc())
        self._agents = {spec.title: fingerprint_of_settings(settings[spec.name])[:_MARK] for spec in specs}
        self._folder = out / rules.name / f"{'-'.join(settings)[:80]}-{mark[:10]}"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._locked = contextlib.ExitStack()
        self._locked.enter_context(alone(self._folder, f"another server is using {self._folder}: stop it first"))
        self._reviewing = reviewing(rules, {spec.name: spec for spec in specs} | {REVIEWER: reviewer}, processes)
        self._visits: dict[str, Visit] = {}
        self._opening = threading.Lock()
        self.loaded = self._opponents.pool.start()
        """Future that is done when the agents are built, or fails with their error."""

    def visit(self, visitor: str) -> Visit:
        """Return a visitor's game, which all of the visitor's pages share; it continues if it had stopped."""
        with self._opening:
            if visitor not in self._visits:
                self._visits[visitor] = self._begin(self._folder / visitor)
        visit = self._visits[visitor]
        visit.go_on()
        return visit

    def _begin(self, folder: Path) -> Visit:
        files = TableFiles(folder, self._rules, agents=self._agents)
        result = RunningResult(self._rules, PERSON, files.notes, folder / "hands.aivat.jsonl")
        game = TableGame(self._rules, self._opponents, files, lambda hand: result.add([hand]))
        result.add(files.hands())
        offers, owner = self.loaded.result(), str(folder)
        solver = PooledSolver(self._reviewing, owner, next((name for name in offers if offers[name].solves), REVIEWER))
        hints = next((name for name in offers if offers[name].hints), None)
        # called in the agent's own process, which has solved the decision or is about to
        hinting = None if hints is None else PooledSolver(self._opponents.pool, owner, hints)
        return Visit(game, result, folder, Reviews(self._rules, solver, hinting), self._agents)


@dataclass(frozen=True)
class PooledSolver(Agent):
    """An agent of a pool that solves for one owner.

    Attributes:
        owner: name of the owner.
        name: name of the agent.
    """

    pool: Pool
    owner: str
    name: str = REVIEWER

    def ranged_policy(self, state: HandState) -> RangedPolicy:
        """Call `Agent.ranged_policy` of the agent."""
        solution: RangedPolicy = self._ask("ranged_policy", state)
        return solution

    def opponents_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Call `Agent.opponents_decision` of the agent."""
        solution: SolvedDecision = self._ask("opponents_decision", state, raises, hand)
        return solution

    def others_decision(
        self, state: HandState, raises: tuple[int, ...] = (), hand: int | None = None
    ) -> SolvedDecision:
        """Call `Agent.others_decision` of the agent."""
        solution: SolvedDecision = self._ask("others_decision", state, raises, hand)
        return solution

    def _ask(self, method: str, *arguments: Any) -> Any:
        try:
            return self.pool.ask(self.owner, Call(self.name, method, arguments))
        except ChildFailure as error:
            raise PokernetsError(f"the solve failed: {error}") from error


def reviewing(game: Rules, specs: Mapping[str, AgentSpec | None], processes: int | None) -> Pool:
    """Return a pool of processes that solve for reviews, beside the processes that play.

    Args:
        specs: the agents by name.
        processes: processes, as in `Pool`.
    """
    return Pool({name: partial(solving, spec, game) for name, spec in specs.items()}, processes, background=True)


def solving(spec: AgentSpec | None, game: Rules) -> Agent:
    """Build an agent that can review.

    Raises:
        PokernetsError: there is no agent, or it cannot review.
    """
    agent = None if spec is None else spec.build(game)
    if agent is None or not agent.solves:
        raise PokernetsError("reviews need an agent that solves: agents@reviewer=depth_limited")
    return agent
