"""Predictors that count: class frequencies overall, per context, per player, and a choice of the best one.

A frequency table is [12, 3]: for each context of `poker.opponents.predictor` how often each class was seen. A player's
own counts are mixed with those of the population as if these had been seen `shrinkage` times in the player, so that an
unseen player is average and twenty hands already tell something.
"""

from collections.abc import Mapping

import numpy as np

from poker.opponents.predictor import NUM_CLASSES, NUM_CONTEXTS, Context, Predictor
from poker.types import Floats

_RULE = np.array(
    [
        [[0.02, 0.78, 0.20], [0.50, 0.37, 0.13], [0.70, 0.24, 0.06]],
        [[0.01, 0.62, 0.37], [0.25, 0.63, 0.12], [0.35, 0.56, 0.09]],
        [[0.01, 0.64, 0.35], [0.36, 0.54, 0.10], [0.45, 0.47, 0.08]],
        [[0.01, 0.66, 0.33], [0.50, 0.41, 0.09], [0.55, 0.37, 0.08]],
    ]
).reshape(NUM_CONTEXTS, NUM_CLASSES)
GENERIC_TABLE: Floats = _RULE / _RULE.sum(axis=1, keepdims=True)
"""[12, 3] a rule for everybody: a moderate player who gives up to a bet about one time in three after the flop."""

_PRIOR_WEIGHT = 10.0
"""Actions in a context that the rule counts like, where a population is learned."""
_HITS_DECAY = 0.98


class Constant:
    """A fixed table [12, 3] for everybody, never updated: the generic model of [POKI] section 6."""

    def __init__(self, table: Floats = GENERIC_TABLE) -> None:
        self._table = table

    def probs(self, context: Context) -> Floats:
        return np.asarray(self._table[context.index])

    def update(self, context: Context, action_class: int) -> None:
        """A rule does not learn."""

    def forget(self) -> None:
        """There is nothing to forget."""


class Majority:
    """Class frequencies over all decisions of everybody: the baseline that knows nothing."""

    def __init__(self) -> None:
        self._counts = np.ones(NUM_CLASSES)

    def probs(self, context: Context) -> Floats:
        return np.asarray(self._counts / self._counts.sum())

    def update(self, context: Context, action_class: int) -> None:
        self._counts[action_class] += 1

    def forget(self) -> None:
        self._counts[:] = 1


class Frequencies:
    """One table for the whole population, learned on line from the rule for everybody: `counts` [12, 3]."""

    def __init__(self) -> None:
        self.forget()

    def probs(self, context: Context) -> Floats:
        row = self.counts[context.index]
        return np.asarray(row / row.sum())

    def update(self, context: Context, action_class: int) -> None:
        self.counts[context.index, action_class] += 1

    def forget(self) -> None:
        self.counts = _PRIOR_WEIGHT * GENERIC_TABLE


class PlayerFrequencies:
    """A table for each player, shrunk towards the population's; see the module docstring."""

    def __init__(self, *, shrinkage: float) -> None:
        if not shrinkage > 0:
            raise ValueError(f"shrinkage must be above 0, not {shrinkage}")
        self._population = Frequencies()
        self._shrinkage = shrinkage
        self._players: dict[str, Floats] = {}

    def probs(self, context: Context) -> Floats:
        base = self._population.probs(context)
        seen = self._players.get(context.player)
        if seen is None:
            return base
        mixed = seen[context.index] + self._shrinkage * base
        return np.asarray(mixed / mixed.sum())

    def update(self, context: Context, action_class: int) -> None:
        self._population.update(context, action_class)
        counts = self._players.setdefault(context.player, np.zeros((NUM_CONTEXTS, NUM_CLASSES)))
        counts[context.index, action_class] += 1

    def forget(self) -> None:
        self._population.forget()
        self._players.clear()


class BestOf:
    """Uses for each player the predictor whose most probable class came true most often, recently.

    [POKI] section 6 calls it a mixture; weights of hits fall with each action. An unseen player gets the first
    predictor.
    """

    def __init__(self, predictors: Mapping[str, Predictor]) -> None:
        self._predictors = dict(predictors)
        self._hits: dict[str, Floats] = {}

    def probs(self, context: Context) -> Floats:
        return self._predictors[self.chosen(context.player)].probs(context)

    def chosen(self, player: str) -> str:
        """Name of the predictor used for this player."""
        hits = self._hits.get(player, np.zeros(1))
        return list(self._predictors)[int(hits.argmax())]

    def update(self, context: Context, action_class: int) -> None:
        hits = self._hits.setdefault(context.player, np.zeros(len(self._predictors)))
        hits *= _HITS_DECAY
        for i, predictor in enumerate(self._predictors.values()):
            hits[i] += int(predictor.probs(context).argmax()) == action_class
            predictor.update(context, action_class)

    def forget(self) -> None:
        self._hits.clear()
        for predictor in self._predictors.values():
            predictor.forget()
