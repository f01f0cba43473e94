"""Our clients play local imitations of the public services: kills, lost answers and every documented error."""

import json
import queue
import random
import re
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from poker.agents.simple import AlwaysCall, RandomAgent
from poker.evaluation.matches import benchmark
from poker.evaluation.matches.match_results import MatchResults
from poker.formats.acpc.log import read_log
from poker.game.betting import Betting
from poker.game.state import HandState
from poker.play.lineup import AgentSpec
from poker.play.network import service_table, services
from poker.play.network.service_table import RequestError, ServiceTable, serve_table
from poker.play.network.services import GtoWizard, Line, Slumbot, betting_of, token_of
from poker.run.errors import PokernetsError
from poker.run.lru_cache import LRUCache
from tests.commands import run_here
from tests.evaluation.matches.gto_wizard import GtoWizardTable, serve_gto_wizard
from tests.games import load_rules
from tests.killed import ROOT, run_killed
from tests.random_play import random_action

RULES = load_rules("holdem_nolimit_2p")
HANDS = 250
KEY = "POKERNETS_TEST_KEY"
APIS = ("slumbot", "gtowizard")


def any_action() -> RandomAgent:
    return RandomAgent(name="any", raises=[0.5, 1.0])


class Table(ServiceTable):
    """A server with `faults`, taken one by one: end of the path, whether the request is carried out, the status."""

    def __init__(self, log: Path) -> None:
        super().__init__(RULES, any_action(), 5, log)
        self.log = log
        self.faults: list[tuple[str, bool, int]] = []

    def answer(self, path: str, body: dict[str, Any]) -> Any:
        if self.faults and path.endswith(self.faults[0][0]):
            _, done, status = self.faults.pop(0)
            if done:
                super().answer(path, body)
            raise RequestError(status, "a fault")
        return super().answer(path, body)

    def lines(self) -> list[str]:
        return self.log.read_text().splitlines()


class FaultyGtoWizard(Table, GtoWizardTable):
    """The fake of GTO Wizard's service, with the same faults."""


def served(serve: Callable[[Callable[[str], None]], None]) -> str:
    """The URL at which `serve` answers, in a thread of its own."""
    urls: queue.Queue[str] = queue.Queue()
    threading.Thread(target=serve, args=(urls.put,), daemon=True).start()
    return urls.get(timeout=30)


@pytest.fixture(params=APIS)
def api(request: pytest.FixtureRequest) -> str:
    return str(request.param)


at_slumbot = pytest.mark.parametrize("api", ["slumbot"])
at_gto_wizard = pytest.mark.parametrize("api", ["gtowizard"])


@pytest.fixture
def table(api: str, tmp_path: Path) -> Table:
    return (Table if api == "slumbot" else FaultyGtoWizard)(tmp_path / "served.log")


@pytest.fixture
def url(api: str, table: Table, monkeypatch: pytest.MonkeyPatch) -> str:
    """Where `table` is served; clients of this test do not wait."""
    monkeypatch.setattr(services, "_LONGEST_PAUSE", 0.0)
    monkeypatch.setenv(KEY, "secret")
    if api == "gtowizard":
        return served(partial(serve_gto_wizard, table))
    return served(partial(serve_table, table, "127.0.0.1", 0))


@pytest.fixture
def play(api: Literal["slumbot", "gtowizard"], url: str, tmp_path: Path) -> Callable[[int], MatchResults]:
    """Plays so many hands at the service, as one and the same command."""

    def run(hands: int) -> MatchResults:
        return benchmark.run(
            game=RULES, agents=[AgentSpec("any", any_action, {})], api=api, hands=hands, seed=1, url=url,
            key=KEY if api == "gtowizard" else None, seconds=0.0, out=str(tmp_path / "out"),
        )  # fmt: skip

    return run


def played(lines: list[str]) -> Counter[str]:
    """Betting and cards of logged hands; numbers and names are the table's own."""
    return Counter(":".join(line.split(":")[2:4]) for line in lines if line.startswith("STATE"))


