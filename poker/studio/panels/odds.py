"""A switch on the table page that shows pot odds, equity and SPR beside the pot."""

from collections.abc import Callable

from nicegui import background_tasks, run, ui

from poker.game.odds import PotOdds, pot_odds
from poker.game.state import HandState
from poker.studio.games.table_game import Seen
from poker.studio.pages import words
from poker.studio.pages.elements import remember, remembered

_COOKIE = "pokernets_odds"
_ON = "on"


class OddsSwitch(ui.switch):
    """The switch, whose state a cookie stores.

    Args:
        show: called when the display must be updated.
    """

    def __init__(self, show: Callable[[], object]) -> None:
        """Read the cookie and make the switch."""
        super().__init__("odds", value=remembered(_COOKIE) == _ON, on_change=self._turned)
        self.props('dense aria-label="Pot odds, equity and SPR beside the pot"')
        self._show = show
        self._odds: tuple[HandState, PotOdds | None] | None = None

    def html(self, seen: Seen, big_blind: int | None) -> str:
        """Return the HTML of the figures if the switch is on and the visitor is to act; they follow a moment later."""
        if not self.value or not seen.is_mine:
            return ""
        if self._odds is None or self._odds[0] != seen.state:
            self._odds = seen.state, None
            background_tasks.create(self._work_out(seen.state))
        odds = self._odds[1]
        return f'<div class="odds">{odds_html(odds, big_blind) if odds else "…"}</div>'

    def _turned(self) -> None:
        remember(_COOKIE, _ON if self.value else "off")
        self._show()

    async def _work_out(self, state: HandState) -> None:
        """Compute the odds in a thread, since the first call loads the kernel."""
        odds = await run.io_bound(pot_odds, state)
        if self._odds is not None and self._odds[0] == state and not self.is_deleted:
            self._odds = state, odds
            self._show()


def odds_html(odds: PotOdds, big_blind: int | None) -> str:
    """Return the HTML of pot odds, equity and SPR; amounts in chips, or in big blinds of `big_blind` chips."""
    parts = []
    if odds.to_call:
        price = f"call {words.chips(odds.to_call, big_blind)} to win {words.chips(odds.to_win, big_blind)}"
        parts.append(f"<span>{price}: needs {odds.needed:.0%}</span>")
    if odds.equity is not None:
        hands = "a random hand" if odds.opponents == 1 else f"{odds.opponents} random hands"
        parts.append(f"<span>equity {odds.equity:.0%} against {hands}</span>")
    parts.append(f'<span title="Stack behind over the pot, after a call">SPR {odds.spr:.3g}</span>')
    return " · ".join(parts)
