import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import cast

import pytest

from poker.agents.base import Agent, ObservingAgent, PolicyAgent
from poker.agents.remote import AgentGivenUp, PolicyUnavailable, RemoteAgent
from poker.agents.simple import AlwaysCall, RandomAgent
from poker.game.rules import CALL
from poker.game.state import HandState, Policy
from poker.play.lineup import AgentSpec, LineUp, Rotation
from poker.play.session import play_session
from poker.play.workers import Worker, play_all
from poker.run.child import ChildFailure
from poker.run.errors import PokernetsError
from poker.run.parallel import LocalCluster
from poker.store.lines import append_lines
from tests.agents.opaque import Opaque
from tests.cases import cases
from tests.games import LEDUC


def misbehave(what: str) -> None:
    if what == "sleeps":
        time.sleep(60)
    if what == "dies":
        os._exit(3)
    if what == "raises":
        raise ValueError("no idea")


class Troublemaker(AlwaysCall):
    """Has a policy, and misbehaves at every decision of its process whose number is a multiple of `period`."""

    def __init__(self, what: str, period: int = 4) -> None:
        super().__init__(name="trouble")
        self.what, self.period, self.count = what, period, 0

    def act(self, state: HandState) -> int:
        self.count += 1
        if self.count % self.period:
            return super().act(state)
        misbehave(self.what)
        return cast(int, {"garbage": "bet everything", "unpicklable": lambda: 1}[self.what])  # what it is not


class Unclear(AlwaysCall):
    """Plays, but fails when its policy is requested; each request adds a line to `log`."""

    def __init__(self, what: str, log: Path) -> None:
        super().__init__(name="unclear")
        self.what, self.log = what, log

    def act(self, state: HandState) -> int:
        return CALL

    def policy(self, state: HandState) -> Policy:
        append_lines(self.log, [self.what])
        misbehave(self.what)
        raise AssertionError


class Learning(RandomAgent):
    """Learns from hands, so that it has an `end_hand`."""

    def end_hand(self, state: HandState) -> None:
        """It learns little."""


def refuse() -> AlwaysCall:
    raise PokernetsError("the blueprint is missing; make it with a command")


@cases
@pytest.mark.slow
def test_trouble_is_named_and_the_match_goes_on(what: str, message: str) -> None:
    specs = [
        AgentSpec("trouble", partial(Troublemaker, what), {}),
        AgentSpec("call", partial(AlwaysCall, name="call"), {}),
    ]
    table = LineUp(("trouble", "call"))
    tasks = [(table, session) for session in range(4)]
    seconds = 3.0 if what == "sleeps" else 20.0
    worker = Worker(Rotation(LEDUC, 1, 1), {spec.name: spec for spec in specs}, seconds)
    records = [record for _, record in play_all(worker, tasks, LocalCluster(1))]
    assert sum(len(record.payoffs) for record in records) == 8
    incidents = [incident for record in records for incident in record.incidents]
    assert len(incidents) >= 2
    assert all(incident.agent == "trouble" for incident in incidents)
    assert all(message in incident.error for incident in incidents)


@pytest.mark.slow
def test_a_policy_question_gives_no_new_process_to_an_agent_given_up() -> None:
    agent = RemoteAgent("trouble", partial(Troublemaker, "dies", 1), 20.0)
    state = HandState.start(LEDUC, [(0,), ()], ())
    for _ in range(6):
        with pytest.raises(ChildFailure, match="died during act"):
            agent.act(state)
    for _ in range(2):
        with pytest.raises(PolicyUnavailable, match="given up"):
            agent.policy(state)
        with pytest.raises(AgentGivenUp):
            agent.act(state)
    agent.child.kill()


def test_remote_play_is_local_play() -> None:
    build = partial(RandomAgent, name="random", raises=[1])
    schedule, table = Rotation(LEDUC, 1, 3), LineUp(("random", "random"))
    remote = [RemoteAgent("random", build, 20.0) for _ in range(2)]
    for session in range(3):
        here = play_session(schedule, table, [[build(), build()]], session)
        there = play_session(schedule, table, [remote], session)
        assert here.lines == there.lines
    for agent in remote:
        agent.child.kill()


def test_a_policy_is_forwarded() -> None:
    local = RandomAgent(name="random", raises=[1])
    remote = RemoteAgent("random", partial(RandomAgent, name="random", raises=[1]), 20.0)
    offers = [isinstance(remote, protocol) for protocol in (PolicyAgent, ObservingAgent)]
    assert offers == [True, False]
    assert remote.kind is RandomAgent
    for state in (HandState.start(LEDUC, [(), ()], ()), HandState.start(LEDUC, [(), ()], ()).apply(3)):
        (actions, probs), (expected, exact) = remote.policy(state), local.policy(state)
        assert actions == expected
        assert probs.dtype == exact.dtype
        assert (probs == exact).all()
    remote.child.kill()


@pytest.mark.parametrize(
    ("build", "offers"), [(partial(Learning, name="l", raises=[1]), (True, True)), (Opaque, (False, False))]
)
@pytest.mark.slow
def test_only_what_the_agent_has_is_offered(build: Callable[[], Agent], offers: tuple[bool, bool]) -> None:
    remote = RemoteAgent("agent", build, 20.0)
    assert tuple(isinstance(remote, protocol) for protocol in (PolicyAgent, ObservingAgent)) == offers
    remote.child.kill()


@cases
@pytest.mark.slow
def test_a_policy_that_fails_is_not_asked_for_again_and_play_goes_on(what: str, message: str, tmp_path: Path) -> None:
    log, seconds = tmp_path / "log", 1.0 if what == "sleeps" else 60.0
    agent = RemoteAgent("unclear", partial(Unclear, what, log), 20.0, policy_seconds=seconds)
    assert isinstance(agent, PolicyAgent)
    state = HandState.start(LEDUC, [(), ()], ())
    for _ in range(20):
        with pytest.raises(ChildFailure, match=message):
            agent.policy(state)
        assert agent.act(state) == CALL
    assert log.read_text() == f"{what}\n"
    agent.child.kill()


def test_user_errors_while_building_end_the_match() -> None:
    with pytest.raises(PokernetsError, match="the blueprint is missing"):
        RemoteAgent("refused", refuse, 20.0)


def test_nothing_is_left_behind() -> None:
    before = len(list(Path("/proc/self/fd").iterdir()))
    for _ in range(3):
        agent = RemoteAgent("call", partial(AlwaysCall, name="call"), 20.0)
        pid = agent.child.pid
        agent.child.kill()
        assert not Path(f"/proc/{pid}/cmdline").exists()
    assert len(list(Path("/proc/self/fd").iterdir())) <= before + 1