class Killed(BaseException):
    """What a kill leaves of a run."""


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
def test_a_match_that_is_killed_goes_on_and_no_hand_is_lost_or_doubled(
    play: Callable[[int], MatchResults], table: Table, tmp_path: Path
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
    ours, theirs = played(log.read_text().splitlines()), played(table.lines())
    assert ours <= theirs  # which were dealt some cards twice
    [record] = tmp_path.glob("out/*/*/hands/results.json")
    settings = json.loads(record.read_text())["settings"]
    assert (theirs - ours).total() <= settings["lost"] <= kills
    assert results.lineups[0].values().sum() / 10 == pytest.approx(sum(won_by("any", log)))
    assert json.dumps(settings).count("secret") == 0


def won_by(name: str, log: Path) -> Iterator[float]:
    for line in log.read_text().splitlines():
        if line.startswith("STATE"):
            *_, chips, names = line.split(":")
            yield float(chips.split("|")[names.split("|").index(name)])


@pytest.mark.slow
@at_gto_wizard
def test_a_client_that_gets_sigkill_goes_on(url: str, table: Table, tmp_path: Path) -> None:
    """It dies once with an answer that it has not taken in, and once having written an end down."""
    places = (f"runs={tmp_path}/runs", f"url={url}", "seconds=0", "hands=40", f"key={KEY}")
    command = ("evaluate=benchmark", "agents=[always_call]", "api=gtowizard", *places)
    run_killed("poker.play.network.services:Line._once", 30, "evaluate.py", *command)
    run_killed("poker.store.lines:JsonLines.append", 41, "evaluate.py", *command)
    done = run_here("evaluate", *command)
    assert done.returncode == 0, done.stderr
    [log] = tmp_path.glob("runs/benchmark/*/*/hands.log")
    ours, theirs = played(log.read_text().splitlines()), played(table.lines())
    assert (ours.total(), max(ours.values())) == (40, 1)
    assert ours <= theirs
    assert (theirs - ours).total() <= 2
    assert "secret" not in "".join(file.read_text() for file in log.parent.rglob("*.json*"))


@pytest.mark.slow
def test_programs_of_others_play_an_agent_of_ours(tmp_path: Path) -> None:
    """`evaluate=serve` plays several clients at a time; killed and started again it goes on with the next hand."""
    command = [sys.executable, "evaluate.py", "evaluate=serve", "agents=[equity]", "port=0", f"runs={tmp_path}"]
    for expected in (6, 12):
        with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True) as server:
            assert server.stderr is not None
            url = next(match[0] for line in server.stderr if (match := re.search(r"http://[^\s;(]+", line)))
            clients = [Slumbot(RULES, Line(url, {}, 0.0)) for _ in range(3)]
            for _ in range(2):
                hands = [client.begin() for client in clients]
                while not all(hand.won is not None for hand in hands):
                    hands = [
                        client.act(hand, 0) if hand.won is None else hand
                        for client, hand in zip(clients, hands, strict=True)
                    ]
            server.kill()
        [log] = tmp_path.glob("serve/*/equity/hands.log")
        logged = list(read_log(RULES, log))
        assert sorted(hand.number for hand in logged) == list(range(expected))
    assert len({hand.state.hole_cards for hand in logged}) == 12
    foreseen = [HandState.deal(RULES, np.random.default_rng([1, hand.number])).hole_cards for hand in logged]
    assert not any(hand.state.hole_cards == cards for hand, cards in zip(logged, foreseen, strict=True))


@at_slumbot
def test_silent_connections_are_closed(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_table, "_SILENT_SECONDS", 0.3)
    port = int(served(partial(serve_table, table, "127.0.0.1", 0)).rpartition(":")[2])
    for sent in (b"", b"POST /api/new_hand HTTP/1.1\r\n", b"POST /api/act HTTP/1.1\r\nContent-Length: 9\r\n\r\n{"):
        with socket.create_connection(("127.0.0.1", port), timeout=30) as silent:
            silent.sendall(sent)
            assert silent.recv(1000) == b""


def test_busy_services_are_asked_again(api: str, play: Callable[[int], MatchResults], table: Table) -> None:
    begins = "new_hand" if api == "slumbot" else "hands"
    table.faults = [(begins, False, 503), (begins, False, 502), (begins, False, 409), (begins, True, 504)]
    table.faults += [("act", False, 429), ("act", False, 503)]
    assert play(30).lineups[0].hands == 30
    assert table.faults == []


def test_an_answer_that_is_lost_is_looked_up_or_told(
    api: str, play: Callable[[int], MatchResults], table: Table, tmp_path: Path
) -> None:
    """At GTO Wizard's a hand in progress is found, carried out or not; at Slumbot's it is given up."""
    table.faults = [("act", False, 502), ("act", True, 504), ("act", False, 500)]
    assert play(30).lineups[0].hands == 30
    [record] = tmp_path.glob("out/*/*/hands/results.json")
    settings = json.loads(record.read_text())["settings"]
    lost = 3 if api == "slumbot" else 0
    assert lost <= settings["lost"] <= lost + 1  # the action of the second may have ended the hand


