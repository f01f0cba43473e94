"""The panel that compares a learning agent's expectations of its opponent with the opponent's actions."""

from collections.abc import Sequence
from html import escape

import numpy as np
from nicegui import background_tasks, run

from poker.agents.base import OpponentRead
from poker.game.rules import action_class
from poker.game.state import HandState
from poker.opponents.model import CLASS_NAMES, NUM_CLASSES
from poker.run.errors import PokernetsError
from poker.studio.games.table_game import Seen, TableGame
from poker.studio.pages import words
from poker.studio.pages.elements import html

_NO_HAND = "<p class=quiet>The agent has not seen a finished hand yet.</p>"


class ReadPanel:
    """Panel with the agent's model of the visitor, updated after each hand."""

    def __init__(self, game: TableGame) -> None:
        """Make an empty panel."""
        self._game, self._number = game, -1
        self.place = html("read")
        self.place.set_content(_NO_HAND)

    def moved_on(self, seen: Seen) -> None:
        """Update the panel if a hand has ended."""
        if seen.state.is_over and seen.number != self._number:
            self._number = seen.number
            background_tasks.create(self._ask())

    async def _ask(self) -> None:
        """Query the agent in a thread, since it may be busy learning from the hand."""
        try:
            answer = await run.io_bound(self._game.read)
            content = _NO_HAND if answer is None else read_html(*answer)
        except PokernetsError as error:
            content = f"<p>{escape(str(error))}</p>"
        if not self.place.is_deleted:
            self.place.set_content(content)


def read_html(decisions: Sequence[tuple[HandState, int]], read: OpponentRead) -> str:
    """Return the HTML of a table of observed and expected frequencies, by street and with or without a bet to call.

    Args:
        decisions: the visitor's decisions and actions.
        read: the agent's expectations at these decisions.
    """
    if not decisions:
        return _NO_HAND
    spots = np.array([(state.street, state.betting.to_call > 0) for state, _ in decisions])
    kinds = np.array([action_class(action) for _, action in decisions])
    rows = []
    for street, asked in np.unique(spots, axis=0).tolist():
        here = (spots == (street, asked)).all(axis=1)
        shares = [((kinds[here] == kind).mean(), read.expected[here, kind].mean()) for kind in range(NUM_CLASSES)]
        cells = "".join(f"<td>{did:.0%}<br><span class=quiet>{expected:.0%}</span></td>" for did, expected in shares)
        spot = f"{words.STREETS[street]}, {'facing a bet' if asked else 'no bet'}"
        rows.append(f"<tr><th scope=row>{spot}</th><td>{here.sum()}</td>{cells}</tr>")
    playing = f"The agent trusts it to {read.trust:.0%}." if read.trust else "The agent does not use it yet."
    return (
        f"<p>Your actions, and below them the agent's prediction. {playing}</p>"
        f"{words.table_html(('', 'decisions', *CLASS_NAMES), rows)}"
        "<p class=quiet>Counts of this session, over all your hands. The agent uses its prediction as far as it"
        " explains your actions better than sound play does.</p>"
    )
