"""How far a model of the opponent is to be trusted: what share of their actions it explains better than solutions do.

On a street a share t of the opponent's actions is taken to be the model's, the rest what solutions say. An action is as
likely as

    (1 - e) (t m + (1 - t) y) + e / 3

where m and y are the probabilities with which the model and the solution take it, with the hand shown or, of a hand
that was not shown, with the range believed in. t is the mean of what follows from the actions seen, where all shares
were as likely before. Both m and y were there before the action, so a model that repeats what it saw by chance earns
nothing.

Symbols: H hands, S streets, N shares.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

_SHARES = np.linspace(0.0, 1.0, 17)
"""[N]"""
_CHANCE = 0.02
"""e: the share of the actions that nothing explains."""


@dataclass(frozen=True)
class Explained:
    """An action of the opponent on `street`: with what probability each hand was to take it by the model and by the
    solution, `model` and `solution` [H], and their range before, `weights` [H]."""

    street: int
    model: Floats
    solution: Floats
    weights: Floats

    def chances(self, hand: int | None) -> tuple[float, float]:
        """Of the action by the model and by the solution, with `hand`, or whatever they may hold."""
        if hand is not None:
            return float(self.model[hand]), float(self.solution[hand])
        return float(self.weights @ self.model), float(self.weights @ self.solution)


@dataclass(frozen=True, eq=False)
class Trust:
    """Logarithms of how likely the actions seen are, up to a summand, by street and share: `seen` [S, N]."""

    seen: NDArray[np.float64]

    @classmethod
    def start(cls, num_streets: int) -> "Trust":
        """Of a model of which nothing was seen."""
        return cls(np.zeros((num_streets, len(_SHARES))))

    def after(self, actions: Iterable[Explained], hand: int | None) -> "Trust":
        """With the actions of a hand, in which the opponent showed `hand`, or nothing."""
        seen = self.seen.copy()
        for action in actions:
            model, solution = action.chances(hand)
            mixed = _SHARES * model + (1 - _SHARES) * solution
            seen[action.street] += np.log((1 - _CHANCE) * mixed + _CHANCE / 3)
        return Trust(seen - seen.max(axis=1, keepdims=True))

    def shares(self) -> tuple[float, ...]:
        """[S] of the actions that are the model's, expected."""
        odds = np.exp(self.seen)
        return tuple((odds @ _SHARES / odds.sum(axis=1)).tolist())
