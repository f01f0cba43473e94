"""Predictors that count actions, and a choice of the best predictor.

Counts are taken over all actions, by context, or by player and context. Each level of detail uses the frequencies of
the next coarser level as its prior (`poker.opponents.inputs.frequencies`). So an unseen player is predicted as average,
and twenty hands already make a difference.
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
"""[12, 3] generic frequencies: a moderate player who folds to about one bet in three after the flop."""

Place = Callable[[Context], tuple[int, ...]]
"""Key of the counts of a context."""
_PRIOR_WEIGHT = 10.0
"""Number of actions in a context that the generic table counts like when a population is learned."""
_HITS_DECAY = 0.98
ANYBODY = np.array([[0.0, 0.6, 0.4], [0.3, 0.57, 0.13], [0.45, 0.43, 0.12], [0.55, 0.37, 0.08], [0.6, 0.4, 0.0]])
"""[5, 3] no-limit frequencies by bet faced: bluffs of each size about break even against the folds."""


def _nowhere(context: Context) -> tuple[int, ...]:
    return ()


def _one_of_twelve(context: Context) -> tuple[int, ...]:
    return (context.index,)


def _of_spot(axes: tuple[int, ...], context: Context) -> tuple[int, ...]:
    return tuple(context.spot[axis] for axis in axes)


class Constant:
    """A fixed table of frequencies for everybody, never updated: the generic model of [POKI] section 6."""

    def __init__(self, table: Floats = GENERIC_TABLE, place: Place = _one_of_twelve) -> None:
        """Store the table.

        Args:
            table: [..., 3] frequencies of fold, check or call, and bet or raise.
            place: maps a context to an index into the leading axes of the table.
        """
        self._table, self._place = table, place

    def probs(self, context: Context) -> Floats:
        """Return the frequencies of the context.

        Args:
            context: the decision.

        Returns:
            [3] frequencies of fold, check or call, and bet or raise.
        """
        return np.asarray(self._table[self._place(context)])

    def update(self, context: Context, action_class: int) -> None:
        """Do nothing, since the table is fixed.

        Args:
            context: the decision.
        """

    def forget(self) -> None:
        """Do nothing, since nothing was learned."""


class ContextCounts:
    """Frequencies counted by place, and optionally by player, with another predictor as the prior.

    The prior learns from the same actions.

    Attributes:
        counts: [3] class counts by player (or "" for everybody) and place.
    """

    def __init__(
        self,
        prior: Predictor | None = None,
        weight: float = _PRIOR_WEIGHT,
        place: Place = _one_of_twelve,
        *,
        of_players: bool = False,
    ) -> None:
        """Begin without counts.

        Args:
            prior: predictor of the prior frequencies; None for the generic table.
            weight: number of actions that the prior counts like.
            place: maps a context to the place that its actions are counted in.
            of_players: count every player's actions separately.

        Raises:
            PokernetsError: `weight` is not positive.
        """
        if not weight > 0:
            raise PokernetsError(f"counts: `weight` must be above 0, not {weight}")
        self._prior, self._weight, self._of_players = Constant() if prior is None else prior, weight, of_players
        self._place = place
        self.counts: dict[tuple[str, tuple[int, ...]], Floats] = {}

    def _key(self, context: Context) -> tuple[str, tuple[int, ...]]:
        return context.player if self._of_players else "", self._place(context)

    def probs(self, context: Context) -> Floats:
        """Return the frequencies of the context.

        Args:
            context: the decision.

        Returns:
            [3] posterior mean of the frequencies of fold, check or call, and bet or raise.
        """
        prior, seen = self._prior.probs(context), self.counts.get(self._key(context))
        return prior if seen is None else mixed(seen, prior, self._weight)

    def update(self, context: Context, action_class: int) -> None:
        """Count an action, here and in the prior.

        Args:
            context: the decision.
        """
        self._prior.update(context, action_class)
        self.counts.setdefault(self._key(context), np.zeros(NUM_CLASSES))[action_class] += 1

    def forget(self) -> None:
        """Delete all counts, here and in the prior."""
        self._prior.forget()
        self.counts.clear()


def majority() -> ContextCounts:
    """Create the baseline that uses no context: class frequencies over all decisions of all players."""
    return ContextCounts(Constant(np.full((NUM_CONTEXTS, NUM_CLASSES), 1 / NUM_CLASSES)), NUM_CLASSES, _nowhere)


def of_players(weight: float) -> ContextCounts:
    """Create a predictor that counts each player's actions by context, with the population's frequencies as the prior.

    Args:
        weight: number of actions that the prior counts like.
    """
    return ContextCounts(ContextCounts(), weight, of_players=True)


def no_limit(prior: Predictor | None = None, weight: float = 5.0, *, of_players: bool = False) -> Predictor:
    """Create a predictor for no-limit spots that estimates from coarse levels to fine ones.

    Args:
        prior: predictor of the coarsest level; None for the frequencies `ANYBODY`.
        weight: number of actions that each level counts like in the next.
        of_players: count every player's actions separately, as `poker.opponents.habits` does.
    """
    predictor = Constant(ANYBODY, partial(_of_spot, LEVELS[0])) if prior is None else prior
    for axes in LEVELS:
        predictor = ContextCounts(predictor, weight, partial(_of_spot, axes), of_players=of_players)
    return predictor


class BestOf:
    """A choice of one predictor per player: the one whose most probable class was right most often.

    [POKI] section 6 calls this a mixture. The weight of past hits decays with each action. An unseen player gets the
    first predictor.
    """

    def __init__(self, predictors: Mapping[str, Predictor]) -> None:
        """Begin without hits.

        Args:
            predictors: predictors by name.
        """
        self._predictors = dict(predictors)
        self._hits: dict[str, Floats] = {}

    def probs(self, context: Context) -> Floats:
        """Return the probabilities of the predictor chosen for this player.

        Args:
            context: the decision.

        Returns:
            [3] probabilities of fold, check or call, and bet or raise.
        """
        return self._predictors[self.chosen(context.player)].probs(context)

    def chosen(self, player: str) -> str:
        """Return the name of the predictor used for a player.

        Args:
            player: name of the player.
        """
        hits = self._hits.get(player, np.zeros(1))
        return list(self._predictors)[int(hits.argmax())]

    def update(self, context: Context, action_class: int) -> None:
        """Count which predictors were right, and update all of them.

        Args:
            context: the decision.
        """
        hits = self._hits.setdefault(context.player, np.zeros(len(self._predictors)))
        hits *= _HITS_DECAY
        for i, predictor in enumerate(self._predictors.values()):
            hits[i] += int(predictor.probs(context).argmax()) == action_class
            predictor.update(context, action_class)

    def forget(self) -> None:
        """Delete all hits, and reset all predictors."""
        self._hits.clear()
        for predictor in self._predictors.values():
            predictor.forget()
