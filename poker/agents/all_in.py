"""All-in before the flop with the best hands, and nothing else: the plan that bet menus without all-in misread.

How much can be won from it is known exactly: cards alone decide once the chips are in.
"""

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import showdown_equity
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

    def best_reply(self, rules: Rules) -> tuple[float, float]:
        """Chips per hand that the best reply wins as player 0, who posts the big blind, and as player 1.

        Player 0 calls an all-in where that loses less than the blind. Player 1 folds, or calls the blind: that gets
        what any raise does, an all-in or (by a bet after the flop) the big blind, and risks least.
        """
        big, small = rules.blinds
        all_in = self._all_in(rules)
        against_all_in = np.maximum(self.call_gains(rules), 0.0) - big * all_in
        limped = against_all_in + big * (1 - all_in)
        return float((against_all_in + small * (1 - all_in)).mean()), float(np.maximum(limped, -small).mean())

    def call_gains(self, rules: Rules) -> NDArray[np.float64]:
        """[1326] chips that calling the all-in wins over giving up a big blind, by hand, 0 where nobody is all-in."""
        equity, disjoint = showdown_equity(rules, ()).astype(np.float64), rules.space.disjoint
        called = ((2 * equity - 1) * disjoint * self._played).sum(axis=1) / disjoint.sum(axis=1) * min(rules.stacks)
        return np.asarray(called + rules.blinds[0] * self._all_in(rules))

    def _all_in(self, rules: Rules) -> NDArray[np.float64]:
        """[1326] probability that the player is all-in, given the opponent's hand."""
        disjoint = rules.space.disjoint
        return np.asarray((disjoint * self._played).sum(axis=1) / disjoint.sum(axis=1))


def best_hands(share: float) -> NDArray[np.float64]:
    """[1326] 1 for the hands of most equity that make up `share` of all, a part of 1 at the limit."""
    equity = np.round(hand_features(()).ehs, 9)
    played, left = np.zeros(len(equity)), share * len(equity)
    for value in np.unique(equity)[::-1]:
        members = equity == value
        played[members] = min(1.0, max(0.0, left / members.sum()))
        left -= members.sum()
    return played
