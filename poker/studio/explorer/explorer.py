"""The explorer in the browser: a form for a spot, the progress of its solve, and the solution."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from math import isnan
from pathlib import Path
from typing import Any

from nicegui import run, ui

from poker.run.errors import PokernetsError, TooLargeError
from poker.run.machine import memory
from poker.solve.types import Budget
from poker.spots.explorer import Solve, fitting_menu
from poker.spots.report import SEATS
from poker.spots.spots import Spot, keys_of, spot_of
from poker.studio.explorer.charts import charts
from poker.studio.explorer.range_editor import RangeEditor
from poker.studio.explorer.shelf import Shelf
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
_STALE = "The spot has changed since this solution: press Solve."
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
        gib = solve.budget.memory_limit_gib
        with self._lock:
            others = [one for owner, one in self.of.items() if owner != visitor]
            taken = sum(one.cost.bytes for one in others if not one.ended)
            if taken + solve.cost.bytes > gib * 2**30:
                raise PokernetsError(
                    f"solves of other visitors use {taken / 2**30:.1f} of {gib:.1f} GiB: wait until one has ended"
                )
            if (last := self.of.pop(visitor, None)) is not None:
                last.cancel()
            self.of[visitor] = solve
            ended = [owner for owner, one in self.of.items() if one.ended]
            while ended and (len(self.of) > _KEPT or sum(one.cost.bytes for one in self.of.values()) > gib * 2**30):
                del self.of[ended.pop(0)]


def memory_limits(gib: float | None) -> tuple[float, float]:
    """Return the default and the largest memory limit of solves in GiB.

    Args:
        gib: both; None for half of the machine's memory, and all of it.
    """
    most = gib or memory() / 2**30
    return gib or most / 2, most


def make(_: Needs, memory_limit_gib: float | None, blueprint: str, out: str, **solving: Any) -> Fill:
    """Make the explorer page.

    Args:
        _: unused.
        memory_limit_gib: memory of all solves together; None for half of the machine's memory, which a visitor can
            change on the page.
        blueprint: folder of the blueprint of the preflop charts.
        out: folder below which solutions are written.
        solving: other fields of `poker.solve.types.Budget`.
    """
    default, most_gib = memory_limits(memory_limit_gib)
    solves, budget = _Solves(), Budget(**solving, memory_limit_gib=default)

    async def fill(visitor: str) -> None:
        _row, (spot, preflop) = tabs("Spot", "Preflop charts", look="align=left no-caps", keep_alive=False)
        with spot.classes("flush"):
            _Explorer(visitor, solves, budget, most_gib, Path(out))
        with preflop.classes("flush"):
            await charts(blueprint)

    return fill


class _Explorer:
    """One browser's page; when it is reopened, it shows its visitor's last solve again."""

    def __init__(self, visitor: str, solves: _Solves, budget: Budget, most_gib: float, out: Path) -> None:
        self._visitor, self._solves, self._budget, self._out = visitor, solves, budget, out
        self._prepared: Solve | None = None
        self._request = 0
        self._client = ui.context.client
        self._solve = solves.of.get(visitor)
        values = _START if self._solve is None else self._solve.spot.text
        with ui.element("div").classes("columns explorer"):
            with ui.element("section").props('aria-label="Spot to solve"'):
                self._form = _Form(budget, most_gib, self._changed, out / "saved" / visitor)
                self._form.show(values)
                self._cost = ui.label().classes("quiet").props("role=status")
                with row():
                    self._start = ui.button("Solve", icon="play_arrow", on_click=self._begin).props("no-caps")
                    self._cancel = ui.button("Cancel", icon="stop", on_click=self._end).props("no-caps outline")
                self._status = ui.label().classes("status").props("role=status aria-live=polite")
                self._bar = ui.linear_progress(0, show_value=False)
                self._bar.props('rounded instant-feedback aria-label="Progress"')
            with ui.element("section").props("aria-label=Solution"):
                self._stale = ui.label(_STALE).props("role=status").classes("wrong")
                with ui.element("div").classes("solution") as self._place:
                    ui.label("The solution appears here: ranges, frequencies, EV and equity of every hand.")
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

        def wanted() -> bool:
            return request == self._request and not self._client.is_deleted

        try:
            spot, budget = self._form.spot, self._form.budget()
            prepared = await run.io_bound(Solve, spot, budget, wanted)
        except TooLargeError as error:
            menu = await run.io_bound(fitting_menu, spot, budget, wanted)
            prepared, text = None, f"{error}. {menu}"
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
        self._stale.set_visibility(self._is_stale)
        self._place.classes("stale" if self._is_stale else "", remove="" if self._is_stale else "stale")
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

    @property
    def _is_stale(self) -> bool:
        """Whether the solution on the page is of another spot than the form."""
        try:
            return self._rendered is not None and self._form.spot != self._rendered.spot
        except PokernetsError:
            return True


class _Form:
    """The form of the spot."""

    def __init__(self, budget: Budget, most_gib: float, changed: Callable[[], None], saved: Path) -> None:
        self._budget, self._most_gib = budget, most_gib
        self._inputs: dict[str, ui.input] = {}
        Shelf(saved / "spots.json", "spot", lambda: self.spot.text, self.show)
        with ui.element("div").classes("fields"):
            for key, name in _FIELDS.items():
                field = ui.input(name, on_change=changed)
                hint = f' hint="{_HINTS[key]}"' if key in _HINTS else ""
                self._inputs[key] = field.props(f"outlined dense debounce=400{hint}")
            self._exploitability = ui.number(
                "Exploitability, pots", value=budget.exploitability, min=0.00001, step=0.001, on_change=changed
            )
            self._gib = ui.number(
                "Memory limit, GiB", value=round(budget.memory_limit_gib, 1), max=most_gib, on_change=changed
            )
            for number in (self._exploitability, self._gib):
                number.props("outlined dense debounce=400")
        self._ranges: dict[str, RangeEditor] = {}
        bar, panels = tabs(*SEATS, look="no-caps align=justify")
        for seat, panel in zip(SEATS, panels, strict=True):
            with panel.classes("flush"):
                self._ranges[seat] = RangeEditor(seat, changed)

        def shown() -> RangeEditor:
            return self._ranges[str(bar.value)]

        Shelf(saved / "ranges.json", "range", lambda: shown().text, lambda text: setattr(shown(), "text", text))
        self._expansion = ui.expansion("More settings of the spot").props("dense").classes("wide")
        with self._expansion:
            self._more = ui.textarea("One `key: value` per line", on_change=changed)
            self._more.props(
                'outlined dense autogrow debounce=400 hint="river_donk: 50%, add_allin_threshold: 1.5, rake: 0.05"'
            )

    def show(self, values: Mapping[str, object]) -> None:
        """Fill the form with the keys of a spot."""
        for key, field in self._inputs.items():
            field.set_value(str(values.get(key, "")))
        for seat, editor in self._ranges.items():
            editor.text = str(values.get(f"{seat.lower()}_range", ""))
        keys = {*_FIELDS, "oop_range", "ip_range"}
        self._more.set_value("\n".join(f"{key}: {value}" for key, value in values.items() if key not in keys))
        self._expansion.set_value(bool(self._more.value))

    @property
    def spot(self) -> Spot:
        """The spot in the form; raises PokernetsError if it is invalid."""
        values = {key: str(field.value or "").strip() for key, field in self._inputs.items()}
        values |= {f"{seat.lower()}_range": editor.text for seat, editor in self._ranges.items()}
        more = keys_of(str(self._more.value or ""), "more settings")
        for key in (key for key in more if values.get(key)):
            raise PokernetsError(f"more settings: `{key}` is given above as well; remove one of them")
        values |= more
        return spot_of({key: value for key, value in values.items() if value})

    def budget(self) -> Budget:
        """Return the limits in the form; raises PokernetsError if they are invalid."""
        pots, gib = (float(one.value or 0) for one in (self._exploitability, self._gib))
        if gib > self._most_gib:
            raise PokernetsError(f"the memory limit is at most {self._most_gib:.1f} GiB")
        return replace(self._budget, exploitability=pots, memory_limit_gib=gib)


def _cost(solve: Solve) -> str:
    """Return the memory and time of a solve as text."""
    least, most = map(_time, solve.cost.seconds)
    return f"{solve.cost}; usually {least} to {most}."


def _time(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 60 else f"{seconds / 60:.0f} min"


def _status(solve: Solve) -> str:
    if solve.state == "failed":
        return f"The solve failed: {solve.problem}"
    if solve.state == "waiting":
        return "Waiting for another solve"
    if not solve.course:
        return "Solving"
    text = f"exploitability {solve.exploitability:.3%} of the pot after {solve.course[-1].iterations} iterations"
    text += f", {solve.elapsed:.1f} s"
    if solve.ended:
        return f"{solve.state.capitalize()}: {text}"
    left = solve.seconds_left
    return f"Solving: {text}" + ("" if isnan(left) else f", about {_time(left)} left")
