"""An agent in a process of its own: it may hang, die or answer rubbish, and the match goes on.

A call that takes too long or kills its process raises `AgentFailure`; the process is replaced at the next call and told
the seed and the seat again, and after `_MAX_RESTARTS` replacements the agent is given up. Building the agent is not
part of its time. Questions about its policy are no decisions: they have a time limit of their own, and the first that
is not answered is the last one asked.
"""

import pickle
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from typing import Any

from poker.agents.base import Agent, is_repeatable
from poker.game.state import HandState, Policy
from poker.run.errors import PokernetsError
from poker.run.parallel import Child

_MAX_RESTARTS = 5
_START_SECONDS = 600.0
_POLICY_SECONDS = 60.0


class AgentFailure(Exception):  # noqa: N818 (what happened to the agent, not an error of this program)
    """The process of an agent did not answer in time, died, or raised an error (whose text this carries)."""


class PolicyUnavailable(AgentFailure):
    """The policy of `agent` is unavailable."""

    def __init__(self, agent: object, why: str) -> None:
        super().__init__(why)
        self.agent = agent


class AgentGivenUp(AgentFailure):
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
        self.kind: type = object
        self.repeatable = True
        self._build = build
        self._seconds = seconds
        self._policy_seconds = policy_seconds
        self._no_policy = ""
        self._child: Child | None = None
        self._starts = 0
        self._seed = 0
        self._seat: int | None = None
        offers = self._start()
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
        except AgentFailure as error:
            self._no_policy = str(error)
            if self._child is None and not isinstance(error, AgentGivenUp):
                self._starts -= 1  # its replacement is not put down to its play
            raise PolicyUnavailable(self, self._no_policy) from error
        return policy

    def close(self) -> None:
        """Ends the process."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()

    def _start(self) -> list[str]:
        """Start the process, and return the optional methods that the agent has."""
        if self._starts > _MAX_RESTARTS:
            raise AgentGivenUp(f"given up after {_MAX_RESTARTS} new processes")
        self._starts += 1
        self._child = Child(_serve, self._build)
        try:
            self.kind, self.repeatable, offers = self._answer(_START_SECONDS, "building")
        except AgentFailure:
            self.close()
            raise
        return list(offers)

    def _call(self, method: str, argument: Any, seconds: float | None = None) -> Any:
        if self._child is None:
            self._start()
            self._send("reset", self._seed)
            if self._seat is not None and method != "start_hand":
                self._send("start_hand", self._seat)
        return self._send(method, argument, seconds)

    def _send(self, method: str, argument: Any, seconds: float | None = None) -> Any:
        assert self._child is not None
        try:
            self._child.pipe.send((method, argument))
        except OSError:
            self._fail(method)
        return self._answer(self._seconds if seconds is None else seconds, method)

    def _answer(self, seconds: float, what: str) -> Any:
        assert self._child is not None
        try:
            if not self._child.pipe.poll(seconds):
                self.close()
                raise AgentFailure(f"no answer to {what} within {seconds:g} s")
            kind, value = self._child.pipe.recv()
        except (EOFError, OSError):
            self._fail(what)
        if kind == "refused":
            self.close()
            refusal = PokernetsError(value[0])
            refusal.remedy = value[1]
            raise refusal
        if kind == "error":
            raise AgentFailure(value)
        return value

    def _fail(self, what: str) -> None:
        assert self._child is not None
        self._child.process.join(1.0)
        status = self._child.process.exitcode
        self.close()
        raise AgentFailure(f"its process died during {what}, exit status {status}")


def _serve(pipe: Connection, build: Callable[[], Agent]) -> None:
    """The loop of the agent's process: (method, argument) in, (kind, value) out."""
    try:
        agent = build()
    except PokernetsError as error:
        pipe.send(("refused", (str(error), error.remedy)))
        return
    except Exception as error:
        pipe.send(("error", _described(error)))
        return
    offers = [name for name in ("policy", "end_hand") if hasattr(agent, name)]
    pipe.send(("ok", (_importable(type(agent)), is_repeatable(agent), offers)))
    while True:
        try:
            method, argument = pipe.recv()
        except EOFError:
            return
        try:
            answer = ("ok", getattr(agent, method)(argument))
        except Exception as error:
            answer = ("error", _described(error))
        try:
            pipe.send(answer)
        except Exception as error:  # an answer that cannot be sent is the agent's mistake
            pipe.send(("error", f"answer to {method} cannot be sent: {error}"))


def _importable(kind: type) -> type:
    """`object` in place of a class that the other process cannot import."""
    try:
        pickle.dumps(kind)
    except (pickle.PicklingError, AttributeError):
        return object
    return kind


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-5)}"
