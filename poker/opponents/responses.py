"""Probabilities of a player's actions with each hand, computed from the player's habits.

Before the flop every player chooses among all hands: the strongest raise, and the weakest fold. The borders are soft
(`poker.kernels.opponents.weights.action_likelihood`), and the mean over all hands equals the habits.

After the flop players hold hands that they have continued with. The strength z of a hand is the standard normal
quantile of its share of weaker hands. The odds to raise, and the odds to fold rather than call, are exponential in z
(logistic regression). We assume that z is normal with mean m and deviation d in a usual range. The intercepts are such
that this range folds and raises as often as the habits (`poker.kernels.opponents.conditional`).

m, d and the slopes are rounded fits to 17,400 decisions of our own players at ring tables, with known hands. The
log-loss is 0.42 to 0.64 by street and bets to call. With soft borders, as before the flop, it was 0.51 to 0.78. On the
river no draws are left, so folding is steeper there.

Symbols: P players, B strength bins.
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
"""Number of strengths: a hand with a share q of weaker hands is in bin floor(q * BINS)."""

TRANSITION = 0.3
"""Half-width of the soft borders before the flop, in shares of all hands."""

Z = np.array([NormalDist().inv_cdf((i + 0.5) / BINS) for i in range(BINS)])
"""[B] standard normal quantiles of the strengths."""
_Z_MEAN = np.array([0.0, 0.1, 0.35, 0.4])
_Z_SD = 0.9
RAISE_SLOPE = np.tile([1.8, 2.8, 4.0], (NUM_STREETS, 1))
FOLD_SLOPE = np.array([[0.0, 0.0, 0.0], [0.0, 1.8, 1.0], [0.0, 1.9, 1.4], [0.0, 3.5, 3.4]])
"""[street, bets to call] slopes; nobody folds without a bet to call."""
_BINS = np.arange(BINS, dtype=np.int16)
_FLOOR = 2e-3
"""Least frequency of an action."""

_EDGES = [-np.inf, *(NormalDist().inv_cdf(i / BINS) for i in range(1, BINS)), np.inf]
_USUAL = np.array([np.diff([NormalDist(mean, _Z_SD).cdf(edge) for edge in _EDGES]) for mean in _Z_MEAN])
"""[street, B] share of a usual range in each bin."""


def likelihood(
    street: int, bets_to_call: int, quantile: Singles, habits: Floats, action_class: int, table: Singles | None = None
) -> Singles:
    """Compute the probability of an action given each hand, for a player who looks at the cards.

    Args:
        street: 0 before the flop to 3.
        bets_to_call: 0, 1 or 2.
        quantile: [1326] share of weaker hands; negative for impossible hands.
        habits: [3] frequencies of fold, call and raise.
        table: [1326] weight table of the range that acts with these habits. None for a usual range.

    Returns:
        float32 [1326] probabilities.
    """
    if street == 0:
        return kernel.action_likelihood(quantile, habits, action_class, TRANSITION)
    bins, held = np.clip((quantile * BINS).astype(np.int64), 0, BINS - 1), None
    if table is not None:
        held = np.bincount(bins, np.where(quantile >= 0, table, 0), BINS).astype(np.float64)
    by_bin = responses(habits, street, bets_to_call, held)[:, action_class]
    return np.where(quantile >= 0, by_bin[bins], np.float32(0))


def responses(habits: Floats, street: int, bets_to_call: int, held: Floats | None = None) -> Singles:
    """Compute the actions of each strength after the flop.

    Args:
        habits: [3] frequencies of fold, call and raise.
        street: 1 to 3.
        bets_to_call: 0, 1 or 2.
        held: [B] mass of each bin in the range that acts with these habits. None for a usual range.

    Returns:
        float32 [B, 3] probabilities of fold, call and raise.
    """
    usual = _USUAL[street] if held is None else held
    odds = odds_by_strength(FOLD_SLOPE[street, bets_to_call], RAISE_SLOPE[street, bets_to_call])
    fold, call, bet = np.maximum(habits, _FLOOR)
    shares = np.array([fold, call, bet] if bets_to_call else [0.0, fold + call, bet])
    out: Singles = conditional(_BINS[None], usual[None], odds[None], (shares / shares.sum())[None], 0.0, 0.0)[0]
    return out


def odds_by_strength(fold_slope: float, raise_slope: float) -> Floats:
    """Compute the log odds of each strength, each up to a constant.

    Args:
        fold_slope: slope of the log odds to fold rather than call.
        raise_slope: slope of the log odds to raise.

    Returns:
        [2, B] log odds to fold rather than call, and to raise.
    """
    return np.stack([-fold_slope * Z, raise_slope * Z])


def all_responses(habits: Floats) -> Singles:
    """Compute the actions of each strength for several players in every context.

    Args:
        habits: [P, 12, 3] frequencies by context.

    Returns:
        float32 [P, 12, B, 3] probabilities; 0 before the flop.
    """
    return np.stack([_of_player(each.tobytes()) for each in np.asarray(habits, np.float64)])


@lru_cache(maxsize=256)
def _of_player(habits: bytes) -> Singles:
    """Return the responses [12, B, 3] of one player; cached, because consecutive decisions need the same ones."""
    by_context = np.frombuffer(habits).reshape(-1, 3)
    out = np.zeros((len(by_context), BINS, 3), dtype=np.float32)
    for context in range(NUM_BET_LEVELS, len(by_context)):
        out[context] = responses(by_context[context], *divmod(context, NUM_BET_LEVELS))
    return out
