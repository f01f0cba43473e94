"""Owners of pages, sockets and uploads: the visitor with whose cookie the page was opened.

NiceGUI knows a page by an id that requests and events name; without a check, anyone who names it could act on it.
"""

from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qs

from nicegui import Client, core

from poker.table.server.access import Scope

Handler = Callable[..., Any]
_PAGES = "/_nicegui/client/"


def owners(scope: Scope) -> set[str]:
    """The visitors who own the socket and the pages that a request names."""
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    pages = query.get("client_id", [])
    path = str(scope.get("path", ""))
    if path.startswith(_PAGES):
        pages = [*pages, path.removeprefix(_PAGES).partition("/")[0]]
    sockets = (_of_socket(core.sio.environ.get(socket)) for socket in query.get("sid", []))
    return {found for found in (*sockets, *map(_of_page, pages)) if found is not None}


def guard_events() -> None:
    """Let a socket tell a page no event unless both belong to one visitor."""
    handlers: dict[str, Handler] = core.sio.handlers["/"]
    for name in handlers.keys() - {"connect", "disconnect"}:  # `connect` names its page in the query
        core.sio.on(name, _guarded(handlers[name]))


def _guarded(handler: Handler) -> Handler:
    async def told(sid: str, message: Any) -> Any:
        page = message.get("client_id") if isinstance(message, dict) else None
        if not isinstance(page, str) or _of_page(page) != _of_socket(core.sio.get_environ(sid)):
            return None
        found = handler(sid, message)
        return await found if hasattr(found, "__await__") else found

    return told


def _of_socket(environment: dict[str, Any] | None) -> str | None:
    return None if environment is None else str(environment["asgi.scope"]["state"]["visitor"])


def _of_page(page: str) -> str | None:
    client = Client.instances.get(page)
    return None if client is None else str(client.request.state.visitor)
