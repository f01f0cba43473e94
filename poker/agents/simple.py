"""Baselines that ignore their cards: random, always call, always raise.

`raises` are bet sizes of no-limit games in the notation of bet menus (`0.5` pots, `2.5x`, `a` for all-in). A limit game
has one raise.
"""

from collections.abc import Sequence

import numpy as np

from poker.agents.base import Agent
from poker.game.rules import CALL, FOLD
from poker.game.state import HandState, Policy
from poker.tree import BetMenu, Size, StreetMenu


def raise_menu(raises: Sequence[str | float]) -> BetMenu:
    """Return the menu with the same raise sizes in every spot of a game.

    Args:
        raises: the sizes.
    """
    sizes = tuple(Size.parse(text) for text in raises)
    return BetMenu((StreetMenu(((sizes,),)),) * 4)


class _CardBlindAgent(Agent):
    """An agent with the same policy for every hand."""

    quick_policy = "simple"

    def __init__(self, *, name: str, raises: Sequence[str | float]) -> None:
        """Prepare the bet menu.

        Args:
            raises: sizes of raises.
        """
        super().__init__(name)
        self._menu = raise_menu(raises)

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A], equal for all hands.
        """
        weights = self._weights(state)
        actions = tuple(weights)
        row = np.array([weights[action] for action in actions], dtype=np.float32)
        return actions, np.tile(row / row.sum(), (state.rules.num_hands, 1))

    def _weights(self, state: HandState) -> dict[int, float]:
        """Return the relative frequency of each action."""
        raise NotImplementedError


class RandomAgent(_CardBlindAgent):
    """An agent that folds (only to a bet), calls and raises with equal probability; all sizes are equally likely."""

    def _weights(self, state: HandState) -> dict[int, float]:
        raises = self._menu.raise_totals(state.betting)
        weights = {FOLD: 1.0} if state.legal().fold else {}
        return {**weights, CALL: 1.0, **{total: 1.0 / len(raises) for total in raises}}


class AlwaysCall(_CardBlindAgent):
    """An agent that always checks and calls."""

    def __init__(self, *, name: str) -> None:
        """Create the agent.

        Args:
            name: name of the agent.
        """
        super().__init__(name=name, raises=())

    def _weights(self, state: HandState) -> dict[int, float]:
        return {CALL: 1.0}


class AlwaysRaise(_CardBlindAgent):
    """An agent that raises by one of its sizes if it may, and calls otherwise."""

    def _weights(self, state: HandState) -> dict[int, float]:
        totals = self._menu.raise_totals(state.betting)
        return dict.fromkeys(totals, 1.0) or {CALL: 1.0}
