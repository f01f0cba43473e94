"""Our seat at a dealer: what an agent keeps from hand to hand, and what goes on when it or the disk fails."""

from pathlib import Path

import numpy as np
import pytest

from conf.compose import compose
from poker.agents.simple import AlwaysCall
from poker.formats.acpc.log import read_log
from poker.game.rules import CALL
from poker.game.state import HandState, Policy
from poker.play.network import client
from poker.play.network.client import DealerSeat
from tests.games import HEADS_UP


class Learner(AlwaysCall):
    """Counts the hands it was shown since it was reset, and fails in `broken`."""

    def __init__(self, broken: str = "") -> None:
        super().__init__(name="learner")
        self.broken = broken
        self.shown: list[int] = []

    def _do(self, what: str) -> None:
        if what == self.broken:
            raise RuntimeError(f"no {what}")

    def reset(self, seed: int) -> None:
        self._do("reset")
        self.shown.append(0)

    def start_hand(self, seat: int) -> None:
        self._do("start_hand")

    def end_hand(self, state: HandState) -> None:
        self._do("end_hand")
        self.shown[-1] += 1


def seated(agent: Learner, folder: Path, hands: int) -> DealerSeat:
    """After hands that the agent checks down."""
    seat = DealerSeat(HEADS_UP, agent, 1, folder / "hands.log", lambda what: None)
    for number in range(hands):
        assert seat.answer(f"MATCHSTATE:1:{number}::|JdTc") == f"MATCHSTATE:1:{number}::|JdTc:c"
        seat.answer(f"MATCHSTATE:1:{number}:f:|JdTc")
    return seat


def test_learning_lasts_as_long_as_the_connection(tmp_path: Path) -> None:
    agent = Learner()
    assert not seated(agent, tmp_path, 5).failures
    assert agent.shown == [5]


def test_memory_is_given_back_after_every_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And few states are kept: with 500 of each street an agent had 1.2 GB after 400 hands, and went on growing."""
    given_back: list[int] = []
    monkeypatch.setattr(client, "give_back_memory", lambda: given_back.append(1))
    seated(Learner(), tmp_path, 5)
    assert len(given_back) == 5
    for evaluation in ("acpc_client", "slumbot"):
        config = compose("evaluate", [f"evaluate={evaluation}", "search=demo"])
        assert config.search.remembered_states == 50


@pytest.mark.parametrize(("broken", "times"), [("reset", 1), ("start_hand", 3), ("end_hand", 3)])
def test_an_agent_that_fails_between_hands_plays_on(tmp_path: Path, broken: str, times: int) -> None:
    agent = Learner(broken)
    agent.shown = [0]
    seat = seated(agent, tmp_path, 3)
    assert [item.error.partition(" (")[0] for item in seat.failures] == [f"RuntimeError: no {broken}"] * times
    assert len(seat.chips) == 3


class Raiser(Learner):
    """Raises every time, and has a policy."""

    def act(self, state: HandState) -> int:
        return state.betting.legal().max_raise

    def policy(self, state: HandState) -> Policy:
        return (CALL,), np.ones((state.rules.num_hands, 1), np.float32)


def test_failed_writes_are_reported_and_change_no_action(tmp_path: Path) -> None:
    lines: list[str] = []
    seat = DealerSeat(HEADS_UP, Raiser(), 1, tmp_path / "gone" / "hands.log", lines.append)
    assert seat.answer("MATCHSTATE:1:0::|JdTc") == "MATCHSTATE:1:0::|JdTc:r20000"
    seat.answer("MATCHSTATE:1:0:r20000f:|JdTc")
    assert len(seat.chips) == 1
    assert ["FileNotFoundError" in text for text in lines] == [True, True]  # the note and the hand


def test_a_client_of_any_name_keeps_its_log(tmp_path: Path) -> None:
    agent = Learner()
    agent.name = "Zoë: 2"
    seat = seated(agent, tmp_path, 1)
    assert [hand.names for hand in read_log(HEADS_UP, seat.log)] == [("opponent#1", "Zo___2")]
