"""The loop that plays a hand, and the guard that lets play continue after an agent fails.

An agent that learns is shown the end of the hand. An agent with `watch` is shown its view of every state before anybody
acts, and of the last one.
"""

import contextlib
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import numpy as np

from poker.agents.base import Agent
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, Policy
from poker.run.errors import described

P = TypeVar("P", bound=Agent)
T = TypeVar("T")

Policies = dict[tuple[int, str], Policy]
"""Policies at decisions, by the number of the hand and the betting before the decision."""


def play_hand(players: Sequence[Agent], state: HandState) -> HandState:
    """Play a hand and return its last state.

    Args:
        players: a player for each seat; their errors propagate.
        state: the first state of the hand.
    """
    return finish(hand_steps(players, state))


def finish(steps: Generator[tuple[P, HandState], int | None, T]) -> T:
    """Run `steps`, send every player's action back, and return the result of `steps`."""
    action = None
    while True:
        try:
            player, view = steps.send(action)
        except StopIteration as end:
            result: T = end.value
            return result
        action = player.act(view)


def hand_steps(players: Sequence[P], state: HandState) -> Generator[tuple[P, HandState], int | None, HandState]:
    """Play a hand in steps.

    Args:
        players: a player for each seat.
        state: the first state of the hand.

    Yields:
        the player to act, with their view; the action must be sent back. The generator returns the last state.
    """
    watchers = [(seat, player.watch) for seat, player in enumerate(players) if player.watches]
    for seat, player in enumerate(players):
        player.start_hand(seat)
    while not state.is_over:
        for seat, watch in watchers:
            watch(state.view(seat))
        action = yield players[state.to_act], state.view(state.to_act)
        assert action is not None
        state = state.apply(action)
    for seat, watch in watchers:
        watch(state.view(seat))
    for seat, player in enumerate(players):
        if player.learns:
            player.end_hand(state.view(seat))
    return state


def passive(state: HandState) -> int:
    """Return the action that replaces a missing one: fold to a bet, otherwise check."""
    return FOLD if state.legal().fold else CALL


@dataclass(frozen=True)
class Incident:
    """A failure of an agent: it raised an error or returned something illegal, and checked or folded instead.

    After an agent is given up it has one incident per hand.

    Attributes:
        agent: label of the agent.
        betting: betting before the decision.
        error: the error in one line.
        trace: traceback of the error.
    """

    agent: str
    hand: int
    betting: str
    error: str
    trace: str


class AgentGivenUp(Exception):  # noqa: N818 (what happened, not an error of this program)
    """The agent does not play; the guard reports it once a hand."""


class AbsentAgent(Agent):
    """A substitute for an agent that could not be built or reset: it checks or folds, and every hand reports the error.

    Args:
        what: what failed, such as `built`.
    """

    def __init__(self, name: str, what: str, error: Exception) -> None:
        """Store the message of the error."""
        super().__init__(name)
        self._why = f"not {what}: {described(error)}"

    def start_hand(self, seat: int) -> None:
        """Raise the error that the loop reports.

        Raises:
            AgentGivenUp: always.
        """
        raise AgentGivenUp(self._why)

    def act(self, state: HandState) -> int:
        """Raise the error that the loop reports.

        Raises:
            AgentGivenUp: always.
        """
        raise AgentGivenUp(self._why)


@dataclass
class Guarded(Agent):
    """An agent that checks or folds when it fails.

    Attributes:
        label: its name in the line-up.
        entry: its index in the line-up.
        incidents: list that receives failures.
        seconds: receives the seconds of each decision, by (`entry`, street).
        noted: receives the policies of an agent that is not repeatable.
        hand: number of the next hand.
    """

    agent: Agent
    label: str
    entry: int
    incidents: list[Incident]
    seconds: dict[tuple[int, int], list[float]]
    noted: Policies
    hand: int = 0
    _given_up: bool = False

    def __post_init__(self) -> None:
        """Learn only if the agent does."""
        self.learns = self.agent.learns  # type: ignore[misc]

    def start_hand(self, seat: int) -> None:
        """Start a hand; a failure becomes an incident."""
        self._given_up = False
        self._try(None, self.agent.start_hand, seat)

    def act(self, state: HandState, policy: Policy | None = None, seconds: float = 0.0) -> int:
        """Return the agent's action, or the passive action if it fails.

        Args:
            state: the agent's view.
            policy: the agent's policy at `state`, if it has been computed already.
            seconds: seconds that this computation took.
        """
        started = time.perf_counter() - seconds
        action = self._try(state, partial(self._legal_action, policy), state)
        self.seconds.setdefault((self.entry, state.street), []).append(time.perf_counter() - started)
        return passive(state) if action is None else action

    def end_hand(self, state: HandState) -> None:
        """Show the end of a hand; a failure becomes an incident."""
        self._try(state, self.agent.end_hand, state)

    def _legal_action(self, policy: Policy | None, view: HandState) -> int:
        if type(self.agent).act is Agent.act and not (policy is None and self.agent.repeatable):
            policy = policy or self.agent.policy(view)
            action = self.agent.draw(policy, view)
        else:
            action = self.agent.act(view)
        action = checked(view, action)
        if not self.agent.repeatable:
            self._note(policy, view)
        return action

    def _note(self, policy: Policy | None, view: HandState) -> None:
        """Store the policy of the decision; an agent that draws its own actions is queried right after it has acted."""
        if policy is None and self.agent.has_policy:
            with contextlib.suppress(Exception):
                policy = self.agent.policy(view)
        if policy is not None:
            self.noted[self.hand, view.betting.text()] = policy

    def _try(self, state: HandState | None, step: Callable[[Any], int | None], argument: Any) -> int | None:
        try:
            return step(argument)
        except Exception as error:
            if not self._given_up:
                betting, trace = "" if state is None else state.betting.text(), traceback.format_exc(limit=-5)
                self.incidents.append(Incident(self.label, self.hand, betting, described(error), trace))
            self._given_up = self._given_up or isinstance(error, AgentGivenUp)
            return None


def checked(view: HandState, action: object) -> int:
    """Check that an agent's answer is a legal action and return it.

    Raises:
        TypeError: the answer is not a whole number.
        PokernetsError: the action is illegal.
    """
    if not isinstance(action, int | np.integer):
        raise TypeError(f"the answer is not an action: {repr(action)[:100]}")
    view.betting.apply(int(action))
    return int(action)
