"""The server, and what all pages have in common: header with the other pages, light and dark, styles."""

import asyncio
import socket
import sys
import threading
import warnings
import webbrowser
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import cycle
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import run, ui

from poker.errors import PokernetsError
from poker.table.pages import Fail, Fill, Page
from poker.table.server.access import Access
from poker.table.server.loading import loaded
from poker.table.server.owners import guard_events, owners

_STYLES = ("style.css", "explorer.css")
_PATIENCE = 30
"""Seconds for which a browser may be silent, as on a busy machine, before its socket and then its page are given up."""
_LEAVING = 5
"""Seconds for browsers to leave when the server ends."""
_THREADS = 200
"""Calls that pages wait for at a time, most of them in a queue."""
_AS_SYSTEM = "as the system has it"


def serve(pages: Sequence[Page], listening: socket.socket, token: str | None, url: str, *, show: bool) -> None:
    """Serve `pages` until the process is interrupted, or a page ends it with an error."""
    application = FastAPI(openapi_url=None)
    config = uvicorn.Config(
        Access(application, token, owners),
        log_level="warning",
        ws_max_size=1 << 20,
        ws_ping_timeout=_PATIENCE,
        timeout_graceful_shutdown=_LEAVING,
    )
    server, errors = uvicorn.Server(config), list[BaseException]()

    def fail(error: BaseException) -> None:
        errors.append(error)
        server.should_exit = True

    for style in _STYLES:
        ui.add_css(Path(__file__).parents[1] / style, shared=True)
    made = [Future[Fill]() for _ in pages]
    for page, fill in zip(pages, made, strict=True):
        _add(page, pages, fill)
    ui.run_with(
        application,
        title="pokernets",
        language="en-GB",
        dark=None,
        show_welcome_message=False,
        reconnect_timeout=_PATIENCE,
    )

    def tell() -> None:
        print(f"serving at {url} (Ctrl+C ends it)", file=sys.stderr, flush=True)
        threading.Thread(target=_make, args=(pages, made, fail), daemon=True, name="pages").start()
        if show:
            webbrowser.open(url)

    nicegui_app.on_startup(tell)
    guard_events()
    run.thread_pool = ThreadPoolExecutor(_THREADS, "page")
    # at the start NiceGUI looks at all objects there are, at deprecated ones of torch too
    warnings.filterwarnings("ignore", category=FutureWarning, module="nicegui")
    asyncio.run(server.serve(sockets=[listening]))
    if errors:
        raise errors[0]


def _make(pages: Sequence[Page], made: "Sequence[Future[Fill]]", fail: Fail) -> None:
    """Make the functions that fill the pages, while these are served already."""
    for page, fill in zip(pages, made, strict=True):
        try:
            fill.set_result(page.make(fail))
        except Exception as error:
            fill.set_exception(error)
            fail(error)


def _add(page: Page, pages: Sequence[Page], made: "Future[Fill]") -> None:
    @ui.page(page.path, title=f"{page.title} - pokernets")
    async def show() -> None:
        _header(page, pages)
        with ui.element("div").classes("page"):
            ui.html(page.title, sanitize=False, tag="h1").classes("sr-only")
            await ui.context.client.connected()
            if ui.context.client.has_socket_connection:  # else nobody came for the page
                try:
                    fill = await loaded(made, "the page")
                except PokernetsError as error:  # with which the server ends
                    ui.label(str(error)).props("role=alert")
                else:
                    await fill(visitor())


def visitor() -> str:
    """The visitor who has opened the page that is being filled."""
    request = ui.context.client.request
    assert request is not None
    return str(request.state.visitor)


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
