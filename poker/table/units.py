"""The unit of amounts on a page, chips or big blinds; a cookie keeps the choice."""

from collections.abc import Callable

from nicegui import ui

_COOKIE = "pokernets_unit"
_CHIPS, _BIG_BLINDS = "chips", "bb"
_KEEP = f"document.cookie = '{_COOKIE}=%s; path=/; max-age=31536000; samesite=lax'"


class Unit:
    """One page's choice, which `add` lets others follow."""

    def __init__(self) -> None:
        self._unit = _BIG_BLINDS if _kept() == _BIG_BLINDS else _CHIPS
        self._shown: list[tuple[ui.element, Callable[[], object]]] = []

    def of(self, big_blind: int) -> int | None:
        """`big_blind` where amounts are shown in big blinds, else None, as `words.chips` takes it."""
        return big_blind if self._unit == _BIG_BLINDS else None

    def add(self, place: ui.element, show: Callable[[], object]) -> None:
        """Calls `show` after a change, as long as `place` is on the page."""
        self._shown.append((place, show))

    def switch(self) -> ui.toggle:
        """Puts the switch on the page."""
        toggle = ui.toggle([_CHIPS, _BIG_BLINDS], value=self._unit, on_change=lambda event: self.choose(event.value))
        toggle.props('dense no-caps unelevated aria-label="Unit of amounts"').classes("unit")
        return toggle

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
