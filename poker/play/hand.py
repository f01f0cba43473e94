"""The one loop that plays a hand, and the guard that keeps a failing agent from ending it.

A player has the methods of an `Agent`. One with `end_hand` is shown the end of the hand; one with `watch` is shown its
view of every state before anybody acts, and of the last one.
"""

import contextlib
import time
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol, TypeVar

import numpy as np

from poker.agents.base import Agent, PolicyAgent, SamplingAgent, is_repeatable
from poker.agents.remote import AgentGivenUp
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, Policy
from poker.run.errors import described

P = TypeVar("P", bound="Player")
T = TypeVar("T")

Policies = dict[tuple[int, str], Policy]
"""Policies at decisions, by the number of the hand and the betting before."""


class Player(Protocol):
    """The part of an `Agent` that a hand needs."""

    def start_hand(self, seat: int) -> None: ...

    def act(self, state: HandState) -> int: ...


def play_hand(players: Sequence[Player], state: HandState) -> HandState:
    """Play a hand and return it when it is over; `players` are by seat, and their errors propagate."""
    return finish(hand_steps(players, state))


def finish(steps: Generator[tuple[P, HandState], int | None, T]) -> T:
    """Let the players act until `steps` end; returns what these do."""
    action = None
    while True:
        try:
            player, view = steps.send(action)
        except StopIteration as end:
            result: T = end.value
            return result
        action = player.act(view)


def hand_steps(players: Sequence[P], state: HandState) -> Generator[tuple[P, HandState], int | None, HandState]:
    """Play a hand in steps: yields the player to act with their view, is sent the action, returns the finished hand."""
    watchers = [(seat, player.watch) for seat, player in enumerate(players) if hasattr(player, "watch")]
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
        end_hand = getattr(player, "end_hand", None)  # isinstance of a protocol is slow
        if end_hand is not None:
            end_hand(state.view(seat))
    return state


def passive(state: HandState) -> int:
    """The action in place of one that is missing: fold to a bet, else check."""
    return FOLD if state.legal().fold else CALL


@dataclass(frozen=True)
class Incident:
    """A failure of an agent: it raised an error or answered with something illegal, and checked or folded instead.

    An agent that is given up is reported once a hand.
    """

    agent: str
    hand: int
    betting: str
    error: str
    trace: str


class AbsentAgent:
    """Stand-in for an agent that could not be built or reset: it checks or folds, and every hand reports the error."""

    def __init__(self, name: str, what: str, error: Exception) -> None:
        self.name = name
        self._why = f"not {what}: {described(error)}"

    def reset(self, seed: int) -> None:
        """Do nothing."""

    def start_hand(self, seat: int) -> None:
        raise AgentGivenUp(self._why)

    def act(self, state: HandState) -> int:
        raise AgentGivenUp(self._why)


@dataclass
class Guarded:
    """An agent that checks or folds when it fails. Failures go to `incidents`, times of decisions to `seconds` by
    (`entry`, street), policies of an agent that is not repeatable to `policies`. `hand` is the number of the next hand.
    """

    agent: Agent
    label: str
    entry: int
    incidents: list[Incident]
    seconds: dict[tuple[int, int], list[float]]
    policies: Policies
    hand: int = 0
    _given_up: bool = False

    def __post_init__(self) -> None:
        if hasattr(self.agent, "end_hand"):
            self.end_hand = self._end_hand

    def start_hand(self, seat: int) -> None:
        self._given_up = False
        self._try(None, self.agent.start_hand, seat)

    def act(self, state: HandState, policy: Policy | None = None, seconds: float = 0.0) -> int:
        """The agent's action; `policy` is its policy at `state` if that is known already, found in `seconds`."""
        started = time.perf_counter() - seconds
        action = self._try(state, partial(self._legal_action, policy), state)
        self.seconds.setdefault((self.entry, state.street), []).append(time.perf_counter() - started)
        return passive(state) if action is None else action

    def _end_hand(self, state: HandState) -> None:
        self._try(state, self.agent.end_hand, state)  # type: ignore[attr-defined]

    def _legal_action(self, policy: Policy | None, view: HandState) -> int:
        if isinstance(self.agent, SamplingAgent) and not (policy is None and self.agent.repeatable):
            policy = policy or self.agent.policy(view)
            action = self.agent.draw(policy, view)
        else:
            action = self.agent.act(view)
        action = checked(view, action)
        if not is_repeatable(self.agent):
            self._note(policy, view)
        return action

    def _note(self, policy: Policy | None, view: HandState) -> None:
        """Store the policy that the agent played; one that draws its own actions is asked right after it has acted."""
        if policy is None and isinstance(self.agent, PolicyAgent):
            with contextlib.suppress(Exception):
                policy = self.agent.policy(view)
        if policy is not None:
            self.policies[self.hand, view.betting.text()] = policy

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
    """The answer of an agent, which must be a legal action."""
    if not isinstance(action, int | np.integer):
        raise TypeError(f"the answer is no action but {repr(action)[:100]}")
    view.betting.apply(int(action))
    return int(action)