def test_what_cannot_go_on_is_an_error_of_one_line(
    api: str, play: Callable[[int], MatchResults], table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    begins = "new_hand" if api == "slumbot" else "hands"
    table.faults = [(begins, False, 401)]
    with pytest.raises(
        PokernetsError, match=r"refuses the key \(401: .*a fault.*\): set the variable that `key` names"
    ):
        play(10)
    table.faults = [(begins, False, 503)] * 20
    with pytest.raises(PokernetsError, match=r"is busy or out of reach .*the same command goes on later"):
        play(10)
    table.faults = [("act", False, 500), ("in-progress", False, 500)] * 100
    if api == "slumbot":
        table.faults = table.faults[::2]
    with pytest.raises(PokernetsError, match="10 hands in a row were lost, the last since 500"):
        play(100)
    table.faults = []
    assert play(10).lineups[0].hands == 10
    monkeypatch.delenv(KEY)
    if api == "gtowizard":
        with pytest.raises(PokernetsError, match=f"variable {KEY}, which `key` names, does not hold a key"):
            play(20)


@at_slumbot
def test_an_expired_session_is_begun_anew(url: str, table: Table) -> None:
    service = Slumbot(RULES, Line(url, {}, 0.0))
    first = service.begin()
    table._sessions = LRUCache(1)
    assert service.begin().answer["token"] != first.answer["token"]
    with pytest.raises(services.LostAnswer, match="Could not find a hand in progress"):
        service.act(first, 0)


@at_slumbot
def test_a_server_refuses_what_the_protocol_does_not_allow(url: str) -> None:
    line = Line(url, {}, 0.0)
    with pytest.raises(services.Refusal, match=r"^404: .*there is no /hands"):
        line.ask("/hands", {})
    with pytest.raises(services.Refusal, match=r"^501: "):
        line.ask("/api/new_hand")
    for data in (b"[1]", b"{", b"\xff\xfe", b"[" * 4000, b"x" * 5000):
        with pytest.raises(urllib.error.HTTPError, match=r"4[12]"):
            urllib.request.urlopen(urllib.request.Request(f"{url}/api/act", data), timeout=10)
    assert set(line.ask("/api/act", {"token": "other", "incr": "c"})) == {"error_msg"}
    assert Slumbot(RULES, line).begin().won is None


@at_slumbot
@pytest.mark.parametrize(
    "token", ["b0", "b00", "b200 ", "b0200", "b+200", "b2_00", "b\uff12\uff10\uff10", "b30000", "r200", "k", "cc", ""]
)
def test_no_other_text_than_an_action_bets(url: str, token: str) -> None:
    """Before the flop with 100 to call: `b0` called, and digits of other scripts bet."""
    line = Line(url, {}, 0.0)
    service = Slumbot(RULES, line)
    begun = service.begin()
    while begun.state.betting.line or begun.won is not None:
        begun = service.begin()
    answer = line.ask("/api/act", {"token": begun.answer["token"], "incr": token})
    assert set(answer) == {"error_msg"}
    assert line.ask("/api/act", {"token": begun.answer["token"], "incr": "b200"})["old_action"] == ""


def test_tokens_of_a_service_are_totals_of_the_round() -> None:
    rng, cards = random.Random(2), np.random.default_rng(2)
    for _ in range(200):
        state, tokens = HandState.deal(RULES, cards), list[str]()
        while not state.is_over:
            action = random_action(state.legal(), rng)
            tokens.append(token_of(state.betting, action))
            state = state.apply(action)
        assert betting_of(RULES, tokens) == state.betting
    assert betting_of(RULES, ["b2", "c", "b1.5"], 100) == Betting.parse(RULES, "r200c/r350")
    assert Betting.parse(RULES, "cc/cc/").round_start() == (100, 100)
    for token in ("x9", "b0", "b00", "b0200", "b\uff12\uff10\uff10"):
        with pytest.raises(PokernetsError, match=f"an action `{token}`"):
            betting_of(RULES, [token])


@at_gto_wizard
def test_other_stacks_are_refused_and_blinds_may_be_in_any_unit(url: str) -> None:
    service = GtoWizard(RULES, Line(url, {"X-API-Key": "secret"}, 0.0))
    answer = json.loads(json.dumps(service.begin().answer))
    answer["game"] |= {"starting_stack": 200.0, "blinds": [0.5, 1.0]}
    answer["game_state"]["action_history"] = []
    assert service._read(answer).state.rules.stacks == (20_000, 20_000)
    hand = service._read(answer)
    for seat in answer["game_state"]["players"]:
        seat["hole_cards"] = seat["hole_cards"] or "2c2d"
    answer["game_state"]["players"].reverse()
    assert service._read(answer).player == hand.player  # whoever is told first, all cards shown
    answer["game"]["starting_stack"] = 100.0
    with pytest.raises(PokernetsError, match="deals stacks of 100"):
        service._read(answer)


def test_several_agents_are_refused() -> None:
    agents = [AgentSpec("one", lambda: AlwaysCall(name="one"), {})] * 2
    with pytest.raises(PokernetsError, match=r"one agent plays `hands` hands at api=slumbot\|gtowizard"):
        benchmark.run(
            game=RULES,
            agents=agents,
            api="slumbot",
            hands=1,
            seed=1,
            url=None,
            key=None,
            seconds=0.0,
            out="",
        )
