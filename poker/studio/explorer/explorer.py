"""The explorer in the browser: a form for a spot, the progress of its solve, and the solution."""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

from nicegui import run, ui

from poker.run.errors import PokernetsError
from poker.spots.explorer import Solve
from poker.spots.report import SEATS, Settings
from poker.spots.spots import Spot, spot_of
from poker.studio.explorer.charts import charts
from poker.studio.explorer.range_editor import RangeEditor
from poker.studio.explorer.solution import SolutionPanel
from poker.studio.pages.elements import Fill, Needs, row, tabs

_SECONDS = 0.5
"""Seconds between two updates of a solve's progress."""
_KEPT = 8
"""Largest number of solves in memory; the latest visitors' solves are kept, as far as the memory limit allows."""
_START = {
    "board": "Td9d6hQc",
    "oop_range": "66+,A8s+,A5s-A4s,AJo+,K9s+,KQo,QTs+,JTs,96s+,85s+,75s+,65s,54s",
    "ip_range": "QQ-22,AQs-A2s,ATo+,K5s+,KJo+,Q8s+,J8s+,T7s+,96s+,86s+,75s+,64s+,53s+",
    "pot": 200,
    "stack": 900,
    "bet": "60%,e,a",
    "raise": "2.5x",
}
_FIELDS = {"board": "Board", "pot": "Pot", "stack": "Stack behind", "bet": "Bets", "raise": "Raises"}
_HINTS = {"bet": "50%, 100%, e, a", "raise": "2.5x, 60%, a"}


class _Solves:
    """The last solve of each visitor, in the order of the visitors' latest solves."""

    def __init__(self) -> None:
        self.of: dict[str, Solve] = {}
        self._lock = threading.Lock()

    def keep(self, visitor: str, solve: Solve) -> None:
        """Keep a solve, before it starts, in place of the visitor's last one.

        The oldest finished solves that do not fit beside it are dropped.

        Raises:
            PokernetsError: running solves of other visitors leave too little memory.
        """
        gib = solve.settings.memory_limit_gib
        with self._lock:
            others = [one for owner, one in self.of.items() if owner != visitor]
            taken = sum(one.cost.bytes for one in others if not one.ended)
            if taken + solve.cost.bytes > gib * 2**30:
                raise PokernetsError(
                    f"spots of others are being solved in {taken / 2**30:.1f} GiB of the {gib:.1f} there are:"
                    " wait until one has ended"
                )
            if (last := self.of.pop(visitor, None)) is not None:
                last.cancel()
            self.of[visitor] = solve
            ended = [owner for owner, one in self.of.items() if one.ended]
            while ended and (len(self.of) > _KEPT or sum(one.cost.bytes for one in self.of.values()) > gib * 2**30):
                del self.of[ended.pop(0)]


def make(_: Needs, solving: tuple[Any, ...], blueprint: str, out: str) -> Fill:
    """Make the explorer page.

    Args:
        _: unused.
        solving: fields of `poker.spots.report.Settings`.
        blueprint: folder of the blueprint of the preflop charts.
        out: folder below which solutions are written.
    """
    solves, settings = _Solves(), Settings(*solving)

    async def fill(visitor: str) -> None:
        _row, (spot, preflop) = tabs("Spot", "Preflop charts", look="align=left no-caps", keep_alive=False)
        with spot.classes("flush"):
            _Explorer(visitor, solves, settings, Path(out))
        with preflop.classes("flush"):
            await charts(blueprint)

    return fill


