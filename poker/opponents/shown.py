"""How a player's actions depend on the hand, estimated from hands shown at showdowns.

Three numbers describe it:

- the steepness, a factor on the slopes of an average player (`poker.opponents.responses`);
- the share of raises that are bluffs with the weakest hands;
- the share of actions that do not depend on the cards.

They are estimated separately before the flop, after it without a bet to call, and after it with one. Each shown hand
gives every combination of values a likelihood. The estimates are posterior means under the prior of unseen players.

A fourth number, the tilt, is estimated before the flop and after it. Above 0, larger raises mean stronger hands; below
0, weaker ones.

Symbols: G groups of decisions, M factors, F shares of bluffs, N shares of blind actions, T tilts of the sizes.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from poker.kernels.types import Floats

STEEPNESS = 2.0 ** np.arange(-2, 5)
"""[M] factors; each octave away from 1 is half as likely."""
BLUFFS = np.array([0.0, 0.2, 0.4, 0.6])
"""[F] shares of bluffs; each step is half as likely."""
BLIND = np.array([0.02, 0.05, 0.1, 0.2])
"""[N] shares of blind actions, equally likely."""
TILTS = np.array([-8.0, -4, -2, -1, 0, 1, 2, 4, 8])
"""[T] slopes of the log odds of larger raises; each step away from 0 is half as likely."""
_PREFLOP, _NO_BET, _FACING_BET = range(3)
_SLIPS = 0.05
"""Share of raises whose size does not depend on the cards, whatever the tilt."""
_UNSEEN = 1e-6
"""Least probability of an observed action."""

_OCTAVES = np.log2(STEEPNESS)
_UNSEEN_PLAYER = (
    -np.log(2.0) * (np.abs(_OCTAVES)[:, None, None] + np.arange(len(BLUFFS))[:, None]) * np.ones(len(BLIND))
)
_UNTILTED = -np.log(2.0) * np.abs(np.arange(len(TILTS)) - len(TILTS) // 2)
_USUAL_OCTAVES = float(np.exp(_UNSEEN_PLAYER).sum(axis=(1, 2)) @ _OCTAVES / np.exp(_UNSEEN_PLAYER).sum())


class Shape(NamedTuple):
    """How actions depend on hands.

    Attributes:
        steepness: factor on the slopes of an average player.
        bluffs: share of bluffs among raises.
        blind: share of actions that do not depend on the cards.
    """

    steepness: float
    bluffs: float
    blind: float


def group_of(street: int, facing_bet: bool) -> int:
    """Return the group of a decision.

    Args:
        street: 0 before the flop to 3.
        facing_bet: whether there is a bet to call.
    """
    return (_FACING_BET if facing_bet else _NO_BET) if street else _PREFLOP


@dataclass(frozen=True, eq=False)
class ShownHands:
    """Log-likelihoods of the actions with shown hands.

    Attributes:
        seen: [G, M, F, N] log-likelihood of the actions.
        sizes: [2, T] log-likelihood of the sizes of raises, before the flop and after it.
    """

    seen: Floats = field(default_factory=lambda: np.zeros((3, *_UNSEEN_PLAYER.shape)))
    sizes: Floats = field(default_factory=lambda: np.zeros((2, len(TILTS))))

    def after(self, group: int, looking: Floats, any_hand: float) -> "ShownHands":
        """Return the statistics after an action with a shown hand.

        Args:
            group: group of the decision.
            looking: [M, F] probability of the action given the hand, for players who look at the cards.
            any_hand: probability of the action for players who do not.
        """
        seen = self.seen.copy()
        seen[group] += np.log(np.maximum((1 - BLIND) * looking[:, :, None] + BLIND * any_hand, _UNSEEN))
        seen[group] -= seen[group].max()
        return replace(self, seen=seen)

    def after_raise(self, street: int, looking: Floats, any_hand: float) -> "ShownHands":
        """Return the statistics after a raise with a shown hand.

        Args:
            street: 0 before the flop to 3.
            looking: [T] probability of the size given the hand, for players who look at the cards.
            any_hand: probability of the size for players who do not.
        """
        sizes = self.sizes.copy()
        sizes[min(street, 1)] += np.log((1 - _SLIPS) * looking + _SLIPS * any_hand)
        return replace(self, sizes=sizes)

    def tilt(self, street: int) -> float:
        """Return the expected tilt; 0 before a hand is shown.

        Args:
            street: 0 before the flop to 3.
        """
        seen = self.sizes[min(street, 1)]
        odds = np.exp(seen - seen.max() + _UNTILTED)
        return float(odds @ TILTS / odds.sum()) if seen.any() else 0.0

    def shape(self, group: int) -> Shape:
        """Return the expected shape; its steepness is 1 before a hand is shown.

        Args:
            group: group of decisions.
        """
        odds = np.exp(self.seen[group] + _UNSEEN_PLAYER)
        odds /= odds.sum()
        steepness = 2.0 ** float(odds.sum(axis=(1, 2)) @ _OCTAVES - _USUAL_OCTAVES)
        return Shape(steepness, float(odds.sum(axis=(0, 2)) @ BLUFFS), float(odds.sum(axis=(0, 1)) @ BLIND))
