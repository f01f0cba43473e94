"""Elements that pages share: HTML of our own, tabs, and the unit of amounts."""

from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any

from nicegui import ui

Fill = Callable[[str], Awaitable[None]]
"""Fills a page for a visitor, given by a unique name."""
Needs = Callable[["Future[Any]"], None]
"""Ends the server with the error of a future, if it comes to one."""
_COOKIE = "pokernets_unit"
_CHIPS, _BIG_BLINDS = "chips", "bb"
_KEEP = f"document.cookie = '{_COOKIE}=%s; path=/; max-age=31536000; samesite=lax'"


def html(classes: str = "") -> ui.html:
    """An element for HTML that we have made, all text of others in it escaped."""
    return ui.html("", sanitize=False).classes(classes)


def row(label: str = "") -> ui.element:
    """A row of elements, by its `label` for screen readers."""
    return ui.element("div").classes("line").props(f'role=group aria-label="{label}"' if label else "")


def tabs(*names: str, look: str = "align=justify", keep_alive: bool = True) -> tuple[ui.tabs, list[ui.tab_panel]]:
    """A row of tabs, the first of them open, and the panel of each."""
    with ui.tabs().props(f"dense {look}") as bar:
        found = [ui.tab(name) for name in names]
    with ui.tab_panels(bar, value=found[0], animated=False, keep_alive=keep_alive).classes("panels"):
        return bar, [ui.tab_panel(tab) for tab in found]


def crumbs(place: ui.element, names: Sequence[str], go: Callable[[int], object]) -> None:
    """The actions so far; a click on one goes back to where so many had been taken."""
    place.clear()
    with place:
        for number, name in enumerate(("Start", *names)):
            current = 'aria-current="step"' if number == len(names) else ""
            ui.button(name, on_click=partial(go, number)).props(f"flat dense no-caps {current}")


def choice(name: str, colour: str, go: Callable[[], object]) -> None:
    """A button for an action that can be taken."""
    button = ui.button(name, color=None, on_click=go).props("no-caps unelevated")
    button.classes("choice").style(f"--choice: {colour}")


class Unit(ui.toggle):
    """A page's switch of the unit of amounts, chips or big blinds, which others follow (`add`); a cookie keeps it."""

    def __init__(self) -> None:
        self._unit = _BIG_BLINDS if _kept() == _BIG_BLINDS else _CHIPS
        self._shown: list[tuple[ui.element, Callable[[], object]]] = []
        super().__init__([_CHIPS, _BIG_BLINDS], value=self._unit, on_change=lambda event: self.choose(event.value))
        self.props('dense no-caps unelevated aria-label="Unit of amounts"').classes("unit")

    def of(self, big_blind: int) -> int | None:
        """`big_blind` where amounts are shown in big blinds, else None, as `words.chips` takes it."""
        return big_blind if self._unit == _BIG_BLINDS else None

    def add(self, place: ui.element, show: Callable[[], object]) -> None:
        """Calls `show` after a change, as long as `place` is on the page."""
        self._shown.append((place, show))

    def choose(self, unit: object) -> None:
        self._unit = _BIG_BLINDS if unit == _BIG_BLINDS else _CHIPS
        ui.run_javascript(_KEEP % self._unit)
        self._shown = [(place, show) for place, show in self._shown if not place.is_deleted]
        for _, show in self._shown:
            show()


def _kept() -> str | None:
    try:
        return ui.context.client.request.cookies.get(_COOKIE)
    except RuntimeError:  # a page that no browser has asked for
        return None
