"""Access control and identification of browsers: one ASGI layer in front of everything, including sockets.

Every browser gets a random cookie that identifies its visitor. Pages served to other machines need a token, first in
the address and then in a cookie. Without a token, only requests to this machine's own names are answered, which keeps
out sites that point their name at our address (DNS rebinding). A page of another site may link here, but may not send
other requests or show a page in a frame. No visitor may use another visitor's pages. A request whose body is too large,
or has no declared size, is refused before the body is read.

`state.visitor` is the visitor whose pages and files a request may use.
"""

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import HTTPConnection
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocketClose

from poker.run.errors import PokernetsError

VISITOR, TOKEN = "pokernets_visitor", "pokernets_token"
"""Names of the cookies."""
LOCAL = ("127.0.0.1", "localhost", "::1")
_LOCAL_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:[0-9]{1,5})?")
MOST_UPLOADED = 20 << 20
"""Largest size of an uploaded file in bytes."""
_MOST_SENT = 1 << 20
"""Largest size in bytes of any other request, and of the rest of an upload."""
_UPLOAD = re.compile(r"/_nicegui/client/[^/]+/upload/[^/]+")
_IN_A_COOKIE = re.compile(r"[A-Za-z0-9._~-]+")
"""Characters that need no escaping in an address or a cookie."""
_HEADERS = {
    "content-security-policy": "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval';"
    " style-src 'self' 'unsafe-inline'; img-src 'self' data:; object-src 'none';"
    " frame-ancestors 'none'; base-uri 'self'; form-action 'self'",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
}
"""Headers of every answer: no other site may frame our pages or learn an address, which may contain the token.

Scripts, styles and pictures come from this server alone. NiceGUI's pages need scripts in the page and `eval`.
"""


def check_token(token: str | None) -> None:
    """Check a token.

    Raises:
        PokernetsError: the token is empty, or would be escaped in an address or a cookie.
    """
    if token is not None and not _IN_A_COOKIE.fullmatch(token):
        problem = "has letters other than A-Z a-z 0-9 . _ ~ -" if token else "is empty and would let everybody in"
        raise PokernetsError(f"token={token!r} {problem}: set another with token=TEXT, or none for a random one")


class Access:
    """The ASGI application behind the checks.

    Args:
        app: the application.
        token: the token; None lets only requests to this machine by its own names pass.
        owners: returns the visitors who own the objects that a request names.
    """

    def __init__(self, app: ASGIApp, token: str | None, owners: Callable[[Scope], set[str]] = lambda _: set()) -> None:
        """Check the token.

        Raises:
            PokernetsError: it is invalid.
        """
        check_token(token)
        self._app, self._token, self._owners = app, token, owners

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on to the application, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        request, fresh = HTTPConnection(scope), dict[str, str]()
        visitor = request.cookies.get(VISITOR, "")
        if len(visitor) < 32:
            fresh[VISITOR] = visitor = secrets.token_hex(16)
        request.state.visitor = hashlib.sha256(visitor.encode()).hexdigest()[:16]
        if refusal := self._refusal(request):
            answer = PlainTextResponse(f"{refusal[1]}\n", refusal[0], {**_HEADERS, "connection": "close"})
            await (WebSocketClose(1008) if scope["type"] == "websocket" else answer)(scope, receive, send)
            return
        if self._token is not None and request.query_params.get("token"):
            fresh[TOKEN] = self._token

        async def send_with_headers(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.accept"):
                message.setdefault("headers", [])
                headers = MutableHeaders(scope=message)
                headers.update(_HEADERS)
                for name, value in fresh.items():
                    headers.append("set-cookie", f"{name}={value}; Path=/; Max-Age=31536000; HttpOnly; SameSite=Lax")
            await send(message)

        await self._app(scope, receive, send_with_headers)

    def _refusal(self, request: HTTPConnection) -> tuple[int, str] | None:
        """Return the status and the reason if the request is refused."""
        headers = request.headers
        if _from_elsewhere(headers) or not self._admits(request):
            how = "" if self._token is None else " Use the address that the server printed."
            return 403, f"Access denied.{how}"
        if self._owners(request.scope) - {request.state.visitor}:
            return 403, "This belongs to another visitor."
        if "transfer-encoding" in headers:
            return 411, "A request must declare its size."
        length = headers.get("content-length", "0")
        most = _MOST_SENT + MOST_UPLOADED * bool(_UPLOAD.fullmatch(request.scope.get("path", "")))
        if not length.isdecimal() or len(length) > 18 or int(length) > most:
            return 413, f"A file has at most {MOST_UPLOADED >> 20} MiB, another request {_MOST_SENT >> 20} MiB."
        return None

    def _admits(self, request: HTTPConnection) -> bool:
        if self._token is None:
            return bool(_LOCAL_HOST.fullmatch(request.headers.get("host", "")))
        tokens = request.cookies.get(TOKEN, ""), request.query_params.get("token", "")
        return any(hmac.compare_digest(token.encode(), self._token.encode()) for token in tokens)


def _from_elsewhere(headers: Headers) -> bool:
    """Return whether a page of another site makes the request, other than by a link to one of our pages."""
    origin = headers.get("origin", "")
    if origin and origin.partition("://")[2] != headers.get("host", ""):
        return True
    is_foreign = headers.get("sec-fetch-site", "") in ("cross-site", "same-site")
    return is_foreign and headers.get("sec-fetch-mode") != "navigate"
