"""An agent that goes all-in before the flop with the best hands, and does nothing else.

Bet menus without all-in misjudge this plan.
"""

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import hand_features
from poker.agents.base import Agent
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy
from poker.run.errors import PokernetsError


def check_heads_up_nolimit(name: str, game: Rules) -> None:
    """Check that a game is heads-up no-limit hold'em.

    Args:
        name: name of the agent, for the message.

    Raises:
        PokernetsError: it is another game.
    """
    if game.is_limit or game.num_players != 2 or game.deck_size != 52 or game.num_hole_cards != 2:
        raise PokernetsError(f"the agent `{name}` plays heads-up no-limit hold'em, not `{game.name}`")


class AllInPlayer(Agent):
    """An agent that goes all-in with a share of the hands, those with the most equity against a random hand.

    It checks or folds the others. The class of hands at the limit is played with a probability that makes the share
    exact.
    """

    quick_policy = "simple"

    def __init__(self, *, name: str, share: float) -> None:
        """Choose the hands.

        Args:
            name: name of the agent.
            share: share of the hands to play, above 0 and at most 1.

        Raises:
            PokernetsError: `share` is out of range.
        """
        super().__init__(name)
        if not 0 < share <= 1:
            raise PokernetsError(f"agent `{name}`: `share` must be above 0 and at most 1, not {share}")
        self._played = best_hands(share)

    def check_game(self, game: Rules) -> None:
        """Check that the agent can play a game.

        Raises:
            PokernetsError: it is not heads-up no-limit hold'em.
        """
        check_heads_up_nolimit(self.name, game)

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A].
        """
        legal = state.legal()
        best = legal.max_raise if legal.max_raise else CALL
        other = FOLD if legal.fold else CALL
        if state.betting.street or best == other:
            return (other,), np.ones((state.rules.num_hands, 1), np.float32)
        return (other, best), np.stack((1 - self._played, self._played), axis=1).astype(np.float32)


def best_hands(share: float) -> NDArray[np.float64]:
    """Return the hands with the most equity that make up a share of all hands.

    Returns:
        [1326] probability of each hand: 1, 0, or between them at the limit.
    """
    equity = np.round(hand_features(()).ehs, 9)
    played, left = np.zeros(len(equity)), share * len(equity)
    for value in np.unique(equity)[::-1]:
        members = equity == value
        played[members] = min(1.0, max(0.0, left / members.sum()))
        left -= members.sum()
    return played
