"""A solution in the browser: the line so far, the actions, the grid of hands, and the hands of a class by suit."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from nicegui import run, ui
from nicegui.events import GenericEventArguments
from numpy.typing import NDArray

from poker.game.cards import HAND_CARDS, PREFLOP_CLASS, card_text, class_text
from poker.report.grids import class_shares
from poker.run.errors import PokernetsError
from poker.spots.explorer import Solve, totals, view_csv, view_record
from poker.spots.report import SEATS
from poker.spots.walk import View
from poker.studio.explorer.cells import (
    CELL_OF,
    MOVE_FOCUS,
    OUT,
    Cell,
    action_colours,
    card_sheet,
    class_grid,
    heat,
    mixed,
    strategy_cell,
)
from poker.studio.pages import words as text
from poker.studio.pages.elements import Trail, choice, crumbs, html, notices, row

_MODES = {"strategy": "Strategy", "ev": "EV", "equity": "Equity", "weight": "Weight"}
_COLUMNS = ("hand", "EV", "equity", "weight")


class SolutionPanel:
    """Explores the solution of a solve.

    Args:
        out: folder below which the solution can be written.
        reopened: whether to start at the place in the browser's address instead of the first decision.
    """

    def __init__(self, solve: Solve, out: Path, *, reopened: bool) -> None:
        """Build the elements of the panel."""
        self._solve, self._out = solve, out
        self._view: View | None = None
        self._class = -1
        self._player = 0
        self._wanted = "strategy"
        self._drawing = False
        self._where = ui.element("nav").classes("line crumbs").props('aria-label="Actions so far"')
        self._trail = Trail(self._where, "spot", self._go)
        self._facts = ui.label().classes("quiet").props("role=status aria-live=polite")
        self._actions = row("What can be done")
        explanation = f"EV: chips won from the starting pot of {solve.spot.pot} and all bets, less the player's bets"
        explanation += "; a fold loses the bets so far. The EV of an action is the mean over all hands here"
        ui.label(explanation).classes("quiet")
        self._sheet = html("sheet")
        with row():
            self._who = ui.toggle({0: SEATS[0], 1: SEATS[1]}, value=0, on_change=self._chosen).props("dense no-caps")
            self._who.props('aria-label="Whose hands"')
            self._mode = ui.toggle(_MODES, value="strategy", on_change=self._turned).props("dense no-caps")
            self._mode.props('aria-label="What the grid shows"')
        self._grid = html("hands-grid")
        self._hands = html("by-suit").props("role=region aria-label='Hands by suit'")
        for event in ("mouseover", "focusin", "click"):
            self._grid.on(event, self._over, js_handler=CELL_OF, throttle=0.05)
        for element in (self._grid, self._sheet):
            element.on("keydown", js_handler=MOVE_FOCUS)
        for event in ("click", "keydown.enter"):
            self._sheet.on(event, self._deal, js_handler=CELL_OF)
        with row():
            as_json = partial(self._download, "json", lambda view: json.dumps(view_record(view), indent=1))
            as_csv = partial(self._download, "csv", view_csv)
            for name, do in (("JSON", as_json), ("CSV", as_csv), ("Solution directory", self._write)):
                ui.button(name, icon="download", on_click=do).props("flat dense no-caps")
        ui.timer(0.01, partial(self._begin, reopened), once=True)

    async def _begin(self, reopened: bool) -> None:
        await self._go(())
        if reopened:
            self._trail.restore()
        else:
            self._trail.push(())

    async def _step(self, words: tuple[str, ...]) -> None:
        """Go to a place that was clicked, and add it to the browser's history."""
        await self._go(words)
        if self._view is not None and self._view.words == words:
            self._trail.push(words)

    async def _go(self, words: tuple[str, ...]) -> None:
        try:
            view = await run.io_bound(self._solve.view, words)
        except PokernetsError as error:
            ui.notify(str(error), type="warning")
            return
        if view is None:  # the server is stopping
            return
        self._view = view
        if view.player is not None:
            self._player = view.player
        self._who.set_value(self._player)
        crumbs(self._where, [_word(word) for word in view.words], lambda place: self._step(view.words[:place]))
        means = [
            f"{seat} EV {_number(view.mean(view.ev[p], p))}, equity {_percent(view.mean(view.equity[p], p))}"
            for p, seat in enumerate(SEATS)
        ]
        board = " ".join(map(card_text, view.board))
        self._facts.set_text(f"{board} · pot {view.pot} · {view.behind} behind · {' · '.join(means)}")
        self._draw_actions(view)
        self._sheet.set_content(_sheet(view))
        self._draw()

    def _draw_actions(self, view: View) -> None:
        self._actions.clear()
        with self._actions:
            if view.player is None:
                ui.label("Choose the next card." if view.deals else "The betting is over; only cards are left.")
                return
            ui.label(f"{SEATS[view.player]}:").classes("seat-name")
            by_action = totals(view)
            for action, share, colour in zip(view.actions, view.shares, action_colours(view.actions), strict=True):
                numbers = by_action[action]
                ev = "" if numbers["ev_all"] is None else f" · EV {_number(numbers['ev_all'])}"
                size = "" if np.isnan(share) else f" ({_percent(share)} pot)"
                name = f"{_word(action)}{size}\n{_percent(numbers['frequency'])}{ev}"
                choice(name, colour, partial(self._step, (*view.words, action)))

    def _chosen(self) -> None:
        self._player = 1 if self._who.value == 1 else 0
        self._draw()

    def _draw(self) -> None:
        view = self._view
        if view is None:
            return
        acts = self._player == view.player
        mode = self._wanted if acts or self._wanted != "strategy" else "weight"
        self._drawing = True
        self._mode.set_options({key: name for key, name in _MODES.items() if acts or key != "strategy"}, value=mode)
        self._drawing = False
        self._grid.set_content(class_grid(_cells(view, self._player, mode), f"{SEATS[self._player]}: {_MODES[mode]}"))
        self._show_hands()

    def _turned(self) -> None:
        if not self._drawing and self._mode.value in _MODES:
            self._wanted = str(self._mode.value)
            self._draw()

    def _over(self, event: GenericEventArguments) -> None:
        if isinstance(event.args, int) and 0 <= event.args < 169 and event.args != self._class:
            self._class = event.args
            self._show_hands()

    def _show_hands(self) -> None:
        if self._view is not None and self._class >= 0:
            self._hands.set_content(_by_suit(self._view, self._player, self._class))

    async def _deal(self, event: GenericEventArguments) -> None:
        if self._view is not None and isinstance(event.args, int) and 0 <= event.args < 52:
            await self._step((*self._view.words, card_text(event.args)))

    def _download(self, ending: str, text_of: Callable[[View], str]) -> None:
        if self._view is not None:
            name = "_".join(("spot", *map(card_text, self._solve.spot.board), *self._view.words))
            ui.download.content(text_of(self._view), f"{name}.{ending}")

    async def _write(self) -> None:
        with notices():
            folder = await run.io_bound(self._solve.write, self._out)
            ui.notify(f"Written to {folder}", type="positive")


