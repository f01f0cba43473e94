"""How a player's actions follow the hand held, from the hands that are shown at showdowns.

Three numbers say it: how steeply actions follow strength, as a factor on the slopes of everybody
(`poker.opponents.responses`); what share of the raises is made with the weakest hands; and what share of the actions
does not depend on the cards. They are estimated apart before the flop, after it without a bet to call, and after it
with one. The hands shown give each combination a likelihood; the numbers are posterior means under the prior of unseen
players.

One number more, before the flop and after it, says how far higher raises are made with stronger hands or, below 0,
with weaker ones.

Symbols: G groups of decisions, M factors, F shares of bluffs, N shares of blind actions, T tilts of the sizes.
"""

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from poker.kernels.types import Floats

STEEPNESS = 2.0 ** np.arange(-2, 5)
"""[M]; each octave from the slopes of everybody is half as likely."""
BLUFFS = np.array([0.0, 0.2, 0.4, 0.6])
"""[F]; each step is half as likely."""
BLIND = np.array([0.02, 0.05, 0.1, 0.2])
"""[N]; all as likely."""
TILTS = np.array([-8.0, -4, -2, -1, 0, 1, 2, 4, 8])
"""[T] slopes of the log odds of higher raises; each step from 0 is half as likely."""
_PREFLOP, _NO_BET, _FACING_BET = range(3)
_SLIPS = 0.05
"""The share of the raises whose size does not depend on the cards, whatever the tilt."""
_UNSEEN = 1e-6
"""The least probability of an action that was seen."""

_OCTAVES = np.log2(STEEPNESS)
_UNSEEN_PLAYER = (
    -np.log(2.0) * (np.abs(_OCTAVES)[:, None, None] + np.arange(len(BLUFFS))[:, None]) * np.ones(len(BLIND))
)
_UNTILTED = -np.log(2.0) * np.abs(np.arange(len(TILTS)) - len(TILTS) // 2)
_USUAL_OCTAVES = float(np.exp(_UNSEEN_PLAYER).sum(axis=(1, 2)) @ _OCTAVES / np.exp(_UNSEEN_PLAYER).sum())


class Shape(NamedTuple):
    """Steepness, share of bluffs among raises and share of blind actions: how actions follow hands."""

    steepness: float
    bluffs: float
    blind: float


def group_of(street: int, facing_bet: bool) -> int:
    """Group of a decision on `street`, with or without a bet to call."""
    return (_FACING_BET if facing_bet else _NO_BET) if street else _PREFLOP


@dataclass(frozen=True, eq=False)
class ShownHands:
    """Log-likelihoods of the actions with hands that were shown, `seen` [G, M, F, N], and of the sizes of their raises,
    `sizes` [2, T] before the flop and after it."""

    seen: Floats = field(default_factory=lambda: np.zeros((3, *_UNSEEN_PLAYER.shape)))
    sizes: Floats = field(default_factory=lambda: np.zeros((2, len(TILTS))))

    def after(self, group: int, looking: Floats, any_hand: float) -> "ShownHands":
        """Update on an action that players who look at the cards take with probabilities `looking` [M, F], given the
        hand shown, and those who do not with `any_hand`."""
        seen = self.seen.copy()
        seen[group] += np.log(np.maximum((1 - BLIND) * looking[:, :, None] + BLIND * any_hand, _UNSEEN))
        seen[group] -= seen[group].max()
        return replace(self, seen=seen)

    def after_raise(self, street: int, looking: Floats, any_hand: float) -> "ShownHands":
        """Update on a raise of a size that those who look at the cards choose with probabilities `looking` [T], given
        the hand shown, and those who do not with `any_hand`."""
        sizes = self.sizes.copy()
        sizes[min(street, 1)] += np.log((1 - _SLIPS) * looking + _SLIPS * any_hand)
        return replace(self, sizes=sizes)

    def tilt(self, street: int) -> float:
        """Expected tilt; 0 as long as nothing was shown."""
        seen = self.sizes[min(street, 1)]
        odds = np.exp(seen - seen.max() + _UNTILTED)
        return float(odds @ TILTS / odds.sum()) if seen.any() else 0.0

    def shape(self, group: int) -> Shape:
        """Expected shape; the steepness is 1 as long as nothing was shown."""
        odds = np.exp(self.seen[group] + _UNSEEN_PLAYER)
        odds /= odds.sum()
        steepness = 2.0 ** float(odds.sum(axis=(1, 2)) @ _OCTAVES - _USUAL_OCTAVES)
        return Shape(steepness, float(odds.sum(axis=(0, 2)) @ BLUFFS), float(odds.sum(axis=(0, 1)) @ BLIND))
