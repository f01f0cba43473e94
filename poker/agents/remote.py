"""An agent in a process of its own: it may hang, die or answer rubbish, and the match goes on.

A call that takes too long or kills its process raises `ChildFailure`. The next call starts another process, which is
given the seed and the seat again; after `_MAX_RESTARTS` of these the agent is given up. Building the agent is not part
of its time. Calls for its policy are no decisions: they have a time limit of their own, and after one without an answer
no more are made.
"""

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

from poker.agents.base import Agent, is_repeatable
from poker.game.state import HandState, Policy
from poker.run.child import Child, ChildFailure

_MAX_RESTARTS = 5
_START_SECONDS = 600.0
_POLICY_SECONDS = 60.0


class PolicyUnavailable(ChildFailure):
    """The policy of `agent` is unavailable."""

    def __init__(self, agent: object, why: str) -> None:
        super().__init__(why)
        self.agent = agent


class AgentGivenUp(ChildFailure):
    """The agent is not asked any more; every further call raises this."""


class RemoteAgent:
    """Runs the agent that `build` makes in a process; calls must be answered within `seconds` or `policy_seconds`.

    It has a `policy` and an `end_hand` where the agent in the process has, and is `repeatable` if that is; `kind` is
    that agent's class.
    """

    def __init__(
        self, name: str, build: Callable[[], Agent], seconds: float, policy_seconds: float = _POLICY_SECONDS
    ) -> None:
        self.name = name
        self.child = Child(partial(_Hosted, build))
        self._seconds = seconds
        self._policy_seconds = policy_seconds
        self._no_policy = ""
        self._starts = 0
        self._seed = 0
        self._seat: int | None = None
        self.kind: type
        self.kind, self.repeatable, offers = self._start()
        if "policy" in offers:
            self.policy = self._ask_policy
        if "end_hand" in offers:
            self.end_hand = self._end_hand

    def reset(self, seed: int) -> None:
        self._seed, self._seat = seed, None
        self._call("reset", seed)

    def start_hand(self, seat: int) -> None:
        self._seat = seat
        self._call("start_hand", seat)

    def act(self, state: HandState) -> int:
        action: int = self._call("act", state)
        return action

    def _end_hand(self, state: HandState) -> None:
        self._call("end_hand", state)

    def _ask_policy(self, state: HandState) -> Policy:
        if self._no_policy:
            raise PolicyUnavailable(self, self._no_policy)
        try:
            policy: Policy = self._call("policy", state, self._policy_seconds)
        except ChildFailure as error:
            self._no_policy = str(error)
            if self.child.pid is None and not isinstance(error, AgentGivenUp):
                self._starts -= 1  # its replacement is not put down to its play
            raise PolicyUnavailable(self, self._no_policy) from error
        return policy

    def _start(self) -> tuple[type, bool, list[str]]:
        """Start the process; returns the agent's class, whether it is repeatable and its optional methods."""
        if self._starts > _MAX_RESTARTS:
            raise AgentGivenUp(f"given up after {_MAX_RESTARTS} new processes")
        self._starts += 1
        try:
            offers: tuple[type, bool, list[str]] = self.child.call("building", seconds=_START_SECONDS)
        except Exception:
            self.child.kill()
            raise
        return offers

    def _call(self, method: str, argument: Any, seconds: float | None = None) -> Any:
        limit = self._seconds if seconds is None else seconds
        if self.child.pid is None:
            self._start()
            self.child.call("reset", self._seed, seconds=self._seconds)
            if self._seat is not None and method != "start_hand":
                self.child.call("start_hand", self._seat, seconds=self._seconds)
        return self.child.call(method, argument, seconds=limit)


class _Hosted:
    """The agent in its process, with a method for what the other process must know of it."""

    def __init__(self, build: Callable[[], Agent]) -> None:
        self._agent = build()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def building(self) -> tuple[type, bool, list[str]]:
        offers = [name for name in ("policy", "end_hand") if hasattr(self._agent, name)]
        return _importable(type(self._agent)), is_repeatable(self._agent), offers


def _importable(kind: type) -> type:
    """`object` in place of a class that the other process cannot import."""
    try:
        pickle.dumps(kind)
    except (pickle.PicklingError, AttributeError):
        return object
    return kind
