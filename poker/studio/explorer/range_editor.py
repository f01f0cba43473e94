"""An editor of a range: a grid that is painted by mouse, finger or keys, and the same range as text."""

from collections.abc import Callable
from functools import partial

import numpy as np
from nicegui import ui
from nicegui.events import GenericEventArguments

from poker.formats.ranges import Weights, parse_range, range_text
from poker.game.cards import PREFLOP_CLASS
from poker.report.grids import class_shares
from poker.run.errors import PokernetsError
from poker.studio.explorer.cells import MOVE_FOCUS, Cell, class_grid, filled
from poker.studio.pages.elements import html, row

_BRUSHES = {1.0: "100%", 0.75: "75%", 0.5: "50%", 0.25: "25%", 0.0: "out"}


class RangeEditor:
    """Editor of a range.

    Args:
        changed: called after every change, by text or by painting.
    """

    def __init__(self, name: str, changed: Callable[[], None]) -> None:
        """Build the elements of the editor."""
        self._name = name
        self._changed = changed
        self._weights: Weights = np.zeros(len(PREFLOP_CLASS), np.float32)
        """The last valid range."""
        with ui.element("div").classes("range-editor").props('data-brush="1.0"') as self._box:
            self._text = ui.textarea(f"{name}'s range", on_change=self._typed)
            self._text.without_auto_validation().props("outlined dense autogrow debounce=400").classes("wide")
            self._grid = html("paint")
            self._grid.on("pointerdown", js_handler="(e) => beginPainting(e)")
            self._grid.on("pointermove", js_handler="(e) => goOnPainting(e)")
            self._grid.on("keydown", js_handler=MOVE_FOCUS)
            self._grid.on("keydown", self._painted, js_handler="(e) => paintByKey(e, emit)")
            for event in ("pointerup", "pointerleave", "pointercancel"):
                self._grid.on(event, self._painted, js_handler="(e) => endPainting(e, emit)")
            with row():
                brush = ui.toggle(_BRUSHES, value=1.0).props('dense no-caps aria-label="Weight to draw with"')
                brush.on_value_change(lambda event: self._box.props(f'data-brush="{event.value}"'))
                ui.button("All", on_click=partial(self._text.set_value, "random")).props("flat dense no-caps")
                ui.button("None", on_click=partial(self._text.set_value, "")).props("flat dense no-caps")
                self._count = ui.label().classes("quiet")
        self._show()

    @property
    def text(self) -> str:
        """The range as text, which may be invalid."""
        return str(self._text.value or "")

    @text.setter
    def text(self, text: str) -> None:
        self._text.set_value(text)

    def _typed(self) -> None:
        self._show()
        self._changed()

    def _show(self) -> None:
        try:
            weights = parse_range(self.text) if self.text.strip() else np.zeros(len(PREFLOP_CLASS), np.float32)
        except PokernetsError as error:
            self._text.error = str(error)
            return
        self._weights = weights
        self._text.error = None
        self._count.set_text(f"{weights.sum():.6g} of 1326 hands")
        shares = class_shares(np.ones(len(weights)), weights[:, None])[:, 0]
        cells = []
        for share in shares.tolist():
            percent, brush = f"{100 * share:.0f}", str(share) if share in _BRUSHES else ""
            cells.append(Cell(filled(share), "" if share in (0, 1) else percent, f"{percent}%", brush))
        self._grid.set_content(class_grid(cells, f"{self._name}'s range; space adds or removes a hand"))

    def _painted(self, event: GenericEventArguments) -> None:
        """Paint on the range that the grid shows, even if the text has become invalid."""
        sent, weight = event.args if isinstance(event.args, list) and len(event.args) == 2 else ([], 0.0)
        classes = [one for one in sent if isinstance(one, int) and 0 <= one < 169] if isinstance(sent, list) else []
        weights = self._weights.copy()
        weights[np.isin(PREFLOP_CLASS, classes)] = weight if weight in _BRUSHES else 0.0
        self._text.set_value(range_text(weights))  # `_typed` follows
        if len(classes) == 1:  # the grid is rebuilt; the focus returns to the cell of the key press
            grid = f"document.getElementById('{self._grid.html_id}')"
            ui.run_javascript(f"{grid}?.querySelector('[data-c=\"{classes[0]}\"]')?.focus()")
