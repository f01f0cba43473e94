"""A finished hand in the browser, step by step on the felt of the table."""

from dataclasses import replace
from html import escape

from nicegui import ui

from poker.formats.played import PlayedHand
from poker.game.state import HandState
from poker.studio.games.table_game import Seen
from poker.studio.pages import words
from poker.studio.pages.elements import html, row
from poker.studio.pages.table import felt

_MOVES = {"first_page": "First", "chevron_left": "Back", "chevron_right": "Next", "last_page": "Last"}
"""Names of the buttons by their icons."""


def steps(hand: PlayedHand, seat: int) -> list[HandState]:
    """Return what a player saw before each action, at each street without betting, and at the end.

    Args:
        seat: the player's seat.

    Returns:
        the states; the last has all cards that the file has.
    """
    end = hand.state
    before = [replace(end, betting=betting).view(seat) for betting, _, _ in end.betting.turns()]
    shown = len(before[-1].board) if before else 0
    dealt = [size for size in end.rules.board_sizes if shown < size < len(end.board)]
    return [*before, *(replace(end.view(seat), runout=end.board[:size]) for size in dealt), end]


class ReplayPanel:
    """Panel of one hand: the felt with its seats and bets at one step, and the history with that step marked."""

    def __init__(self, invitation: str) -> None:
        """Build the elements of the panel.

        Args:
            invitation: text before a hand is opened.
        """
        self._hand: PlayedHand | None = None
        self._steps = list[HandState]()
        with ui.element("div").classes("replay"):
            with ui.element("div"):
                self._felt = html("felt")
                with row("Steps of the hand"):
                    for (icon, name), by in zip(_MOVES.items(), (-(10**6), -1, 1, 10**6), strict=True):
                        move = ui.button(icon=icon, on_click=lambda by=by: self._go(by))
                        move.props(f'flat dense aria-label="{name}"')
                    self._slider = ui.slider(min=0, max=0, value=0, on_change=self._show).classes("slider")
                    self._slider.props('aria-label="Step" markers snap')
            self.history = html("history")
        self.history.set_content(f"<p>{escape(invitation)}</p>")
        self._felt.set_visibility(False)

    def open(self, hand: PlayedHand, player: str) -> None:
        """Show the first decision of a player in a hand."""
        self._hand, self._seat = hand, hand.names.index(player)
        self._steps = steps(hand, self._seat)
        first = next((step for step, state in enumerate(self._steps) if state.to_act == self._seat), 0)
        self._slider.props(f"max={len(self._steps) - 1}")
        self._slider.set_value(first)
        self._felt.set_visibility(True)
        ui.run_javascript(f"getHtmlElement({self._felt.id})?.scrollIntoView({{block: 'nearest'}})")
        self._show()

    def _go(self, by: int) -> None:
        self._slider.set_value(min(max(self._slider.value + by, 0), len(self._steps) - 1))

    def _show(self) -> None:
        if self._hand is None:
            return
        hand, step, big_blind = self._hand, int(self._slider.value), self._hand.rules.big_blind
        # the page counts hands from 1, sites give their own numbers
        seen = Seen(hand.number - 1, self._seat, hand.names, self._steps[step], None)
        self._felt.set_content(felt(seen, big_blind))
        history = words.history_html(replace(seen, state=hand.state), big_blind, step)
        self.history.set_content(history + words.results_html(hand.names, hand.state, hand.payoffs))
