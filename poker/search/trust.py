"""How far a model of the opponent is to be trusted: as far as it explains their actions better than solutions do.

A share t of the opponent's actions is taken to be the model's, the rest what solutions say. An action is as likely as

    (1 - e) (t m + (1 - t) y) + e / 3

where m and y are the probabilities with which the model and the solution take it, with the hand shown or, of a hand
that was not shown, with the range believed in. Both were there before the action, so a model that repeats what it saw
by chance earns nothing. Frequencies that come out for a range say little of who in it acts so, which decides what a
call is worth; so the hands that were shown have to bear out the model alone, too, with the folds, after which it no
longer matters who they were. Before anything is seen shares are the less likely the larger they are, with a mean of a
third; trust is what the mean after all that was seen has above that, 1 where all is the model's, once it is more than a
half. Sound players, whose play solutions tell but not to the last bluff, look like a quarter of a model, in some
sessions two fifths, and earn it none; who plays by a simple rule looks like a half or more.

Symbols: H hands, N shares.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.floating]

_SHARES = np.linspace(0.0, 1.0, 17)
"""[N]"""
_CHANCE = 0.02
"""e: the share of the actions that nothing explains."""
_STRANGERS = np.arange(len(_SHARES), 0, -1) / len(_SHARES)
"""[N] how likely shares are, up to a factor, before anything is seen."""
_MOST = 0.5
"""The share of the actions above which a model is trusted."""


@dataclass(frozen=True)
class Explained:
    """An action of the opponent: with what probability each hand was to take it by the model and by the solution,
    `model` and `solution` [H], their range before, `weights` [H], and whether it was to fold."""

    model: Floats
    solution: Floats
    weights: Floats
    fold: bool = False

    def chances(self, hand: int | None) -> tuple[float, float]:
        """Of the action by the model and by the solution, with `hand`, or whatever they may hold."""
        if hand is not None:
            return float(self.model[hand]), float(self.solution[hand])
        return float(self.weights @ self.model), float(self.weights @ self.solution)


@dataclass(frozen=True, eq=False)
class Trust:
    """Logarithms of how likely the actions seen are, up to a summand, by share: `every` [N], and `shown` [N] of folds
    and of those with hands that were shown."""

    every: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(_SHARES)))
    shown: NDArray[np.float64] = field(default_factory=lambda: np.zeros(len(_SHARES)))

    def after(self, actions: Iterable[Explained], hand: int | None) -> "Trust":
        """With the actions of a hand, in which the opponent showed `hand`, or nothing."""
        every, shown = self.every.copy(), self.shown.copy()
        for action in actions:
            model, solution = action.chances(hand)
            mixed = _SHARES * model + (1 - _SHARES) * solution
            likely = np.log((1 - _CHANCE) * mixed + _CHANCE / 3)
            every += likely
            if hand is not None or action.fold:
                shown += likely
        return Trust(every, shown)

    @property
    def share(self) -> float:
        """Of the actions that are the model's, expected: by all of them, or by those shown if that is less."""
        return min(_expected(self.every), _expected(self.shown))

    @property
    def earned(self) -> float:
        """The trust, from 0 to 1: none below a half, where it changed play and won nothing (docs/exploiting.md)."""
        share, start = self.share, Trust().share
        return (share - start) / (1 - start) if share > _MOST else 0.0


def _expected(seen: NDArray[np.float64]) -> float:
    """The share [N] of which is likely, up to a summand."""
    odds = _STRANGERS * np.exp(seen - seen.max())
    return float((odds * _SHARES).sum() / odds.sum())
