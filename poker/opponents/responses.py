"""Probabilities of a player's actions with each hand, from the player's habits.

Before the flop everybody chooses among all hands, raising with the strongest and folding the weakest, with soft borders
(`poker.kernels.opponents.weights.action_likelihood`), so that the mean over all hands is what habits say.

After the flop players hold what they have come with. A hand's strength is z, the standard normal quantile of its share
of weaker hands. The odds to raise, and the odds to fold if not to raise, are exponential in z (logistic regression),
with intercepts such that a usual range of those who have come so far, normal z of mean m and deviation d, folds and
raises as often as the habits say (`poker.kernels.opponents.conditional`). m, d and the slopes are rounded from fits to
17,400 decisions of our own players at ring tables, hands known: log-loss 0.42 to 0.64 by street and bets to call, where
the preflop borders had 0.51 to 0.78. On the river no draws are left, so folding is steeper there.
"""

from functools import lru_cache
from statistics import NormalDist

import numpy as np

from poker.kernels.opponents import weights as kernel
from poker.kernels.opponents.conditional import conditional
from poker.kernels.types import Floats, Singles
from poker.opponents.inputs.limit import NUM_BET_LEVELS
from poker.opponents.model import NUM_STREETS

BINS = 64
"""Strengths told apart: a hand with a share q of weaker hands is in bin floor(q * BINS)."""

TRANSITION = 0.3
"""Half-width of the soft borders before the flop, in shares of all hands."""

Z = np.array([NormalDist().inv_cdf((i + 0.5) / BINS) for i in range(BINS)])
"""[B] standard normal quantiles of the strengths."""
_Z_MEAN = np.array([0.0, 0.1, 0.35, 0.4])
_Z_SD = 0.9
RAISE_SLOPE = np.tile([1.8, 2.8, 4.0], (NUM_STREETS, 1))
FOLD_SLOPE = np.array([[0.0, 0.0, 0.0], [0.0, 1.8, 1.0], [0.0, 1.9, 1.4], [0.0, 3.5, 3.4]])
"""[street, bets to call]; nobody folds without a bet to call."""
_BINS = np.arange(BINS, dtype=np.int16)
_FLOOR = 2e-3
"""Least frequency: nothing is impossible."""

_EDGES = [-np.inf, *(NormalDist().inv_cdf(i / BINS) for i in range(1, BINS)), np.inf]
_USUAL = np.array([np.diff([NormalDist(mean, _Z_SD).cdf(edge) for edge in _EDGES]) for mean in _Z_MEAN])
"""[street, B] share of a usual range in each bin."""


def likelihood(
    street: int, bets_to_call: int, quantile: Singles, habits: Floats, action_class: int, table: Singles | None = None
) -> Singles:
    """[1326] probability of an action given each hand, for a player with habits [3] who looks at the cards held.

    `quantile` [1326] is the share of weaker hands, negative for hands that are impossible. After the flop habits are
    those of a usual range or, where they are expected of this very line of the hand, of the weight `table` [1326].
    """
    if street == 0:
        return kernel.action_likelihood(quantile, habits, action_class, TRANSITION)
    bins, held = np.clip((quantile * BINS).astype(np.int64), 0, BINS - 1), None
    if table is not None:
        held = np.bincount(bins, np.where(quantile >= 0, table, 0), BINS).astype(np.float64)
    by_bin = responses(habits, street, bets_to_call, held)[:, action_class]
    return np.where(quantile >= 0, by_bin[bins], np.float32(0))


def responses(habits: Floats, street: int, bets_to_call: int, held: Floats | None = None) -> Singles:
    """[B, 3] fold, call and raise of the hands in each bin after the flop, from frequencies [3] of a usual range or of
    `held` [B]."""
    usual = _USUAL[street] if held is None else held
    odds = odds_by_strength(FOLD_SLOPE[street, bets_to_call], RAISE_SLOPE[street, bets_to_call])
    fold, call, bet = np.maximum(habits, _FLOOR)
    shares = np.array([fold, call, bet] if bets_to_call else [0.0, fold + call, bet])
    out: Singles = conditional(_BINS[None], usual[None], odds[None], (shares / shares.sum())[None], 0.0, 0.0)[0]
    return out


def odds_by_strength(fold_slope: float, raise_slope: float) -> Floats:
    """[2, B] log odds of the strengths to fold if not to raise, and to raise, up to a constant each."""
    return np.stack([-fold_slope * Z, raise_slope * Z])


def all_responses(habits: Floats) -> Singles:
    """[P, 12, B, 3] from habits [P, 12, 3] by context; nothing before the flop."""
    return np.stack([_of_player(each.tobytes()) for each in np.asarray(habits, np.float64)])


@lru_cache(maxsize=256)
def _of_player(habits: bytes) -> Singles:
    """[12, B, 3] responses of one player; kept, because decision after decision asks for them."""
    by_context = np.frombuffer(habits).reshape(-1, 3)
    out = np.zeros((len(by_context), BINS, 3), dtype=np.float32)
    for context in range(NUM_BET_LEVELS, len(by_context)):
        out[context] = responses(by_context[context], *divmod(context, NUM_BET_LEVELS))
    return out
