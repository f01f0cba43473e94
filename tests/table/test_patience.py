"""Connections that bring no whole request are closed, and others go on."""

import asyncio
import socket
import threading
import time
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from poker.table.server import patience
from poker.table.server.access import Access
from poker.table.server.patience import TimedHTTP

REQUEST = b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\n"
LIMIT = 0.4


async def _slow_echo(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "http":
        body = await Request(scope, receive).body()
        await asyncio.sleep(2 * LIMIT)
        await PlainTextResponse(body)(scope, receive, send)


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    for name in ("HEADERS_SECONDS", "SILENT_SECONDS"):
        monkeypatch.setattr(patience, name, LIMIT)
    config = uvicorn.Config(Access(_slow_echo, None), http=TimedHTTP, lifespan="off", log_level="critical")
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[listening])), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        server.should_exit = True
        thread.join(30)


@pytest.mark.parametrize("sent", [b"", b"POST", REQUEST[:40], REQUEST, REQUEST + b"abc"])
def test_requests_that_do_not_come_are_closed(port: int, sent: bytes) -> None:
    started = time.monotonic()
    connections = [socket.create_connection(("127.0.0.1", port), timeout=30) for _ in range(20)]
    for one in connections:
        one.sendall(sent)
    for one in connections:
        with one:
            try:
                while one.recv(1000):
                    pass
            except ConnectionResetError:
                pass
    assert LIMIT / 2 < time.monotonic() - started < 20


def test_answers_may_take_longer_than_headers_and_connections_are_used_again(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=30) as one:
        for _ in range(3):
            for part in (REQUEST[:20], REQUEST[20:], b"ab", b"cde"):
                one.sendall(part)
                time.sleep(LIMIT / 4)
            answer = b""
            while not answer.endswith(b"abcde"):
                received = one.recv(1000)
                assert received, answer
                answer += received
            assert answer.startswith(b"HTTP/1.1 200")
