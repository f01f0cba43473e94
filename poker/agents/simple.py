"""Baselines that do not look at their cards: random, always call, always raise.

`raises` are bet sizes of no-limit games in the notation of bet menus (`0.5` pots, `2.5x`, `a` for all-in); a limit game
has one raise.
"""

from collections.abc import Sequence

import numpy as np

from poker.agents.base import SamplingAgent
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, Policy
from poker.tree import BetMenu, Size, StreetMenu


def raise_menu(raises: Sequence[str | float]) -> BetMenu:
    """Menu that has these raise sizes in every spot of a game."""
    sizes = tuple(Size.parse(text) for text in raises)
    return BetMenu((StreetMenu(((sizes,),)),) * 4)


class _CardBlindAgent(SamplingAgent):
    """Plays a policy that is the same for every hand."""

    quick_policy = "simple"

    def __init__(self, *, name: str, raises: Sequence[str | float]) -> None:
        super().__init__(name)
        self._menu = raise_menu(raises)

    def policy(self, state: HandState) -> Policy:
        weights = self._weights(state)
        actions = tuple(weights)
        row = np.array([weights[action] for action in actions], dtype=np.float32)
        return actions, np.tile(row / row.sum(), (state.rules.num_hands, 1))

    def _weights(self, state: HandState) -> dict[int, float]:
        """Relative frequency of each action."""
        raise NotImplementedError


class RandomAgent(_CardBlindAgent):
    """Folds (only to a bet), calls and raises equally often, by sizes that are equally likely."""

    def _weights(self, state: HandState) -> dict[int, float]:
        raises = self._menu.raise_totals(state.betting)
        weights = {FOLD: 1.0} if state.legal().fold else {}
        return {**weights, CALL: 1.0, **{total: 1.0 / len(raises) for total in raises}}


class AlwaysCall(_CardBlindAgent):
    """Checks and calls whatever happens."""

    def __init__(self, *, name: str) -> None:
        super().__init__(name=name, raises=())

    def _weights(self, state: HandState) -> dict[int, float]:
        return {CALL: 1.0}


class AlwaysRaise(_CardBlindAgent):
    """Raises while it may, by one of its sizes, and calls when it may not."""

    def _weights(self, state: HandState) -> dict[int, float]:
        totals = self._menu.raise_totals(state.betting)
        return dict.fromkeys(totals, 1.0) or {CALL: 1.0}
