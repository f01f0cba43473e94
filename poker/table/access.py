"""Who may open the pages, and which browser is asking: one ASGI layer before everything, sockets included.

Every browser gets a random cookie, by which its visitor is known. Served to other machines, the pages want a token: in
the address for the first time, after that in a cookie. On this machine only the names of this machine are answered, so
that a site of others that gives its name our address does not get in; nor may the page of another site open a socket.
"""

import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

VISITOR, TOKEN = "pokernets_visitor", "pokernets_token"
"""Names of the cookies."""
LOCAL = ("127.0.0.1", "localhost", "::1")


class Access:
    """`app` behind the check. With `token` None only requests to this machine by its own names pass."""

    def __init__(self, app: App, token: str | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        cookies = _cookies(headers.get("cookie", ""))
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        host, origin = headers.get("host", ""), headers.get("origin", "")
        elsewhere = scope["type"] == "websocket" and bool(origin) and urlsplit(origin).netloc != host
        if elsewhere or not self._admits(host, cookies.get(TOKEN, ""), asked):
            await _refuse(scope, send, "" if self._token is None else " The address that the server printed has it.")
            return
        fresh = {}
        visitor = cookies.get(VISITOR, "")
        if len(visitor) < 32:
            fresh[VISITOR] = visitor = secrets.token_hex(16)
        if self._token is not None and asked:
            fresh[TOKEN] = self._token
        scope.setdefault("state", {})["visitor"] = hashlib.sha256(visitor.encode()).hexdigest()[:16]

        async def send_with_cookies(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                set_cookies = [
                    (b"set-cookie", f"{name}={value}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax".encode())
                    for name, value in fresh.items()
                ]
                message["headers"] = [*message.get("headers", []), *set_cookies]
            await send(message)

        await self._app(scope, receive, send_with_cookies)

    def _admits(self, host: str, *tokens: str) -> bool:
        if self._token is None:
            return host.rsplit(":", 1)[0].strip("[]") in LOCAL
        return any(hmac.compare_digest(token.encode(), self._token.encode()) for token in tokens)


async def _refuse(scope: Scope, send: Send, how: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    await send({"type": "http.response.start", "status": 403, "headers": [(b"content-type", b"text/plain")]})
    await send({"type": "http.response.body", "body": f"This server does not know you.{how}\n".encode()})


def _cookies(header: str) -> dict[str, str]:
    """By name. Other servers of this machine have theirs in the same header, whatever they may hold."""
    parts = (part.partition("=") for part in header.split(";"))
    return {name.strip(): value.strip() for name, _, value in parts}
