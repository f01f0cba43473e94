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
"""Weight of the population's habits in a context, in actions of the player."""


class ByStreet:
    """One predictor before the flop, which nets do not cover, and another one after; both learn from all streets."""

    def __init__(self, preflop: Predictor, postflop: Predictor) -> None:
        self._preflop = preflop
        self._postflop = postflop

    def probs(self, context: Context) -> Floats:
        return (self._postflop if context.street else self._preflop).probs(context)

    def update(self, context: Context, action_class: int) -> None:
        self._preflop.update(context, action_class)
        self._postflop.update(context, action_class)

    def forget(self) -> None:
        self._preflop.forget()
        self._postflop.forget()


def tracker_for(modelling: Modelling, net: Predictor | None, rates: IncomeRates) -> Tracker:
    """A new tracker; `net` is required by `net` and included in `best_of` when given. Its habits, of contexts still to
    come, for which nets have no inputs yet, are counted wherever anything is."""
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
