"""The equilibria of Kuhn poker, and the distance of a strategy from the nearest one ([SUCT] section 4.1).

Let a be the probability of betting a jack, 0 <= a <= 1/3. The first player's equilibria are: bet J with a, Q with 0, K
with 3a; call a bet with J 0, Q a + 1/3, K 1. The second player has one equilibrium: after a check bet J 1/3, Q 0, K 1;
call a bet with J 0, Q 1/3, K 1.
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
"""Actions before each decision: the first player may bet, or call; the second player may bet, or call."""
_FIXED = np.array([[0, 0, 0], [0, 1 / 3, 1], [1 / 3, 0, 1], [0, 1 / 3, 1]])
_SLOPE = np.array([[1, 0, 3], [0, 1, 0], [0, 0, 0], [0, 0, 0]])


def is_kuhn(rules: Rules) -> bool:
    """Return whether a game is Kuhn poker under any name."""
    return replace(rules, name=_RULES.name) == _RULES


def equilibrium(a: float) -> Floats:
    """Return the equilibrium with parameter `a`.

    Args:
        a: probability of betting a jack, 0 <= a <= 1/3.

    Returns:
        float64 [4, 3] probability of betting or calling at `DECISIONS` with J, Q, K.
    """
    return np.asarray(_FIXED + a * _SLOPE)


def nearest_equilibrium(bets: Reals) -> Floats:
    """Return the equilibrium with the smallest squared distance to a strategy.

    It is the projection onto the line of equilibria, clipped to its ends.

    Args:
        bets: [4, 3] probability of betting or calling at `DECISIONS` with J, Q, K.

    Returns:
        float64 [4, 3] in the same form.
    """
    along = float(((bets - _FIXED) * _SLOPE).sum() / np.square(_SLOPE).sum())
    return equilibrium(min(max(along, 0.0), 1 / 3))


def mean_squared_error(tree: BettingTree, average: Callable[[int], Singles]) -> float:
    """Compute the mean squared error of a strategy from the nearest equilibrium.

    The mean is over all actions of all 12 infosets. The two actions of an infoset have the same error.

    Args:
        tree: the betting tree of Kuhn poker.
        average: function from a betting node to its strategy [3, 2].
    """
    bets = np.stack([average(tree.find(actions))[:, 1] for actions in DECISIONS]).astype(np.float64)
    return float(np.square(bets - nearest_equilibrium(bets)).mean())
