"""An agent in its own process: it may hang, die or return invalid actions, and the match continues.

A call that takes too long or kills its process raises `ChildFailure`. The next call starts another process, which
receives the seed and the seat again. After `_MAX_RESTARTS` new processes the agent is given up. Building the agent does
not count towards its time. Calls of its policy are not decisions. They have their own time limit, and after one failure
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
    """The policy of an agent is unavailable.

    Attributes:
        agent: the agent.
    """

    def __init__(self, agent: object, why: str) -> None:
        """Create the error.

        Args:
            agent: the agent.
            why: the reason.
        """
        super().__init__(why)
        self.agent = agent


class AgentGivenUp(ChildFailure):
    """The agent has failed too often; every further call raises this error."""


class RemoteAgent:
    """An agent that runs in another process.

    It has a `policy` and an `end_hand` if the agent in the process has them, and it is `repeatable` if that agent is.
    `kind` is that agent's class.

    Attributes:
        name: name of the agent.
        child: the process.
    """

    def __init__(
        self, name: str, build: Callable[[], Agent], seconds: float, policy_seconds: float = _POLICY_SECONDS
    ) -> None:
        """Start the process and build the agent.

        Args:
            name: name of the agent.
            build: builds the agent; called in the process.
            seconds: time limit of a call.
            policy_seconds: time limit of a call of the policy.
        """
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
        """Reset the agent.

        Args:
            seed: seed of the random numbers.

        Raises:
            ChildFailure: the agent failed or took too long.
        """
        self._seed, self._seat = seed, None
        self._call("reset", seed)

    def start_hand(self, seat: int) -> None:
        """Begin a hand.

        Args:
            seat: seat of the agent.

        Raises:
            ChildFailure: the agent failed or took too long.
        """
        self._seat = seat
        self._call("start_hand", seat)

    def act(self, state: HandState) -> int:
        """Return the agent's action.

        Args:
            state: view of a state in which the agent is to act.

        Raises:
            ChildFailure: the agent failed or took too long.
        """
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
                self._starts -= 1  # this restart does not count as a failure of its play
            raise PolicyUnavailable(self, self._no_policy) from error
        return policy

    def _start(self) -> tuple[type, bool, list[str]]:
        """Start the process, and return the agent's class, whether it is repeatable, and its optional methods."""
        if self._starts > _MAX_RESTARTS:
            raise AgentGivenUp(f"stopped after {_MAX_RESTARTS} restarts of its process")
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
    """The agent in its process, with a method that describes it to the other process."""

    def __init__(self, build: Callable[[], Agent]) -> None:
        self._agent = build()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._agent, name)

    def building(self) -> tuple[type, bool, list[str]]:
        offers = [name for name in ("policy", "end_hand") if hasattr(self._agent, name)]
        return _importable(type(self._agent)), is_repeatable(self._agent), offers


def _importable(kind: type) -> type:
    """Return the class, or `object` if the other process cannot import it."""
    try:
        pickle.dumps(kind)
    except (pickle.PicklingError, AttributeError):
        return object
    return kind
