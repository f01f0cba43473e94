"""Predictors that count, and a choice of the best predictor.

Whatever is counted apart, all actions, those of a context or those of a player in a context, has for a prior what is
said with less detail (`poker.opponents.inputs.frequencies`), so that an unseen player is average and twenty hands
already tell something.
"""

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from poker.kernels.types import Floats
from poker.opponents.inputs.frequencies import mixed
from poker.opponents.inputs.no_limit import LEVELS
from poker.opponents.model import NUM_CLASSES, NUM_CONTEXTS, Context, Predictor
from poker.run.errors import PokernetsError

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

Place = Callable[[Context], tuple[int, ...]]
"""Key of the counts of a context."""
_PRIOR_WEIGHT = 10.0
"""Actions in a context that the rule counts like, where a population is learned."""
_HITS_DECAY = 0.98
ANYBODY = np.array([[0.0, 0.6, 0.4], [0.3, 0.57, 0.13], [0.45, 0.43, 0.12], [0.55, 0.37, 0.08], [0.6, 0.4, 0.0]])
"""[5, 3] of no-limit by the bet faced: folds are about as frequent as bluffs of that size need to break even."""


def _nowhere(context: Context) -> tuple[int, ...]:
    return ()


def _one_of_twelve(context: Context) -> tuple[int, ...]:
    return (context.index,)


def _of_spot(axes: tuple[int, ...], context: Context) -> tuple[int, ...]:
    return tuple(context.spot[axis] for axis in axes)


class Constant:
    """A fixed table [..., 3] by `place` for everybody, never updated: the generic model of [POKI] section 6."""

    def __init__(self, table: Floats = GENERIC_TABLE, place: Place = _one_of_twelve) -> None:
        self._table, self._place = table, place

    def probs(self, context: Context) -> Floats:
        return np.asarray(self._table[self._place(context)])

    def update(self, context: Context, action_class: int) -> None:
        """A rule does not learn."""

    def forget(self) -> None:
        """There is nothing to forget."""


class ContextCounts:
    """Frequencies counted apart by `place`, and by player if `of_players`; `prior` counts like `weight` actions.

    The prior learns from the same actions.
    """

    def __init__(
        self,
        prior: Predictor | None = None,
        weight: float = _PRIOR_WEIGHT,
        place: Place = _one_of_twelve,
        *,
        of_players: bool = False,
    ) -> None:
        if not weight > 0:
            raise PokernetsError(f"counts: `weight` is above 0, not {weight}")
        self._prior, self._weight, self._of_players = Constant() if prior is None else prior, weight, of_players
        self._place = place
        self.counts: dict[tuple[str, tuple[int, ...]], Floats] = {}
        """[3] of a player, or of everybody (""), in a place."""

    def _key(self, context: Context) -> tuple[str, tuple[int, ...]]:
        return context.player if self._of_players else "", self._place(context)

    def probs(self, context: Context) -> Floats:
        prior, seen = self._prior.probs(context), self.counts.get(self._key(context))
        return prior if seen is None else mixed(seen, prior, self._weight)

    def update(self, context: Context, action_class: int) -> None:
        self._prior.update(context, action_class)
        self.counts.setdefault(self._key(context), np.zeros(NUM_CLASSES))[action_class] += 1

    def forget(self) -> None:
        self._prior.forget()
        self.counts.clear()


def majority() -> ContextCounts:
    """Class frequencies over all decisions of everybody: the baseline that knows nothing."""
    return ContextCounts(Constant(np.full((NUM_CONTEXTS, NUM_CLASSES), 1 / NUM_CLASSES)), NUM_CLASSES, _nowhere)


def of_players(weight: float) -> ContextCounts:
    """Frequencies of each player, shrunk towards the population's as if these had been seen `weight` times."""
    return ContextCounts(ContextCounts(), weight, of_players=True)


def no_limit(prior: Predictor | None = None, weight: float = 5.0, *, of_players: bool = False) -> Predictor:
    """Frequencies in the spots of no-limit, estimated from coarse to fine, with `weight` actions of each level for the
    next; `of_players`: each player's, as `poker.opponents.habits` has them. `prior` None: nobody in particular."""
    predictor = Constant(ANYBODY, partial(_of_spot, LEVELS[0])) if prior is None else prior
    for axes in LEVELS:
        predictor = ContextCounts(predictor, weight, partial(_of_spot, axes), of_players=of_players)
    return predictor


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
