"""The five ways to model opponents, by name: none, generic, statistics, net and best_of."""

from typing import Literal, get_args

from poker.kernels.types import Floats
from poker.opponents.action_statistics import BestOf, Constant, of_players
from poker.opponents.limit.preflop import IncomeRates
from poker.opponents.limit.tracker import Tracker
from poker.opponents.model import Context, Predictor
from poker.run.commands import COMMANDS
from poker.run.errors import PokernetsError

Modelling = Literal["none", "generic", "statistics", "net", "best_of"]

SHRINKAGE = 12.0
"""Number of actions in a context that the population's frequencies count like."""


class ByStreet:
    """One predictor before the flop, which nets do not cover, and another after it; both learn from all streets."""

    def __init__(self, preflop: Predictor, postflop: Predictor) -> None:
        """Combine two predictors.

        Args:
            preflop: predictor of decisions before the flop.
            postflop: predictor of decisions after the flop.
        """
        self._preflop = preflop
        self._postflop = postflop

    def probs(self, context: Context) -> Floats:
        """Return the probabilities of the street's predictor.

        Args:
            context: the decision.

        Returns:
            [3] probabilities of fold, check or call, and bet or raise.
        """
        return (self._postflop if context.street else self._preflop).probs(context)

    def update(self, context: Context, action_class: int) -> None:
        """Update both predictors.

        Args:
            context: the decision.
        """
        self._preflop.update(context, action_class)
        self._postflop.update(context, action_class)

    def forget(self) -> None:
        """Reset both predictors."""
        self._preflop.forget()
        self._postflop.forget()


def tracker_for(modelling: Modelling, net: Predictor | None, rates: IncomeRates) -> Tracker:
    """Create a tracker for one way of modelling opponents.

    Its habits are frequencies by context. Play-outs use them for decisions still to come, because nets have no inputs
    for those yet. They are counted whenever the modelling counts actions.

    Args:
        modelling: none, generic, statistics, net or best_of.
        net: predictor after the flop. `net` requires it; `best_of` includes it if given.
        rates: income rates before the flop.

    Raises:
        PokernetsError: the modelling is unknown, or its net is missing.
    """
    if modelling not in get_args(Modelling):
        raise PokernetsError(f"modelling={modelling!r} is unknown: choose {', '.join(get_args(Modelling))}")
    rule, statistics = Constant(), of_players(SHRINKAGE)
    if modelling in {"none", "generic"}:
        return Tracker(None if modelling == "none" else rule, rates, rule)
    if modelling == "statistics":
        return Tracker(statistics, rates, statistics)
    if modelling == "net":
        if net is None:
            raise PokernetsError(
                f"modelling=net needs the agent's `net`: a predictor from `{COMMANDS['train']} model=opponent`"
            )
        return Tracker(ByStreet(statistics, net), rates, statistics, by_line=lambda player: True)
    mixture: dict[str, Predictor] = {"statistics": statistics, "generic": rule}
    if net is not None:
        mixture["net"] = ByStreet(of_players(SHRINKAGE), net)
    best = BestOf(mixture)
    return Tracker(best, rates, statistics, by_line=lambda player: best.chosen(player) == "net")
