"""Who is let in: nobody by another name than this machine's, with a token nobody without it."""

import asyncio
from typing import Any

import pytest

from poker.table.access import TOKEN, VISITOR, Access, Message, Receive, Scope, Send


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
    scope = {
        "type": kind,
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers.items() if value],
        "query_string": query.encode(),
    }
    sent: list[Any] = []

    async def receive() -> Message:
        return {"type": "http.request"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(Access(_inner, token)(scope, receive, send))
    if sent[0]["type"] == "websocket.close":
        return 0, {}, ""
    cookies = [value.decode().split(";")[0] for name, value in sent[0]["headers"] if name == b"set-cookie"]
    return sent[0]["status"], dict(one.split("=", 1) for one in cookies), sent[1]["body"].decode()


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost", "localhost:1", "[::1]:8080"])
def test_this_machine_needs_no_token(host: str) -> None:
    assert ask(None, host=host)[0] == 200


@pytest.mark.parametrize("host", ["evil.example:8080", "127.0.0.1.evil.example", "", "é"])
def test_names_of_others_are_refused(host: str) -> None:
    assert ask(None, host=host)[0] == 403


def test_sockets_of_pages_of_others_are_refused() -> None:
    assert ask(None, kind="websocket", origin="http://evil.example")[0] == 0
    assert ask(None, kind="websocket", origin="http://127.0.0.1:8080")[0] == 200
    assert ask("secret", kind="websocket")[0] == 0


def test_token_comes_in_the_address_and_stays_in_a_cookie() -> None:
    assert ask("secret", host="far.example")[0] == 403
    assert ask("secret", query="token=wrong")[0] == 403
    status, cookies, _ = ask("secret", host="far.example", query="token=secret")
    assert status == 200
    assert cookies[TOKEN] == "secret"
    assert ask("secret", cookie=f"{TOKEN}=secret")[0] == 200
    assert ask("secret", cookie=f"{TOKEN}=\xe9\xff; =;;")[0] == 403


def test_browser_is_known_by_its_cookie() -> None:
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
