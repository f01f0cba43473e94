"""The server, and what all pages have in common: header with the other pages, light and dark, styles."""

import asyncio
import socket
import sys
import warnings
import webbrowser
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import uvicorn
from fastapi import FastAPI
from nicegui import app as nicegui_app
from nicegui import ui

from poker.table.access import Access
from poker.table.pages import Fill, Page

STYLE = Path(__file__).with_name("style.css")
_AS_SYSTEM = "as the system has it"


def serve(pages: Sequence[Page], server: socket.socket, token: str | None, url: str, *, show: bool) -> None:
    """Until the process is interrupted."""
    application = FastAPI(openapi_url=None)
    ui.add_css(STYLE, shared=True)
    for page in pages:
        _add(page, pages, page.make())
    ui.run_with(application, title="pokernets", language="en-GB", dark=None, show_welcome_message=False)

    def tell() -> None:
        print(f"serving at {url} (Ctrl+C ends it)", file=sys.stderr, flush=True)
        if show:
            webbrowser.open(url)

    nicegui_app.on_startup(tell)
    # at the start NiceGUI looks at all objects there are, at deprecated ones of torch too
    warnings.filterwarnings("ignore", category=FutureWarning, module="nicegui")
    config = uvicorn.Config(Access(application, token), log_level="warning", ws_max_size=1 << 20)
    asyncio.run(uvicorn.Server(config).serve(sockets=[server]))


def _add(page: Page, pages: Sequence[Page], fill: Fill) -> None:
    @ui.page(page.path, title=f"{page.title} - pokernets")
    async def show() -> None:
        _header(page, pages)
        with ui.element("div").classes("page"):
            ui.html(page.title, sanitize=False, tag="h1").classes("sr-only")
            await ui.context.client.connected()
            if ui.context.client.has_socket_connection:  # else nobody came for the page
                await fill(visitor())


def visitor() -> str:
    """Who has opened the page that is being filled."""
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
