"""All-in before the flop with the best hands, and nothing else: the plan that bet menus without all-in misread."""

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import hand_features
from poker.agents.base import SamplingAgent
from poker.game.rules import CALL, FOLD, Rules
from poker.game.state import HandState, Policy
from poker.run.errors import PokernetsError


def check_heads_up_nolimit(name: str, game: Rules) -> None:
    """Raise PokernetsError for games other than heads-up no-limit hold'em."""
    if game.is_limit or game.num_players != 2 or game.deck_size != 52 or game.num_hole_cards != 2:
        raise PokernetsError(f"the agent `{name}` plays heads-up no-limit hold'em, not `{game.name}`")


class AllInPlayer(SamplingAgent):
    """Is all-in with the `share` of hands that have the most equity against any hand; checks or folds the others.

    The class of hands at the limit of the share is played in part, so that the share is exact.
    """

    quick_policy = "simple"

    def __init__(self, *, name: str, share: float) -> None:
        super().__init__(name)
        if not 0 < share <= 1:
            raise PokernetsError(f"agent `{name}`: `share` of hands lies above 0 and at most at 1, not {share}")
        self._played = best_hands(share)

    def check_game(self, game: Rules) -> None:
        check_heads_up_nolimit(self.name, game)

    def policy(self, state: HandState) -> Policy:
        legal = state.legal()
        best = legal.max_raise if legal.max_raise else CALL
        other = FOLD if legal.fold else CALL
        if state.betting.street or best == other:
            return (other,), np.ones((state.rules.num_hands, 1), np.float32)
        return (other, best), np.stack((1 - self._played, self._played), axis=1).astype(np.float32)


def best_hands(share: float) -> NDArray[np.float64]:
    """[1326] 1 for the hands of most equity that make up `share` of all, a part of 1 at the limit."""
    equity = np.round(hand_features(()).ehs, 9)
    played, left = np.zeros(len(equity)), share * len(equity)
    for value in np.unique(equity)[::-1]:
        members = equity == value
        played[members] = min(1.0, max(0.0, left / members.sum()))
        left -= members.sum()
    return played
