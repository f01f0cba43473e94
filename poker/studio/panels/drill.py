"""Drills in the browser: solved decisions at which the visitor lost most, with a new hand each time."""

from collections.abc import Callable
from functools import partial
from html import escape

import numpy as np
from nicegui import run, ui

from poker.agents.base import Agent
from poker.game.rules import Rules
from poker.game.state import HandState
from poker.run.errors import PokernetsError
from poker.studio.games.table_game import Seen
from poker.studio.hands.drill import DrillSpot, draw_spot
from poker.studio.hands.hand_base import HandBase, HandSearch
from poker.studio.pages import words
from poker.studio.pages.elements import html, row
from poker.studio.pages.table import felt
from poker.studio.panels.review import decision_html

_NOTE = "EV: what is won from here on (a fold has 0) against the other player's range in sound play."


class DrillPanel:
    """Panel of the drill.

    Args:
        base: the database.
        solver: solves the decisions.
        search: returns the search from whose decisions the drill draws.
    """

    def __init__(self, base: HandBase, game: Rules, solver: Agent, search: Callable[[], HandSearch | None]) -> None:
        """Build the elements of the panel."""
        self._base, self._game, self._solver, self._search = base, game, solver, search
        self._rng = np.random.default_rng()
        self._spot: DrillSpot | None = None
        self._answered, self._lost = 0, 0.0
        with ui.element("div").classes("review"):
            with row():
                self._next = ui.button("Another decision", on_click=self._draw).props("no-caps color=primary")
                self._again = ui.button("Same decision, another hand", on_click=self._deal).props("no-caps outline")
                self._score = ui.label().props("role=status")
            self._table = html("felt")
            self._story = html("quiet")
            self._actions = row("What can be done")
            self._message = html().props('aria-live="polite"')
        self._clear(
            "<p>A decision of yours is drawn, the likelier the more it cost you, and solved; you answer with hands that"
            " you could have had there.</p>"
        )

    async def _draw(self) -> None:
        search = self._search()
        if search is None:
            self._message.set_content('<p role="alert">There are no hands yet.</p>')
            return
        self._clear('<p role="status">Solving …</p>')
        self._next.disable()
        try:
            self._spot = await run.io_bound(draw_spot, self._base, search, self._game, self._solver, self._rng)
        except (PokernetsError, OSError) as error:
            self._message.set_content(f'<p role="alert">{escape(str(error))}</p>')
            return
        finally:
            self._next.enable()
        self._deal()

    def _clear(self, message: str) -> None:
        self._spot = None
        self._again.set_enabled(False)
        self._table.set_content("")
        self._story.set_content("")
        self._actions.clear()
        self._message.set_content(message)

    def _deal(self) -> None:
        """Ask the decision with another hand."""
        spot = self._spot
        if spot is None:
            return
        self._again.set_enabled(True)
        state, unit = spot.dealt(self._rng), self._game.big_blind
        seen = Seen(0, spot.seat, spot.names, state, None)
        story = "".join(f"<li>{title}: {'; '.join(lines)}</li>" for title, lines in words.history(seen, unit))
        self._table.set_content(felt(seen, unit))
        self._story.set_content(f"<ol>{story}</ol>")
        self._message.set_content("")
        self._actions.clear()
        with self._actions:
            for action in spot.solved.actions:
                name = words.action_name(state.betting, action, unit).capitalize()
                ui.button(name, on_click=partial(self._answer, spot, state, action)).props("no-caps")

    def _answer(self, spot: DrillSpot, state: HandState, action: int) -> None:
        self._actions.clear()
        answer = spot.answered(state, action)
        self._answered += 1
        self._lost += (answer.loss or 0.0) / self._game.big_blind * answer.is_certain
        self._score.set_text(f"{self._answered} answered, {self._lost:.2f} bb lost")
        self._message.set_content(decision_html(answer, _NOTE, self._game.big_blind))
