"""Our client plays a local imitation of Slumbot: kills, lost answers, and a service that is hostile."""

import json
import random
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.evaluation.matches import slumbot
from poker.evaluation.matches.match_results import MatchResults
from poker.game.state import HandState
from poker.play.lineup import AgentSpec
from poker.play.network import slumbot as client
from poker.play.network.slumbot import Line, LostAnswer, Slumbot, betting_of, token_of
from poker.run.errors import PokernetsError
from tests.cases import cases
from tests.evaluation.matches.slumbot_server import FakeSlumbot, answering
from tests.games import HEADS_UP as RULES
from tests.random_play import random_action

HANDS = 250


@pytest.fixture
def service() -> FakeSlumbot:
    return FakeSlumbot(RULES)


@pytest.fixture
def url(service: FakeSlumbot, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Where `service` answers; clients of this test do not wait."""
    monkeypatch.setattr(client, "_LONGEST_PAUSE", 0.0)
    with answering(service.answer) as url:
        yield url


@pytest.fixture
def play(url: str, tmp_path: Path) -> Callable[[int], MatchResults]:
    """Play a number of hands at the service, as one and the same command."""

    def run(hands: int) -> MatchResults:
        spec = AgentSpec("any", lambda: RandomAgent(name="any", raises=[0.5, 1.0]), {})
        return slumbot.run(
            game=RULES, agents=[spec], hands=hands, seed=1, url=url, seconds=0.0, out=str(tmp_path / "out")
        )

    return run


def played(lines: list[str]) -> Counter[str]:
    """Betting and cards of logged hands; numbers and names are the table's own."""
    return Counter(":".join(line.split(":")[2:4]) for line in lines if line.startswith("STATE"))


class Killed(BaseException):
    """Stands for the kill of a run."""


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Now and then the run dies before a request is sent or before its answer is read."""
    rng, once = random.Random(4), Line._once

    def mortal(line: Line, path: str, body: Any) -> Any:
        dies = rng.random()
        if dies < 0.004:
            raise Killed
        answer = once(line, path, body)
        if dies > 0.996:
            raise Killed
        return answer

    monkeypatch.setattr(Line, "_once", mortal)


@pytest.mark.slow
@pytest.mark.usefixtures("killed")
def test_killed_match_continues_without_lost_or_repeated_hands(
    play: Callable[[int], MatchResults], service: FakeSlumbot, tmp_path: Path
) -> None:
    results, kills = None, 0
    while results is None:
        try:
            results = play(HANDS)
        except Killed:
            kills += 1
    assert kills > 2
    assert results.lineups[0].hands == HANDS
    assert results.lineups[0].has_aivat
    [log] = tmp_path.glob("out/*/*/hands.log")
    ours, theirs = played(log.read_text().splitlines()), played(service.lines)
    assert ours <= theirs  # which were dealt some cards twice
    [record] = tmp_path.glob("out/*/*/hands/results.json")
    settings = json.loads(record.read_text())["settings"]
    assert (theirs - ours).total() <= settings["lost"] <= kills
    assert results.lineups[0].values().sum() / 10 == pytest.approx(sum(won_by("any", log)))


def won_by(name: str, log: Path) -> Iterator[float]:
    for line in log.read_text().splitlines():
        if line.startswith("STATE"):
            *_, chips, names = line.split(":")
            yield float(chips.split("|")[names.split("|").index(name)])


def test_busy_services_are_retried(play: Callable[[int], MatchResults], service: FakeSlumbot) -> None:
    service.faults = [
        ("new_hand", done, status) for done, status in ((False, 503), (False, 502), (False, 409), (True, 504))
    ]
    service.faults += [("act", False, 429), ("act", False, 503)]
    assert play(30).lineups[0].hands == 30
    assert service.faults == []


def test_hands_whose_answer_is_lost_do_not_count(
    play: Callable[[int], MatchResults], service: FakeSlumbot, tmp_path: Path
) -> None:
    service.faults = [("act", False, 502), ("act", True, 504), ("act", False, 500)]
    assert play(30).lineups[0].hands == 30
    [record] = tmp_path.glob("out/*/*/hands/results.json")
    assert json.loads(record.read_text())["settings"]["lost"] == 3


def test_permanent_failure_is_an_error_of_one_line(play: Callable[[int], MatchResults], service: FakeSlumbot) -> None:
    service.faults = [("new_hand", False, 503)] * 20
    with pytest.raises(PokernetsError, match=r"is busy or unreachable .*run the same command again later"):
        play(10)
    service.faults = [("act", False, 500)] * 100
    with pytest.raises(PokernetsError, match="10 hands in a row failed; the last error: 500"):
        play(100)
    service.faults = []
    assert play(10).lineups[0].hands == 10


def test_expired_session_is_replaced(url: str, service: FakeSlumbot) -> None:
    session = Slumbot(RULES, Line(url, 0.0))
    first = session.begin()
    service.sessions.clear()
    assert session.begin().answer["token"] != first.answer["token"]
    with pytest.raises(LostAnswer, match="Could not find a hand in progress"):
        session.act(first, 0)


def test_a_hand_that_begins_without_a_token_is_of_the_same_session(
    url: str, service: FakeSlumbot, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = service._answer

    def tokenless(path: str, body: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in answer(path, body).items() if name != "token" or "token" not in body}

    monkeypatch.setattr(service, "_answer", tokenless)
    session = Slumbot(RULES, Line(url, 0.0))
    assert session.begin().answer["token"] == session.begin().answer["token"]


BEGUN = {"token": "t", "client_pos": 0, "hole_cards": ["As", "Kd"], "board": [], "action": "c"}
"""The client checks or bets as the big blind."""
FLOP = BEGUN | {"action": "ck/", "board": ["2c", "3c", "4c"]}


@pytest.mark.parametrize(
    "answer",
    [
        *(b"", b"[", b"\xff", b"[" * 50_000, b"1" * 5000, b'{"winnings":' + b"[" * 900 + b"]" * 900 + b"}"),
        *(b" " * (1 << 17), None, 7, [BEGUN], "text"),
        *(BEGUN | {"token": "x" * 5000}, BEGUN | {"action": "c" * 3000}),
    ],
)
def test_no_text_of_a_hostile_service_is_taken_in(answer: object) -> None:
    with answering(lambda path, body: answer) as url, pytest.raises(LostAnswer):
        Slumbot(RULES, Line(url, 0.0)).begin()


@cases
def test_no_answer_of_a_hostile_service_is_taken_in(wrong: dict[str, Any]) -> None:
    with answering(lambda path, body: BEGUN | wrong) as url, pytest.raises(LostAnswer):
        Slumbot(RULES, Line(url, 0.0)).begin()


@cases
def test_an_answer_continues_the_hand_by_the_action_sent(answer: dict[str, Any], is_right: bool) -> None:
    """An answer that changed nothing was acted on for ever."""
    with answering(lambda path, body: BEGUN if path == "/api/new_hand" else BEGUN | answer) as url:
        service = Slumbot(RULES, Line(url, 0.0))
        hand = service.begin()
        if is_right:
            assert service.act(hand, 0).state.betting.text() == "cc/"
        else:
            with pytest.raises(LostAnswer):
                service.act(hand, 0)


def test_tokens_of_a_service_are_totals_of_the_round() -> None:
    rng, cards = random.Random(2), np.random.default_rng(2)
    for _ in range(200):
        state, tokens = HandState.deal(RULES, cards), list[str]()
        while not state.is_over:
            action = random_action(state.legal(), rng)
            tokens.append(token_of(state.betting, action))
            state = state.apply(action)
        assert betting_of(RULES, tokens) == state.betting


def test_several_agents_are_refused() -> None:
    agents = [AgentSpec("one", lambda: AlwaysCall(name="one"), {})] * 2
    with pytest.raises(PokernetsError, match="plays one agent at heads-up"):
        slumbot.run(game=RULES, agents=agents, hands=1, seed=1, url=None, seconds=0.0, out="")