def by_class(values: NDArray[np.floating], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Average values over the hands of each class.

    Args:
        values: [H, ...] values by hand; NaN where unknown.
        weights: [H] weights of the hands.

    Returns:
        float64 [169, ...] means over hands with a weight and a value; NaN where there is none.
    """
    rows = values.reshape(len(values), -1)
    valued = (weights > 0) & ~np.isnan(rows).any(axis=1)
    return class_shares(np.where(valued, weights, 0.0), np.nan_to_num(rows).astype(np.float32))


def _cells(view: View, player: int, mode: str) -> list[Cell]:
    weights = view.listed(player)
    ranges = view.ranges[player]
    share = by_class(ranges, weights)[:, 0]
    most = np.nanmax(share) if (share > 0).any() else 1.0
    heights = np.nan_to_num(share / most)
    if mode == "strategy":
        names, rows = list(map(_word, view.actions)), zip(by_class(view.strategy, weights), heights, strict=True)
        return [strategy_cell(names, row.tolist(), height, OUT) for row, height in rows]
    values = {"ev": view.ev[player], "equity": view.equity[player], "weight": ranges}[mode]
    means = by_class(values, weights)[:, 0]
    numbers = means[~np.isnan(means)]
    least, top = (numbers.min(), numbers.max()) if len(numbers) else (0.0, 1.0)
    if mode == "weight":
        least, top = 0.0, max(most, 1e-9)
    format_value = _percent if mode != "ev" else _number
    return [
        Cell("", "", OUT)
        if np.isnan(mean)
        else Cell(heat(mean, least, top), format_value(mean).rstrip("%"), f"{_MODES[mode]} {format_value(mean)}")
        for mean in means.tolist()
    ]


def _sheet(view: View) -> str:
    """Return the HTML of OOP's EV after each next card; empty if no card is dealt."""
    if not view.deals:
        return ""
    evs = [deal.ev[0] for deal in view.deals if not np.isnan(deal.ev[0])]
    cells: list[Cell | None] = [None] * 52
    for deal in view.deals:
        colour = heat(deal.ev[0], min(evs), max(evs)) if evs else ""
        label = f"OOP's EV {_number(deal.ev[0])}, equity {_percent(deal.equity[0])}"
        cells[deal.card] = Cell(colour, _number(deal.ev[0]), label)
    return f'<p class="quiet">OOP\'s EV after each next card; a click deals it</p>{card_sheet(cells, "Next cards")}'


def _by_suit(view: View, player: int, number: int) -> str:
    """Return the HTML of a table of the hands of a class, one per row."""
    hands = np.flatnonzero((number == PREFLOP_CLASS) & (view.listed(player) > 0)).tolist()
    title = f"<h3>{SEATS[player]}'s {class_text(number)}</h3>"
    if not hands:
        return f"{title}<p class=quiet>This hand does not get here.</p>"
    acts = view.actions if player == view.player else ()
    colours = action_colours(acts)
    heads = "".join(f"<th scope=col>{name}</th>" for name in (*_COLUMNS, *map(_word, acts)))
    rows = []
    for hand in hands:
        cards = text.small_texts(map(card_text, HAND_CARDS[hand][::-1].tolist()))
        entries = [_number(view.ev[player, hand]), *(_percent(of[player, hand]) for of in (view.equity, view.ranges))]
        for place in range(len(acts)):
            ev = view.action_ev[hand, place]
            entries.append(f"{_percent(view.strategy[hand, place])}<br><span class=quiet>{_number(ev)}</span>")
        bar = mixed(view.strategy[hand].tolist(), colours, 0.15) if acts else "none"
        values = "".join(f"<td>{one}</td>" for one in entries)
        rows.append(f'<tr style="background: {bar}"><th scope=row>{cards}</th>{values}</tr>')
    table = f"<table><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f"{title}<div class=scroll>{table}</div>"


def _word(word: str) -> str:
    """Return an action as the page shows it: `bet120` as `bet 120`."""
    for name in ("bet", "raise", "allin"):
        if word.startswith(name) and word != name:
            return f"{'all-in' if name == 'allin' else name} {word[len(name) :]}"
    return word


def _number(value: float | None) -> str:
    return "-" if value is None or np.isnan(value) else f"{value:.0f}" if abs(value) >= 100 else f"{value:.1f}"


def _percent(value: float | None) -> str:
    return "-" if value is None or np.isnan(value) else f"{100 * value:.0f}%"
