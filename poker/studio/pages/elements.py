"""Elements that pages share: our own HTML, tabs, and the unit of amounts."""

import json
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from functools import partial
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from poker.run.errors import PokernetsError

Fill = Callable[[str], Awaitable[None]]
"""Function that fills a page for a visitor, given by a unique name."""
Needs = Callable[["Future[Any]"], None]
"""Function that ends the server with the error of a future, if the future fails."""
_COOKIE = "pokernets_unit"
_MOST_WORDS = 100
"""Most steps of a walk that a browser may send."""
_CHIPS, _BIG_BLINDS = "chips", "bb"
_KEEP = "document.cookie = '%s=%s; path=/; max-age=31536000; samesite=lax'"
_LISTING = {
    "header": """<q-tr :props="props"><q-th v-for="col in props.cols" :key="col.name" :props="props" tabindex="0"
        @keydown.enter="props.sort(col)">{{ col.label }}</q-th></q-tr>""",
    "body": """<q-tr :props="props" tabindex="0" class="cursor-pointer" @click="$parent.$emit('open', props.key)"
        @keydown.enter="$parent.$emit('open', props.key)">
        <q-td v-for="col in props.cols" :key="col.name" :props="props"><span v-html="col.value"></span></q-td>
        </q-tr>""",
}
"""Vue templates of the rows of a listing."""


def html(classes: str = "") -> ui.html:
    """Make an element for HTML made by this program, in which all text from elsewhere is escaped."""
    return ui.html("", sanitize=False).classes(classes)


@contextmanager
def alerts() -> Iterator[None]:
    """Write errors of the block that the visitor can mend into the page."""
    try:
        yield
    except (PokernetsError, OSError) as error:
        ui.label(str(error)).props("role=alert")


@contextmanager
def notices() -> Iterator[None]:
    """Show errors of the block that the visitor can mend for a few seconds."""
    try:
        yield
    except (PokernetsError, OSError) as error:
        ui.notify(str(error), type="warning")


def row(label: str = "") -> ui.element:
    """Make a row of elements, with a `label` for screen readers."""
    return ui.element("div").classes("line").props(f'role=group aria-label="{label}"' if label else "")


def tabs(*names: str, look: str = "align=justify", keep_alive: bool = True) -> tuple[ui.tabs, list[ui.tab_panel]]:
    """Make a row of tabs, with the first open, and a panel for each."""
    with ui.tabs().props(f"dense {look}") as bar:
        made = [ui.tab(name) for name in names]
    with ui.tab_panels(bar, value=names[0], animated=False, keep_alive=keep_alive).classes("panels"):
        return bar, [ui.tab_panel(tab) for tab in made]


def listing(
    columns: Mapping[str, str], numbers: Sequence[str], page: dict[str, Any], opened: Callable[[Any], object]
) -> ui.table:
    """Make a table whose columns sort and whose rows open, by mouse and by keyboard.

    Args:
        columns: headings by name of the column. Rows have the HTML of these cells, and a `key`.
        numbers: names of the columns of numbers.
        page: Quasar's `pagination`.
        opened: called with the key of a row that is clicked.
    """
    made = ui.table(
        columns=[
            {"name": name, "label": label, "field": name, "sortable": True}
            | {"align": "right" if name in numbers else "left"}
            for name, label in columns.items()
        ],
        rows=[],
        row_key="key",
        pagination=page,
    )
    made.props(
        f"flat dense binary-state-sort column-sort-order=da rows-per-page-options=[{page['rowsPerPage']}]"
    ).classes("listing")
    for slot, template in _LISTING.items():
        made.add_slot(slot, template)
    return made.on("open", lambda event: opened(event.args))


def crumbs(place: ui.element, names: Sequence[str], go: Callable[[int], object]) -> None:
    """Show the actions so far; a click on one goes back to the state after it.

    Args:
        place: element that is filled.
        names: names of the actions.
        go: called with the number of actions before the state.
    """
    place.clear()
    with place:
        for number, name in enumerate(("Start", *names)):
            current = 'aria-current="step"' if number == len(names) else ""
            ui.button(name, on_click=partial(go, number)).props(f"flat dense no-caps {current}")


class Trail:
    """The browser's history of a walk through a tree.

    Args:
        place: element that receives the events.
        kind: name of the kind of walk.
        go: called with the words of a step when the visitor goes back or forward.
    """

    def __init__(self, place: ui.element, kind: str, go: Callable[[tuple[str, ...]], object]) -> None:
        """Register the events."""
        self._kind, self._go = kind, go
        place.props(f"data-walk={kind}").on("walk", self._moved, js_handler="(e) => emit(e.detail)")

    def push(self, words: Sequence[str]) -> None:
        """Add a step to the history."""
        ui.run_javascript(f"pushWalk({json.dumps([self._kind, *words])})")

    def restore(self) -> None:
        """Go to the last step, after the page was reopened."""
        ui.run_javascript("tellWalk()")

    def _moved(self, event: GenericEventArguments) -> object:
        words = event.args if isinstance(event.args, list) else []
        return self._go(tuple(map(str, words[:_MOST_WORDS])))


def choice(name: str, colour: str, go: Callable[[], object]) -> None:
    """Make a button for an action."""
    button = ui.button(name, color=None, on_click=go).props("no-caps unelevated")
    button.classes("choice").style(f"--choice: {colour}")


class UnitSwitch(ui.toggle):
    """A switch of the unit of amounts, chips or big blinds; a cookie stores the choice."""

    def __init__(self) -> None:
        """Read the cookie and make the switch."""
        self._unit = _BIG_BLINDS if remembered(_COOKIE) == _BIG_BLINDS else _CHIPS
        self._places: list[tuple[ui.element, Callable[[], object]]] = []
        super().__init__([_CHIPS, _BIG_BLINDS], value=self._unit, on_change=lambda event: self.choose(event.value))
        self.props('dense no-caps unelevated aria-label="Unit of amounts"').classes("unit")

    def of(self, big_blind: int) -> int | None:
        """Return `big_blind` if amounts are shown in big blinds, otherwise None, as `words.chips` expects it."""
        return big_blind if self._unit == _BIG_BLINDS else None

    def add(self, place: ui.element, show: Callable[[], object]) -> None:
        """Call `show` after each change, as long as `place` is on the page."""
        self._places.append((place, show))

    def choose(self, unit: object) -> None:
        """Set the unit, store it in the cookie, and update the page."""
        self._unit = _BIG_BLINDS if unit == _BIG_BLINDS else _CHIPS
        remember(_COOKIE, self._unit)
        self._places = [(place, show) for place, show in self._places if not place.is_deleted]
        for _, show in self._places:
            show()


def remember(cookie: str, value: str) -> None:
    """Store a choice in a cookie of the browser for a year."""
    ui.run_javascript(_KEEP % (cookie, value))


def remembered(cookie: str) -> str | None:
    """Return the choice stored in the browser's cookie; None if there is none."""
    try:
        return ui.context.client.request.cookies.get(cookie)
    except RuntimeError:  # a page without a browser's request
        return None
