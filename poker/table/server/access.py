"""Access to the pages, and which browser is asking: one ASGI layer before everything, sockets included.

Every browser gets a random cookie that identifies its visitor. Pages served to other machines need a token: in the
address the first time, then in a cookie. Without a token, only requests to this machine's own names are answered, so
that a site that points its name at our address does not get in (DNS rebinding). A page of another site may link here,
but neither send other requests nor show a page in a frame. No visitor may use what belongs to another. A request whose
body is too large, or comes without a declared size, is refused before the body is read.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from poker.errors import PokernetsError

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

VISITOR, TOKEN = "pokernets_visitor", "pokernets_token"
"""Names of the cookies."""
LOCAL = ("127.0.0.1", "localhost", "::1")
MOST_UPLOADED = 20 << 20
"""Most bytes of an uploaded file."""
_MOST_SENT = 1 << 20
"""Most bytes of any other request, and of an upload besides its file."""
_UPLOAD = re.compile(r"/_nicegui/client/[^/]+/upload/[^/]+")
_IN_A_COOKIE = re.compile(r"[A-Za-z0-9._~-]+")
"""Letters that are the same in an address and in a cookie."""
_HEADERS = {
    "content-security-policy": "frame-ancestors 'none'; base-uri 'self'; form-action 'self'; object-src 'none'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
_SENT = [(name.encode(), value.encode()) for name, value in _HEADERS.items()]
"""Headers of every answer: no other site may frame our pages or learn an address, which may hold the token."""


def check_token(token: str | None) -> None:
    """Refuse a token that lets everybody in, or that reads differently in an address and in a cookie."""
    if token is not None and not _IN_A_COOKIE.fullmatch(token):
        problem = "has letters other than A-Z a-z 0-9 . _ ~ -" if token else "is empty and would let everybody in"
        raise PokernetsError(f"token={token!r} {problem}: give another (token=TEXT), or none, and one is made up")


class Access:
    """The ASGI `app` behind the checks. With `token` None only requests to this machine by its own names pass. `owners`
    gives the visitors who own what a request names."""

    def __init__(self, app: App, token: str | None, owners: Callable[[Scope], set[str]] = lambda scope: set()) -> None:
        check_token(token)
        self._app = app
        self._token = token
        self._owners = owners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        cookies = _cookies(headers.get("cookie", ""))
        asked = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        visitor = cookies.get(VISITOR, "")
        fresh = {}
        if len(visitor) < 32:
            fresh[VISITOR] = visitor = secrets.token_hex(16)
        known = scope.setdefault("state", {})["visitor"] = hashlib.sha256(visitor.encode()).hexdigest()[:16]
        if _from_elsewhere(headers) or not self._admits(headers.get("host", ""), cookies.get(TOKEN, ""), asked):
            how = "" if self._token is None else " The address that the server printed has it."
            await _refuse(scope, send, 403, f"This server does not know you.{how}")
            return
        if self._owners(scope) - {known}:
            await _refuse(scope, send, 403, "This belongs to another visitor.")
            return
        if refusal := _refused_size(scope.get("path", ""), headers):
            await _refuse(scope, send, *refusal)
            return
        if self._token is not None and asked:
            fresh[TOKEN] = self._token

        async def send_with_cookies(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                set_cookies = [
                    (b"set-cookie", f"{name}={value}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax".encode())
                    for name, value in fresh.items()
                ]
                message["headers"] = [*message.get("headers", []), *set_cookies, *_SENT]
            await send(message)

        await self._app(scope, receive, send_with_cookies)

    def _admits(self, host: str, *tokens: str) -> bool:
        if self._token is None:
            return host.rsplit(":", 1)[0].strip("[]") in LOCAL
        return any(hmac.compare_digest(token.encode(), self._token.encode()) for token in tokens)


def _from_elsewhere(headers: dict[str, str]) -> bool:
    """Whether a page of another site makes the request, other than by a link to a page of ours."""
    origin = headers.get("origin", "")
    if origin and origin.partition("://")[2] != headers.get("host", ""):
        return True
    is_foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    return is_foreign and headers.get("sec-fetch-mode") != "navigate"


def _refused_size(path: str, headers: dict[str, str]) -> tuple[int, str] | None:
    """Status and reason where the body is too large or does not tell its size."""
    if "transfer-encoding" in headers:
        return 411, "A request must declare its size."
    length = headers.get("content-length", "0")
    most = _MOST_SENT + MOST_UPLOADED * bool(_UPLOAD.fullmatch(path))
    if not length.isdecimal() or len(length) > 18 or int(length) > most:
        return 413, f"A file has at most {MOST_UPLOADED >> 20} MiB, another request {_MOST_SENT >> 20} MiB."
    return None


async def _refuse(scope: Scope, send: Send, status: int, why: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008})
        return
    headers = [(b"content-type", b"text/plain"), (b"connection", b"close"), *_SENT]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": f"{why}\n".encode()})


def _cookies(header: str) -> dict[str, str]:
    """Cookies by name. Those of other servers of this machine are in the same header, whatever they hold."""
    parts = (part.partition("=") for part in header.split(";"))
    return {name.strip(): value.strip() for name, _, value in parts}
