"""Kuhn poker's equilibria, and how far a strategy is from the nearest of them [SUCT] section 4.1.

With a = the probability of betting a jack, 0 <= a <= 1/3, the first player's equilibria are: bet J a, Q 0, K 3a; call a
bet with J 0, Q a + 1/3, K 1. The second player has one: after a check bet J 1/3, Q 0, K 1; call a bet J 0, Q 1/3, K 1.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from poker.game.rules import CALL, Rules
from poker.kernels.types import Floats, Reals, Singles
from poker.tree import BettingTree

_RULES = Rules(
    name="kuhn", num_players=2, betting="limit", blinds=(1, 1), stacks=(2, 2), raise_sizes=(1,), max_raises=(1,),
    first_player=(0,), num_suits=1, num_ranks=3, num_hole_cards=1, board_cards=(0,),
)  # fmt: skip
_BET = 2
DECISIONS = ((), (CALL, _BET), (CALL,), (_BET,))
"""Actions before each decision: the first player's to bet, and to call; the second player's to bet, and to call."""
_FIXED = np.array([[0, 0, 0], [0, 1 / 3, 1], [1 / 3, 0, 1], [0, 1 / 3, 1]])
_SLOPE = np.array([[1, 0, 3], [0, 1, 0], [0, 0, 0], [0, 0, 0]])


def is_kuhn(rules: Rules) -> bool:
    """Whether a game is Kuhn poker under whatever name."""
    return replace(rules, name=_RULES.name) == _RULES


def equilibrium(a: float) -> Floats:
    """[4, 3] probability of betting or calling at `DECISIONS` with J, Q, K; 0 <= a <= 1/3."""
    return np.asarray(_FIXED + a * _SLOPE)


def nearest_equilibrium(bets: Reals) -> Floats:
    """The equilibrium with the least squared distance to `bets` [4, 3]: the projection onto a line, cut at its ends."""
    along = float(((bets - _FIXED) * _SLOPE).sum() / np.square(_SLOPE).sum())
    return equilibrium(min(max(along, 0.0), 1 / 3))


def mean_squared_error(tree: BettingTree, average: Callable[[int], Singles]) -> float:
    """Mean over all actions of all 12 infosets of the squared error of `average(node)` [3, 2] against the nearest
    equilibrium; the two actions of an infoset have the same error."""
    bets = np.stack([average(tree.find(actions))[:, 1] for actions in DECISIONS]).astype(np.float64)
    return float(np.square(bets - nearest_equilibrium(bets)).mean())
