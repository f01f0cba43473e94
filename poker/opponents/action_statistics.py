"""Predictors that count: class frequencies overall, per context, per player, and a choice of the best one.

A frequency table is [12, 3]: for each context of `poker.opponents.predictor` how often each class was seen. A player's
own counts are mixed with those of the population as if these had been seen `shrinkage` times in the player, so that an
unseen player is average and twenty hands already tell something. With `decay` below 1 older actions of a player count
less: each new one in a context multiplies the older ones of that context.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from poker.opponents.predictor import NUM_CLASSES, NUM_CONTEXTS, Context, Predictor

GENERIC_TABLE: NDArray[np.float64] = np.array(
    [
        [[0.02, 0.78, 0.20], [0.50, 0.37, 0.13], [0.70, 0.24, 0.06]],
        [[0.01, 0.62, 0.37], [0.25, 0.63, 0.12], [0.35, 0.56, 0.09]],
        [[0.01, 0.64, 0.35], [0.36, 0.54, 0.10], [0.45, 0.47, 0.08]],
        [[0.01, 0.66, 0.33], [0.50, 0.41, 0.09], [0.55, 0.37, 0.08]],
    ]
).reshape(NUM_CONTEXTS, NUM_CLASSES)
"""[12, 3] a rule for everybody: a moderate player who gives up to a bet about one time in three after the flop."""

_FLOOR = 1e-3


class Constant:
    """A fixed table for everybody, never updated: the generic model of [POKI] section 6."""

    def __init__(self, table: NDArray[np.float64] | Sequence[Sequence[float]] = GENERIC_TABLE) -> None:
        self._table = _normalised(np.asarray(table, dtype=np.float64))

    def probs(self, context: Context) -> NDArray[np.float64]:
        return np.asarray(self._table[context.index])

    def update(self, context: Context, action_class: int) -> None:
        """A rule does not learn."""

    def forget(self) -> None:
        """There is nothing to forget."""


class Majority:
    """Class frequencies over all decisions of everybody: the baseline that knows nothing."""

    def __init__(self) -> None:
        self._counts = np.ones(NUM_CLASSES)

    def probs(self, context: Context) -> NDArray[np.float64]:
        return np.asarray(self._counts / self._counts.sum())

    def update(self, context: Context, action_class: int) -> None:
        self._counts[action_class] += 1

    def forget(self) -> None:
        self._counts[:] = 1


class Frequencies:
    """One table for the whole population, learned on line; it starts from `prior` [12, 3] seen `prior_weight` times.

    `counts` [12, 3] include the prior.
    """

    def __init__(
        self, prior: NDArray[np.float64] | Sequence[Sequence[float]] = GENERIC_TABLE, prior_weight: float = 10.0
    ) -> None:
        self._prior = _normalised(np.asarray(prior, dtype=np.float64)) * prior_weight
        self.counts = self._prior.copy()

    def probs(self, context: Context) -> NDArray[np.float64]:
        row = self.counts[context.index]
        return np.asarray(row / row.sum())

    def update(self, context: Context, action_class: int) -> None:
        self.counts[context.index, action_class] += 1

    def forget(self) -> None:
        self.counts = self._prior.copy()


class PlayerFrequencies:
    """A table for each player, shrunk towards the population's; see the module docstring."""

    def __init__(self, population: Frequencies | None = None, *, shrinkage: float, decay: float = 1.0) -> None:
        if not (shrinkage > 0 and 0 < decay <= 1):
            raise ValueError(f"shrinkage must be above 0 and decay in (0, 1], not {shrinkage} and {decay}")
        self._population = population if population is not None else Frequencies()
        self._shrinkage = shrinkage
        self._decay = decay
        self._players: dict[str, NDArray[np.float64]] = {}

    def probs(self, context: Context) -> NDArray[np.float64]:
        base = self._population.probs(context)
        seen = self._players.get(context.player)
        if seen is None:
            return base
        mixed = seen[context.index] + self._shrinkage * base
        return np.asarray(mixed / mixed.sum())

    def update(self, context: Context, action_class: int) -> None:
        self._population.update(context, action_class)
        row = self._players.setdefault(context.player, np.zeros((NUM_CONTEXTS, NUM_CLASSES)))[context.index]
        row *= self._decay
        row[action_class] += 1

    def forget(self) -> None:
        self._population.forget()
        self._players.clear()


class BestOf:
    """Uses for each player the predictor whose most probable class came true most often, recently.

    [POKI] section 6 calls it a mixture; hits are averaged with weights that fall by `decay` with each action. An unseen
    player gets the first predictor.
    """

    def __init__(self, predictors: Mapping[str, Predictor], *, decay: float = 0.98) -> None:
        if not predictors:
            raise ValueError("a choice needs predictors to choose from")
        self._predictors = dict(predictors)
        self._decay = decay
        self._hits: dict[str, NDArray[np.float64]] = {}

    def probs(self, context: Context) -> NDArray[np.float64]:
        return self._predictors[self.chosen(context.player)].probs(context)

    def chosen(self, player: str) -> str:
        """Name of the predictor used for this player."""
        hits = self._hits.get(player, np.zeros(1))
        return list(self._predictors)[int(hits.argmax())]

    def update(self, context: Context, action_class: int) -> None:
        hits = self._hits.setdefault(context.player, np.zeros(len(self._predictors)))
        hits *= self._decay
        for i, predictor in enumerate(self._predictors.values()):
            hits[i] += int(predictor.probs(context).argmax()) == action_class
            predictor.update(context, action_class)

    def forget(self) -> None:
        self._hits.clear()
        for predictor in self._predictors.values():
            predictor.forget()


def _normalised(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """[12, 3] rows of probabilities, none of them 0."""
    if table.shape != (NUM_CONTEXTS, NUM_CLASSES) or (table < 0).any():
        raise ValueError(f"a frequency table has {NUM_CONTEXTS} rows of {NUM_CLASSES} numbers >= 0, not {table.shape}")
    raised = np.maximum(table, _FLOOR)
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
