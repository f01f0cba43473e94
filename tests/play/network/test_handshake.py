"""Visitors at the ports of our dealer who are no players."""

import re
import socket
from contextlib import ExitStack

import pytest

from conf.compose import compose
from poker.formats.acpc.protocol import listen
from poker.play.network import handshake
from poker.play.network.handshake import seat_players
from poker.run.errors import PokernetsError

GREETING = b"VERSION:2.0.0\r\n"


def test_dealer_listens_to_this_machine_unless_configured() -> None:
    for host, address in ((compose("evaluate", ["evaluate=acpc"]).host, "127.0.0.1"), ("", "0.0.0.0")):
        with listen(0, host) as server:
            assert server.getsockname()[0] == address
    with listen(0) as server:
        assert server.getsockname()[0] == "127.0.0.1"
    with pytest.raises(PokernetsError, match=r"of `203.0.113.7`: .* an address of this machine as `host`"):
        listen(0, "203.0.113.7")


def test_visitors_are_named_and_the_seat_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handshake, "_GREETING_SECONDS", 0.1)
    told: list[str] = []
    with ExitStack() as stack:
        servers = [stack.enter_context(listen(0)) for _ in range(2)]

        def visit(seat: int, words: bytes) -> socket.socket:
            visitor = stack.enter_context(socket.create_connection(servers[seat].getsockname(), timeout=10))
            visitor.sendall(words)
            return visitor

        visit(0, b"").close()
        strangers = [visit(0, b""), visit(0, b"GET / HTTP/1.1\r\n"), visit(1, b"x" * 5000)]
        players = [visit(0, GREETING), visit(1, b"# hello\r\nVERSION:2.0.9\r\n")]
        lines = seat_players(["a", "b"], servers, 60.0, told.append)
        for line, player in zip(lines, players, strict=True):
            stack.enter_context(line).send("to the player")
            assert player.recv(100) == b"to the player\r\n"
        assert all(stranger.recv(1) == b"" for stranger in strangers[:2])
    assert sorted(re.sub(":[0-9]+ ", " ", what) for what in told) == [
        "a: a client at 127.0.0.1 sends `GET / HTTP/1.1`, not VERSION:2.0.0; the seat stays open",
        "a: a client at 127.0.0.1 sends no version: the other side closed the connection; the seat stays open",
        "a: a client at 127.0.0.1 sends no version: timed out waiting for a line; the seat stays open",
        f"b: a client at 127.0.0.1 sends no version: a line of more than 4096 bytes: `{b'x' * 60!r}...`;"
        " the seat stays open",
    ]


def test_an_open_seat_at_the_end_is_an_error() -> None:
    with listen(0) as first, listen(0) as second, socket.create_connection(first.getsockname(), timeout=10) as seated:
        seated.sendall(GREETING)
        with pytest.raises(PokernetsError, match=r"^b did not connect within 0.5 s$"):
            seat_players(["a", "b"], [first, second], 0.5, lambda what: None)
        assert seated.recv(1) == b""
