"""Preflop charts of a blueprint in the browser: the grid of frequencies after any line of bets."""

from functools import partial
from pathlib import Path

import numpy as np
from nicegui import run, ui

from poker.game.cards import PREFLOP_CLASS_SIZE, RARE
from poker.run.commands import how_to_make
from poker.solvers.blueprint import FirstRound
from poker.store.artifacts import artifact_exists
from poker.studio.explorer.cells import MOVE_FOCUS, OUT, action_colours, class_grid, strategy_cell
from poker.studio.pages import words
from poker.studio.pages.elements import Trail, UnitSwitch, alerts, choice, crumbs, html, row
from poker.tree import Kind

_CLASSES = len(PREFLOP_CLASS_SIZE)


async def charts(path: str) -> None:
    """Fill the page with charts of the blueprint at `path`; if there is none, show how to make it."""
    if not artifact_exists(path):
        ui.label(f"There is no blueprint yet. {how_to_make('blueprint', Path(path))}")
        return
    first = None
    with alerts():
        first = await run.io_bound(FirstRound.load, path)
    if first is None:  # it cannot be loaded, or the server is stopping
        return
    if first.sampling.num_buckets[0] != _CLASSES:
        ui.label("Charts need hold'em with a blueprint that distinguishes all 169 classes of hands.")
        return
    _Charts(first)


class _Charts:
    def __init__(self, first: FirstRound) -> None:
        self._first, self._tree = first, first.tree
        self._line: tuple[int, ...] = ()
        self._where = ui.element("nav").classes("line crumbs").props('aria-label="Actions so far"')
        self._trail = Trail(self._where, "preflop", self._moved)
        self._actions = row("What can be done")
        self._grid = html("hands-grid").on("keydown", js_handler=MOVE_FOCUS)
        self._unit = UnitSwitch()
        self._unit.add(self._grid, lambda: self._go(self._line))
        ui.label(
            "These charts show the blueprint. The opponent at the table and its hints solve each decision again, so"
            " their frequencies differ. The taller a cell, the more often the blueprint gets here with the hand."
        ).classes("quiet")
        self._go(())
        self._trail.restore()

    def _moved(self, steps: tuple[str, ...]) -> None:
        """Go to the line in the browser's address, as far as it is possible."""
        line, node = tuple[int, ...](), self._tree.after_deal(0)
        for word in steps:
            actions = {str(action): action for action in self._tree.actions(node)}
            if word not in actions:
                break
            line, node = (*line, actions[word]), self._tree.child(node, actions[word])
        self._go(line)

    def _step(self, line: tuple[int, ...]) -> None:
        """Go to a line that was clicked, and add it to the browser's history."""
        self._go(line)
        self._trail.push(list(map(str, line)))

    def _go(self, line: tuple[int, ...]) -> None:
        self._line, tree = line, self._tree
        node, reach = tree.after_deal(0), np.ones((tree.rules.num_players, _CLASSES))
        path = [node]
        for action in line:
            reach[tree.player[node]] *= self._first.probs(node)[:, tree.actions(node).index(action)]
            node = tree.child(node, action)
            path.append(node)
        names = [self._name(at, action) for at, action in zip(path, line, strict=False)]
        crumbs(self._where, names, lambda place: self._step(line[:place]))
        self._actions.clear()
        if tree.kind[node] != Kind.DECISION or tree.street[node]:
            with self._actions:
                ui.label("The first round is over.")
            self._grid.set_content("")
            return
        self._show(line, node, reach[tree.player[node]])

    def _name(self, node: int, action: int) -> str:
        return words.action_name(self._tree.betting(node), action, self._unit.of(self._tree.rules.big_blind))

    def _show(self, line: tuple[int, ...], node: int, reach: np.ndarray[tuple[int], np.dtype[np.float64]]) -> None:
        probs = self._first.probs(node)
        names = [self._name(node, action) for action in self._tree.actions(node)]
        colours = action_colours(names)
        combos = reach * PREFLOP_CLASS_SIZE
        means = (combos @ probs) / max(float(combos.sum()), 1e-12)
        seat = self._tree.rules.positions[self._tree.player[node]]
        with self._actions:
            ui.label(f"{seat}:").classes("seat-name")
            for action, name, mean, colour in zip(self._tree.actions(node), names, means, colours, strict=True):
                choice(f"{name} {mean:.0%}", colour, partial(self._step, (*line, action)))
        heights = reach / max(float(reach.max()), 1e-12)
        strategies = np.where(heights[:, None] >= RARE, probs, np.nan)
        pairs = zip(strategies.tolist(), heights.tolist(), strict=True)
        cells = [strategy_cell(names, shares, height, OUT) for shares, height in pairs]
        self._grid.set_content(class_grid(cells, f"{seat} after {len(line)} actions"))
