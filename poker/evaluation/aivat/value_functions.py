"""Value functions for AIVAT as they are configured (`values=`): from the policies in a hand to estimates.

Estimates are unbiased with all of them; they differ in the variance that is left and in their cost. Cards are judged by
check-downs, whose mean over the next cards is known without dealing one (`values.py`), except where the solution of a
round looked through the deal (`search_values.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.values import CheckDown, FoldEquity
from poker.play.lineup import BuiltOnce
from poker.rules import Rules
from poker.search.solved_values import Solved
from poker.state import PolicyFunction

DEFAULT = {"_target_": "poker.evaluation.aivat.value_functions.FoldEquityValues"}
"""Settings of the default value function; its stored estimates bear no mark."""


class ValueFunctionFactory(Protocol):
    """A configured way to value hands."""

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[Solved | None] = (None, None)
    ) -> Aivat:
        """Estimates for heads-up hands whose players, by seat, answer about as `responses` say; None: not known.

        Responses must be quick: they are asked for many states that never come up. `solved` gives the solutions of
        players who solve, by seat too.
        """


@dataclass
class ValueFunctionSpec(BuiltOnce[ValueFunctionFactory]):
    """A value function, built once in each process; `settings` identify it."""

    settings: Mapping[str, Any]

    @property
    def mark(self) -> dict[str, Any] | None:
        """Settings that tell stored estimates of this value function from others; None for the default."""
        return None if self.settings == DEFAULT else dict(self.settings)


class CheckDownValues:
    """Values by `CheckDown`: nobody bets any more."""

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[Solved | None] = (None, None)
    ) -> Aivat:
        return Aivat(rules, CheckDown(rules))


class FoldEquityValues:
    """Values by `FoldEquity`: a bet is answered, then nobody bets any more."""

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[Solved | None] = (None, None)
    ) -> Aivat:
        return Aivat(rules, FoldEquity(rules, responses))
