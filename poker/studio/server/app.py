"""The server, and the common parts of all pages: header, light and dark mode, notices, and owners.

NiceGUI identifies a page by an id that requests and events contain. Without a check, anyone who knows the id could
control the page. So a page, socket or upload belongs to its owner alone, the visitor with whose cookie the page was
opened.
"""

import asyncio
import os
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import uvicorn
from fastapi import FastAPI
from nicegui import Client, core, run, ui
from nicegui import app as nicegui_app
from starlette.requests import HTTPConnection
from starlette.types import Scope

from poker.studio.pages.elements import Fill, alerts
from poker.studio.pages.pages import Page
from poker.studio.server.access import Access

T = TypeVar("T")

_STYLES, _SCRIPT = ("style.css", "explorer.css"), "explorer.js"
_PATIENCE = 30
"""Seconds for which a browser may be silent, as on a busy machine, before its socket and then its page are closed."""
_LEAVING = 5
"""Seconds for browsers to disconnect when the server ends; a second later the process exits in any case."""
_THREADS = 200
"""Most calls that pages wait for at the same time, mostly for a process of agents."""
_INTERRUPTED = 130
"""Exit status after Ctrl+C."""
_AS_SYSTEM = "system"
_PAGES = "/_nicegui/client/"


def serve(pages: Sequence[Page], listening: socket.socket, token: str | None, url: str, *, show: bool) -> None:
    """Serve pages until the process is interrupted or a page reports an error.

    Args:
        listening: socket that listens.
        token: token that browsers must know; None for none.
        url: address that is printed.
        show: whether to open the browser.

    Raises:
        PokernetsError: as reported by a page.
    """
    application = FastAPI(openapi_url=None)
    config = uvicorn.Config(
        Access(application, token, owners),
        log_level="warning",
        ws_max_size=1 << 20,
        ws_ping_timeout=_PATIENCE,
        timeout_graceful_shutdown=_LEAVING,
    )
    server, errors = _Server(config), list[BaseException]()

    def needs(future: "Future[Any]") -> None:
        if error := future.exception():
            errors.append(error)
            server.should_exit = True

    folder = Path(__file__).parents[1] / "pages"
    for style in _STYLES:
        ui.add_css(folder / style, shared=True)
    ui.add_head_html(f"<script>{(folder / _SCRIPT).read_text(encoding='utf-8')}</script>", shared=True)
    made = [Future[Fill]() for _ in pages]
    for page, fill in zip(pages, made, strict=True):
        fill.add_done_callback(needs)
        _add(page, pages, fill)
    ui.run_with(
        application,
        title="pokernets",
        language="en-GB",
        dark=None,
        show_welcome_message=False,
        reconnect_timeout=_PATIENCE,
    )

    def make() -> None:
        for page, fill in zip(pages, made, strict=True):
            try:
                fill.set_result(page.make(lambda future: future.add_done_callback(needs)))
            except Exception as error:
                fill.set_exception(error)

    def started() -> None:
        print(f"serving at {url} (Ctrl+C to stop)", file=sys.stderr, flush=True)
        threading.Thread(target=make, daemon=True, name="pages").start()
        if show:
            webbrowser.open(url)

    nicegui_app.on_startup(started)
    _guard_events()
    run.thread_pool = ThreadPoolExecutor(_THREADS, "page")
    # at the start NiceGUI inspects all objects, including deprecated ones of torch
    warnings.filterwarnings("ignore", category=FutureWarning, module="nicegui")
    asyncio.run(server.serve(sockets=[listening]))
    if errors:
        raise errors[0]


class _Server(uvicorn.Server):
    """The uvicorn server; Ctrl+C ends the process even if threads still wait for agents, since games are stored."""

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        end = threading.Timer(_LEAVING + 1, os._exit, (_INTERRUPTED,))
        end.daemon = True
        end.start()
        super().handle_exit(sig, frame)


def _add(page: Page, pages: Sequence[Page], made: "Future[Fill]") -> None:
    @ui.page(page.path, title=f"{page.title} - pokernets")
    async def show() -> None:
        _header(page, pages)
        with ui.element("div").classes("page"):
            ui.html(page.title, sanitize=False, tag="h1").classes("sr-only")
            await ui.context.client.connected()
            if ui.context.client.has_socket_connection:  # otherwise no browser has opened the page
                with alerts():  # the server ends with an error of loading
                    fill = await loaded(made, "the page")
                    await fill(str(ui.context.client.request.state.visitor))


def _header(page: Page, pages: Sequence[Page]) -> None:
    ui.colors(primary="#2b6cb0", secondary="#0f766e")  # 5.4 and 5.5 : 1 with white
    dark = ui.dark_mode(None)
    modes = cycle([(False, "light_mode", "light"), (True, "dark_mode", "dark"), (None, "brightness_auto", _AS_SYSTEM)])

    def turn() -> None:
        dark.value, icon, name = next(modes)
        switch.props(f'icon={icon} aria-label="Colours: {name}"')

    with ui.header().classes("items-center header"):
        ui.label("pokernets").classes("brand")
        with ui.element("nav").props('aria-label="Pages"').classes("links"):
            for other in pages:
                link = ui.link(other.title, other.path).classes("link")
                if other is page:
                    link.props('aria-current="page"')
        ui.space()
        switch = ui.button(on_click=turn).props("flat round color=white icon=brightness_auto")
        switch.props(f'aria-label="Colours: {_AS_SYSTEM}"')


async def loaded(future: "Future[T]", what: str) -> T:
    """Return the result of `future`; until it is done the page shows what is being loaded.

    Args:
        what: name of what is being loaded.
    """
    if not future.done():
        with ui.element("div").props("role=status").classes("status") as notice:
            ui.spinner().props("aria-hidden=true")
            ui.label(f"Loading {what} …")
        try:
            await asyncio.shield(asyncio.wrap_future(future))  # other pages wait for it as well
        finally:
            if not notice.is_deleted:
                notice.delete()
    return future.result()


def owners(scope: Scope) -> set[str]:
    """Return the visitors who own the socket and the pages that a request names."""
    query, path = HTTPConnection(scope).query_params, str(scope.get("path", ""))
    pages = query.getlist("client_id")
    if path.startswith(_PAGES):
        pages.append(path.removeprefix(_PAGES).partition("/")[0])
    sockets = (_of_socket(core.sio.environ.get(socket)) for socket in query.getlist("sid"))
    return {visitor for visitor in (*sockets, *map(_of_page, pages)) if visitor is not None}


def _guard_events() -> None:
    """Let a socket send events to a page only if both belong to the same visitor."""
    handlers: dict[str, Callable[..., Any]] = core.sio.handlers["/"]
    for name in handlers.keys() - {"connect", "disconnect"}:  # `connect` has its page in the query
        core.sio.on(name, _guarded(handlers[name]))


def _guarded(handler: Callable[..., Any]) -> Callable[..., Any]:
    async def told(sid: str, message: Any) -> Any:
        page = message.get("client_id") if isinstance(message, dict) else None
        if not isinstance(page, str) or _of_page(page) != _of_socket(core.sio.get_environ(sid)):
            return None
        result = handler(sid, message)
        return await result if hasattr(result, "__await__") else result

    return told


def _of_socket(environment: dict[str, Any] | None) -> str | None:
    return None if environment is None else str(environment["asgi.scope"]["state"]["visitor"])


def _of_page(page: str) -> str | None:
    client = Client.instances.get(page)
    return None if client is None else str(client.request.state.visitor)
