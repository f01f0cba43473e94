"""Visitors at the ports of our dealer who are no players."""

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from conf.compose import compose
from poker.agents.simple import AlwaysCall
from poker.formats.acpc.protocol import LineConnection, listen
from poker.play.network.handshake import seat_players
from poker.run.errors import PokernetsError
from tests.evaluation.matches.acpc.table import deal, free_ports
from tests.games import load_rules

GREETING = b"VERSION:2.0.0\r\n"


def test_our_dealer_listens_to_this_machine_alone_unless_told() -> None:
    for host, address in ((compose("evaluate", ["evaluate=acpc"]).host, "127.0.0.1"), ("", "0.0.0.0")):
        with listen(0, host) as server:
            assert server.getsockname()[0] == address
    with listen(0) as server:
        assert server.getsockname()[0] == "127.0.0.1"
    with pytest.raises(PokernetsError, match=r"of `203.0.113.7`: .* an address of this machine as `host`"):
        listen(0, "203.0.113.7")


class Hall:
    """Two seats, a and b, being filled in a thread; `told` is what was said of visitors."""

    def __init__(self) -> None:
        self.servers = [listen(0), listen(0)]
        self.told: list[str] = []
        self.visitors: list[socket.socket] = []
        self._pool = ThreadPoolExecutor(1)
        self._players: Future[list[LineConnection]] | None = None

    def start(self, seconds: float | None) -> None:
        self._players = self._pool.submit(seat_players, ["a", "b"], self.servers, seconds, self.told.append)

    def players(self) -> list[LineConnection]:
        assert self._players is not None
        return self._players.result(120)

    def visit(self, seat: int, *words: bytes) -> socket.socket:
        visitor = socket.create_connection(("localhost", self.servers[seat].getsockname()[1]), timeout=10)
        self.visitors.append(visitor)
        for word in words:
            visitor.sendall(word)
            time.sleep(0.05)
        return visitor

    def hears(self, text: str) -> None:
        wait(lambda: any(text in what for what in self.told), f"`{text}` in {self.told}")

    def close(self) -> None:
        for line in [*self.servers, *self.visitors]:
            line.close()
        self._pool.shutdown()


def wait(holds: Callable[[], bool], what: str) -> None:
    deadline = time.monotonic() + 120
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.01)


def ended(visitor: socket.socket) -> bool:
    try:
        return visitor.recv(1) == b""
    except ConnectionResetError:
        return True


@pytest.fixture
def hall() -> Iterator[Hall]:
    made = Hall()
    yield made
    made.close()


def test_visitors_are_named_and_the_seat_stays_open(hall: Hall) -> None:
    hall.start(60.0)
    silent = hall.visit(0)
    hall.visit(0).close()
    hall.hears("a: a visitor from 127.0.0.1:")
    hall.hears("left without a greeting; the seat stays open")
    wrong = hall.visit(0, b"GET / HTTP/1.1\r\n")
    hall.hears("greets with `GET / HTTP/1.1`, not VERSION:2.0.0; the seat stays open")
    assert ended(wrong)
    endless = hall.visit(1, b"x" * 5000)
    hall.hears("b: a visitor from 127.0.0.1:")
    hall.hears("does not greet: a line of more than 4096 bytes")
    assert ended(endless)
    slow = hall.visit(1, b"# hello\r\nVER", b"SION:2.0.", b"9\r\n")
    right = hall.visit(0, GREETING)
    players = hall.players()
    for player, visitor in zip(players, (right, slow), strict=True):
        player.send("to the player")
        assert visitor.recv(100) == b"to the player\r\n"
    assert ended(silent)
    assert len(hall.told) == 4
    assert "came too late; the seat is taken" in hall.told[-1]
    for player in players:
        player.close()


def test_a_player_who_leaves_while_another_is_awaited_leaves_the_seat(hall: Hall) -> None:
    hall.start(60.0)
    first = hall.visit(0, GREETING)
    first.close()
    hall.hears("a: the player from 127.0.0.1:")
    hall.hears("left before the match began; the seat is open again")
    hall.visit(0, GREETING)
    talker = hall.visit(1, GREETING, b"hello\r\n")
    players = hall.players()
    assert players[1].read(5) == "hello"
    players[0].send("to the player")
    assert hall.visitors[1].recv(100) == b"to the player\r\n"
    players[1].send("to the talker")
    assert talker.recv(100) == b"to the talker\r\n"
    for player in players:
        player.close()


def test_an_open_seat_at_the_end_is_an_error(hall: Hall) -> None:
    hall.start(3.0)
    seated = hall.visit(0, GREETING)
    silent = hall.visit(1)
    with pytest.raises(PokernetsError, match=r"^b did not sit down within 3 s$"):
        hall.players()
    assert ended(seated)
    assert ended(silent)


def test_a_crowd_of_silent_visitors_keeps_nobody_out(hall: Hall) -> None:
    hall.start(None)
    first = hall.visit(0)
    for _ in range(40):
        hall.visit(0)
    hall.hears("said nothing, and others want to come in")
    assert ended(first)
    for seat in range(2):
        hall.visit(seat, GREETING)
    assert len(hall.players()) == 2


def test_a_match_goes_on_after_a_stray_connection(tmp_path: Path) -> None:
    ports = free_ports(2)
    strays = [threading.Thread(target=_stray, args=(port,), daemon=True) for port in ports]
    for stray in strays:
        stray.start()
    calls = partial(AlwaysCall, name="call")
    waits = [partial(_late, strays, calls) for _ in ports]
    result, seats = deal(load_rules("kuhn"), waits, 6, tmp_path, ports=ports)
    assert [seat.hands for seat in seats] == [6, 6]
    assert not any(result.failures.values())
    sent_away = json.loads((result.log.with_suffix("") / "results.json").read_text())["settings"]["sent_away"]
    assert sorted(what.split(":")[0] for what in sent_away) == ["p0", "p1"]
    assert all("greets with `hello [/b]`" in what for what in sent_away)


def _stray(port: int) -> None:
    """Greets wrongly once the dealer is there."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            with socket.create_connection(("localhost", port), timeout=10) as visitor:
                visitor.sendall(b"hello [/b]\r\n")
                visitor.recv(1)
                return
        except ConnectionRefusedError:
            time.sleep(0.02)


def _late(strays: list[threading.Thread], build: Callable[[], AlwaysCall]) -> AlwaysCall:
    """Build the agent once the strays have gone; it connects only afterwards."""
    for stray in strays:
        stray.join(120)
    return build()