class _Explorer:
    """One browser's page; when it is reopened, it shows its visitor's last solve again."""

    def __init__(self, visitor: str, solves: _Solves, settings: Settings, out: Path) -> None:
        self._visitor, self._solves, self._settings, self._out = visitor, solves, settings, out
        self._prepared: Solve | None = None
        self._request = 0
        self._client = ui.context.client
        self._solve = solves.of.get(visitor)
        values = _START if self._solve is None else self._solve.spot.text
        with ui.element("div").classes("columns explorer"):
            with ui.element("section").props('aria-label="Spot to solve"'):
                self._form = _Form(values, settings.exploitability, self._changed)
                self._cost = ui.label().classes("quiet").props("role=status")
                with row():
                    self._start = ui.button("Solve", icon="play_arrow", on_click=self._begin).props("no-caps")
                    self._cancel = ui.button("Cancel", icon="stop", on_click=self._end).props("no-caps outline")
                self._status = ui.label().classes("status").props("role=status aria-live=polite")
                self._bar = ui.linear_progress(0, show_value=False)
                self._bar.props('rounded instant-feedback aria-label="Progress"')
            with ui.element("section").props("aria-label=Solution") as self._place:
                ui.label("The solution comes here: ranges, frequencies, EV and equity of every hand.")
        self._rendered: Solve | None = None
        ui.timer(_SECONDS, self._look)
        ui.timer(0.1, self._estimate, once=True)

    def _changed(self) -> None:
        self._request += 1
        ui.timer(0.4, partial(self._estimate, self._request), once=True)

    async def _estimate(self, request: int = 0) -> None:
        """Show the cost of the solve, or an error in the spot."""
        if request != self._request:
            return
        try:
            spot, settings = self._form.spot, self._form.settings(self._settings)
            prepared = await run.io_bound(
                Solve, spot, settings, lambda: request == self._request and not self._client.is_deleted
            )
        except PokernetsError as error:
            prepared, text = None, str(error)
        else:
            text = "" if prepared is None else _cost(prepared)
        if request == self._request:
            self._prepared = prepared
            self._cost.set_text(text)
            self._cost.classes("wrong" if prepared is None else "", remove="" if prepared is None else "wrong")

    async def _begin(self) -> None:
        self._request += 1
        self._start.disable()
        await self._estimate(self._request)
        if self._prepared is not None:
            try:
                self._solves.keep(self._visitor, self._prepared)
            except PokernetsError as error:
                self._cost.set_text(str(error))
                self._cost.classes("wrong")
            else:
                self._solve, self._prepared = self._prepared.start(), None
        self._look()

    def _end(self) -> None:
        if self._solve is not None:
            self._solve.cancel()

    def _look(self) -> None:
        solve = self._solve
        running = solve is not None and not solve.ended
        self._start.set_enabled(not running)
        self._cancel.set_enabled(running)
        self._bar.set_visibility(running)
        if solve is None:
            return
        self._status.set_text(_status(solve))
        left = solve.seconds_left
        self._bar.set_value(0.0 if isnan(left) or not solve.elapsed else solve.elapsed / (solve.elapsed + left))
        if solve.ended and solve is not self._rendered:
            reopened, self._rendered = self._rendered is None, solve
            self._place.clear()
            with self._place:
                if solve.walk is None:
                    ui.label("Nothing was solved.")
                else:
                    SolutionPanel(solve, self._out, reopened=reopened)


class _Form:
    """The form of the spot."""

    def __init__(self, values: dict[str, object], exploitability: float, changed: Callable[[], None]) -> None:
        self._inputs: dict[str, ui.input] = {}
        with ui.element("div").classes("fields"):
            for key, name in _FIELDS.items():
                field = ui.input(name, value=str(values.get(key, "")), on_change=changed)
                hint = f' hint="{_HINTS[key]}"' if key in _HINTS else ""
                self._inputs[key] = field.props(f"outlined dense debounce=400{hint}")
            self._exploitability = ui.number(
                "Exploitability, pots", value=exploitability, min=0.00001, on_change=changed
            )
            self._exploitability.props("outlined dense debounce=400 step=0.001")
        self._ranges: dict[str, RangeEditor] = {}
        for seat, panel in zip(SEATS, tabs(*SEATS, look="no-caps align=justify")[1], strict=True):
            with panel.classes("flush"):
                self._ranges[seat] = RangeEditor(seat, str(values.get(f"{seat.lower()}_range", "")), changed)
        keys = {*_FIELDS, "oop_range", "ip_range"}
        more = "\n".join(f"{key}: {value}" for key, value in values.items() if key not in keys)
        with ui.expansion("More settings of the spot", value=bool(more)).props("dense").classes("wide"):
            self._more = ui.textarea("One `key: value` a line", value=more, on_change=changed)
            self._more.props(
                'outlined dense autogrow debounce=400 hint="river_donk: 50%, add_allin_threshold: 1.5, rake: 0.05"'
            )

    @property
    def spot(self) -> Spot:
        """The spot in the form; raises PokernetsError if it is invalid."""
        values = {key: str(field.value or "").strip() for key, field in self._inputs.items()}
        values |= {f"{seat.lower()}_range": editor.text for seat, editor in self._ranges.items()}
        for line in str(self._more.value or "").splitlines():
            key, colon, value = line.partition(":")
            if line.strip() and not colon:
                raise PokernetsError(f"more settings: expected `key: value`, found `{line.strip()}`")
            if line.strip():
                values[key.strip()] = value.strip()
        return spot_of({key: value for key, value in values.items() if value})

    def settings(self, given: Settings) -> Settings:
        pots = self._exploitability.value
        return replace(given, exploitability=float(pots) if isinstance(pots, int | float) else 0.0)


def _cost(solve: Solve) -> str:
    """Return the memory and time of a solve as text."""
    least, most = map(_time, solve.cost.seconds)
    return f"{solve.cost}; {least} to {most} as a rule. The limit is {solve.settings.memory_limit_gib:g} GiB."


def _time(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def _status(solve: Solve) -> str:
    if solve.state == "failed":
        return f"The solve failed: {solve.problem}"
    if solve.state == "waiting":
        return "Waits until another solve has ended"
    if not solve.course:
        return "Solving"
    text = f"exploitability {solve.exploitability:.3%} of the pot after {solve.course[-1].iterations} iterations"
    text += f", {solve.elapsed:.1f} s"
    if solve.ended:
        return f"{solve.state.capitalize()}: {text}"
    left = solve.seconds_left
    return f"Solving: {text}" + ("" if isnan(left) else f", about {_time(left)} left")
