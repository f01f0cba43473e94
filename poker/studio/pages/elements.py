"""Elements that pages share: HTML of our own, tabs, and the unit of amounts."""

import json
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

Fill = Callable[[str], Awaitable[None]]
"""Fills a page for a visitor, given by a unique name."""
Needs = Callable[["Future[Any]"], None]
"""Ends the server with the error of a future, if it comes to one."""
_COOKIE = "pokernets_unit"
_MOST_WORDS = 100
"""Steps of a walk that a browser may tell."""
_CHIPS, _BIG_BLINDS = "chips", "bb"
_KEEP = "document.cookie = '%s=%s; path=/; max-age=31536000; samesite=lax'"


def html(classes: str = "") -> ui.html:
    """An element for HTML that we have made, all text of others in it escaped."""
    return ui.html("", sanitize=False).classes(classes)


def row(label: str = "") -> ui.element:
    """A row of elements, by its `label` for screen readers."""
    return ui.element("div").classes("line").props(f'role=group aria-label="{label}"' if label else "")


def tabs(*names: str, look: str = "align=justify", keep_alive: bool = True) -> tuple[ui.tabs, list[ui.tab_panel]]:
    """A row of tabs, the first of them open, and the panel of each."""
    with ui.tabs().props(f"dense {look}") as bar:
        made = [ui.tab(name) for name in names]
    with ui.tab_panels(bar, value=made[0], animated=False, keep_alive=keep_alive).classes("panels"):
        return bar, [ui.tab_panel(tab) for tab in made]


def crumbs(place: ui.element, names: Sequence[str], go: Callable[[int], object]) -> None:
    """The actions so far; a click on one goes back to where so many had been taken."""
    place.clear()
    with place:
        for number, name in enumerate(("Start", *names)):
            current = 'aria-current="step"' if number == len(names) else ""
            ui.button(name, on_click=partial(go, number)).props(f"flat dense no-caps {current}")


class Trail:
    """The browser's history of a walk of this `kind`: back and forward call `go` with the words of the step, and a page
    that is opened anew can `restore` the last."""

    def __init__(self, place: ui.element, kind: str, go: Callable[[tuple[str, ...]], object]) -> None:
        self._kind, self._go = kind, go
        place.props(f"data-walk={kind}").on("walk", self._moved, js_handler="(e) => emit(e.detail)")

    def push(self, words: Sequence[str]) -> None:
        """Note a step that was taken."""
        ui.run_javascript(f"pushWalk({json.dumps([self._kind, *words])})")

    def restore(self) -> None:
        ui.run_javascript("tellWalk()")

    def _moved(self, event: GenericEventArguments) -> object:
        words = event.args if isinstance(event.args, list) else []
        return self._go(tuple(map(str, words[:_MOST_WORDS])))


def choice(name: str, colour: str, go: Callable[[], object]) -> None:
    """A button for an action that can be taken."""
    button = ui.button(name, color=None, on_click=go).props("no-caps unelevated")
    button.classes("choice").style(f"--choice: {colour}")


class UnitSwitch(ui.toggle):
    """A page's switch of the unit of amounts, chips or big blinds, which others follow (`add`); a cookie keeps it."""

    def __init__(self) -> None:
        self._unit = _BIG_BLINDS if remembered(_COOKIE) == _BIG_BLINDS else _CHIPS
        self._places: list[tuple[ui.element, Callable[[], object]]] = []
        super().__init__([_CHIPS, _BIG_BLINDS], value=self._unit, on_change=lambda event: self.choose(event.value))
        self.props('dense no-caps unelevated aria-label="Unit of amounts"').classes("unit")

    def of(self, big_blind: int) -> int | None:
        """`big_blind` where amounts are shown in big blinds, else None, as `words.chips` takes it."""
        return big_blind if self._unit == _BIG_BLINDS else None

    def add(self, place: ui.element, show: Callable[[], object]) -> None:
        """Calls `show` after a change, as long as `place` is on the page."""
        self._places.append((place, show))

    def choose(self, unit: object) -> None:
        self._unit = _BIG_BLINDS if unit == _BIG_BLINDS else _CHIPS
        remember(_COOKIE, self._unit)
        self._places = [(place, show) for place, show in self._places if not place.is_deleted]
        for _, show in self._places:
            show()


def remember(cookie: str, value: str) -> None:
    """Keep a choice in a cookie of the browser for a year."""
    ui.run_javascript(_KEEP % (cookie, value))


def remembered(cookie: str) -> str | None:
    """The choice that the browser's cookie keeps."""
    try:
        return ui.context.client.request.cookies.get(cookie)
    except RuntimeError:  # a page that no browser has asked for
        return None
