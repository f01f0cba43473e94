"""The five ways to model opponents, by name: none, generic, statistics, net and best_of."""

from typing import Literal, get_args

from poker.commands import COMMANDS
from poker.errors import PokernetsError
from poker.opponents.action_statistics import BestOf, Constant, of_players
from poker.opponents.model import Context, Predictor
from poker.types import Floats

Modelling = Literal["none", "generic", "statistics", "net", "best_of"]

SHRINKAGE = 12.0
"""Weight of the population's habits in a context, in actions of the player."""


class ByStreet:
    """One predictor before the flop, which nets do not cover, and another one after, which learns from all streets."""

    def __init__(self, preflop: Predictor, postflop: Predictor) -> None:
        self._preflop = preflop
        self._postflop = postflop

    def probs(self, context: Context) -> Floats:
        return (self._postflop if context.street else self._preflop).probs(context)

    def update(self, context: Context, action_class: int) -> None:
        if context.street == 0:
            self._preflop.update(context, action_class)
        self._postflop.update(context, action_class)

    def forget(self) -> None:
        self._preflop.forget()
        self._postflop.forget()


def predictor_for(modelling: Modelling, net: Predictor | None) -> Predictor | None:
    """A new predictor, None for `none`; `net` is required by `net` and included in `best_of` when given."""
    if modelling not in get_args(Modelling):
        raise PokernetsError(f"modelling={modelling!r} is unknown: choose {', '.join(get_args(Modelling))}")
    if modelling == "none":
        return None
    if modelling == "generic":
        return Constant()
    statistics = of_players(SHRINKAGE)
    if modelling == "statistics":
        return statistics
    if modelling == "net":
        if net is None:
            raise PokernetsError(
                f"modelling=net needs the agent's `net`: a predictor from `{COMMANDS['train']} model=opponent`"
            )
        return ByStreet(statistics, net)
    mixture: dict[str, Predictor] = {"statistics": statistics, "generic": Constant()}
    if net is not None:
        mixture["net"] = ByStreet(of_players(SHRINKAGE), net)
    return BestOf(mixture)


def habits_for(modelling: Modelling, predictor: Predictor | None) -> Predictor:
    """Predictor of actions in contexts still to come, for which nets have no inputs yet."""
    if modelling == "statistics" and predictor is not None:
        return predictor
    return Constant() if modelling in {"none", "generic"} else of_players(SHRINKAGE)
