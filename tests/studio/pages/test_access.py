"""Access control: other names than this machine's, requests without the token and pages of other sites are refused."""

import asyncio
from typing import Any

import pytest
from starlette.types import Message, Receive, Scope, Send

from poker.run.errors import PokernetsError
from poker.studio.server.access import MOST_UPLOADED, TOKEN, VISITOR, Access
from tests.cases import cases


async def _inner(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": scope["state"]["visitor"].encode()})


def ask(
    token: str | None,
    *,
    host: str = "127.0.0.1:8080",
    query: str = "",
    cookie: str = "",
    kind: str = "http",
    **more: str,
) -> tuple[int, dict[str, str], str]:
    """Status (0: the socket was closed), new cookies and the visitor."""
    headers = {"host": host, "cookie": cookie, **more}
    sent = answered(Access(_inner, token), request(headers, type=kind, query_string=query.encode()))
    if sent[0]["type"] == "websocket.close":
        return 0, {}, ""
    cookies = [value.decode().split(";")[0] for name, value in sent[0]["headers"] if name == b"set-cookie"]
    return sent[0]["status"], dict(one.split("=", 1) for one in cookies), sent[1]["body"].decode()


def request(headers: dict[str, str], **more: Any) -> Scope:
    """The scope of a request, by default to this machine over HTTP; empty headers are left out."""
    lines = [(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value]
    return {"type": "http", "headers": lines, "query_string": b"", **more}


def answered(access: Access, scope: Scope) -> list[Any]:
    """All that is sent to a request whose body is not supported."""
    sent: list[Any] = []

    async def receive() -> Message:
        raise AssertionError("the body was read")

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(access(scope, receive, send))
    return sent


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "localhost:1", "[::1]:8080"])
def test_this_machine_needs_no_token(host: str) -> None:
    assert ask(None, host=host)[0] == 200


@cases
def test_names_of_others_are_refused(host: str) -> None:
    assert ask(None, host=host)[0] == 403


def test_a_socket_without_the_token_is_refused() -> None:
    assert ask("secret", kind="websocket")[0] == 0


OURS, THEIRS = "http://127.0.0.1:8080", "http://evil.example"


@pytest.mark.parametrize("kind", ["http", "websocket"])
def test_requests_of_pages_of_others_are_refused(kind: str) -> None:
    """Polling requests as well as sockets; a link that leads here is followed."""
    refused = 403 if kind == "http" else 0
    for origin in (THEIRS, "null", "http://127.0.0.1:3000", "http://[", f"{OURS}.evil.example"):
        assert ask(None, kind=kind, origin=origin)[0] == refused
        assert ask("secret", query="token=secret", kind=kind, origin=origin)[0] == refused
    assert ask(None, kind=kind, origin=OURS)[0] == 200
    for site in ("cross-site", "same-site"):
        for mode in ("no-cors", "cors", "websocket", ""):
            assert ask(None, kind=kind, **{"sec-fetch-site": site, "sec-fetch-mode": mode})[0] == refused
    assert ask(None, **{"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"})[0] == 200
    assert ask(None, kind=kind, **{"sec-fetch-site": "same-origin", "sec-fetch-mode": "cors"})[0] == 200


@pytest.mark.parametrize("token", ["", " ", "a b", "a;b", "a\r\nSet-Cookie: x=y", "é", "a&b"])
def test_tokens_that_open_the_server_or_break_a_cookie_are_refused(token: str) -> None:
    with pytest.raises(PokernetsError, match=r"token=.*set another"):
        Access(_inner, token)


def test_no_page_of_others_shows_ours_in_a_frame() -> None:
    for host, status in (("localhost", 200), ("evil.example", 403)):
        [start, _] = answered(Access(_inner, None), request({"host": host}))
        headers = {name.decode(): value.decode() for name, value in start["headers"]}
        assert start["status"] == status
        policy = headers["content-security-policy"].split("; ")
        assert {"default-src 'self'", "script-src 'self' 'unsafe-inline' 'unsafe-eval'"} < set(policy)
        assert "frame-ancestors 'none'" in policy
        assert headers["x-frame-options"] == "DENY"
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


def test_requests_for_another_visitor_are_refused() -> None:
    _, cookies, mine = ask(None)
    for kind, refused in (("http", 403), ("websocket", None)):
        scope = request({"host": "localhost", "cookie": f"{VISITOR}={cookies[VISITOR]}"}, type=kind)
        for whose, status in (({mine}, 200), ({"x"}, refused), ({mine, "x"}, refused), (set(), 200)):
            sent = answered(Access(_inner, None, lambda scope, whose=whose: whose), dict(scope))  # type: ignore[misc]
            assert sent[0].get("status") == status


UPLOAD = "/_nicegui/client/1234/upload/5"


@pytest.mark.parametrize(
    ("path", "length", "status"),
    [
        (UPLOAD, str(MOST_UPLOADED), 200),
        (UPLOAD, str(MOST_UPLOADED + (2 << 20)), 413),
        (UPLOAD, "9" * 5000, 413),
        (UPLOAD, "-1", 413),
        (UPLOAD, "²", 413),
        ("/_nicegui_ws/socket.io/", str(2 << 20), 413),
        ("/", "1000", 200),
    ],
)
def test_bodies_are_refused_by_their_declared_size(path: str, length: str, status: int) -> None:
    scope = request({"host": "localhost", "content-length": length}, method="POST", path=path)
    assert answered(Access(_inner, None), scope)[0]["status"] == status


def test_a_body_without_a_declared_size_is_refused() -> None:
    scope = request({"host": "localhost", "transfer-encoding": "chunked"}, method="POST", path=UPLOAD)
    assert answered(Access(_inner, None), scope)[0]["status"] == 411


def test_token_comes_in_the_address_and_stays_in_a_cookie() -> None:
    assert ask("secret", host="far.example")[0] == 403
    assert ask("secret", query="token=wrong")[0] == 403
    status, cookies, _ = ask("secret", host="far.example", query="token=secret")
    assert status == 200
    assert cookies[TOKEN] == "secret"
    assert ask("secret", cookie=f"{TOKEN}=secret")[0] == 200
    assert ask("secret", cookie=f"{TOKEN}=\xe9\xff; =;;")[0] == 403


def test_browser_is_recognised_by_its_cookie() -> None:
    _, cookies, visitor = ask(None)
    assert ask(None, cookie=f"{VISITOR}={cookies[VISITOR]}")[1:] == ({}, visitor)
    _, others, other = ask(None)
    assert others[VISITOR] != cookies[VISITOR]
    assert other != visitor
    assert ask(None, cookie=f"{VISITOR}=short")[2] not in (visitor, other)
    assert cookies[VISITOR] not in visitor


def test_cookies_of_other_servers_of_this_machine_do_not_matter() -> None:
    _, cookies, visitor = ask(None)
    mine = f"{VISITOR}={cookies[VISITOR]}"
    for others in ('prefs={"theme":"dark"}', "a b", "=", "n[0]=1", "caf\xe9=\xff"):
        assert ask(None, cookie=f"{others}; {mine}")[1:] == ({}, visitor)
        assert ask(None, cookie=f"{mine};{others}")[1:] == ({}, visitor)
