"""What AIVAT takes hands to be worth, as it is configured: from the policies in a hand to estimates (`values=`).

Whatever is chosen, estimates are unbiased; they differ in the variance that is left and in what they cost. Cards are
judged by check-downs, whose mean over the next cards is known without dealing one (`values.py`), but for those that the
solution of a round looked through (`search_values.py`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from poker.evaluation.aivat.heads_up import Aivat
from poker.evaluation.aivat.values import CheckDown, FoldEquity
from poker.play.lineup import Shared
from poker.rules import Rules
from poker.search.solved_values import Solved
from poker.state import PolicyFunction

DEFAULT = {"_target_": "poker.evaluation.aivat.value_functions.FoldEquityValues"}
"""Settings of the one that is used where none is named; stored estimates of it bear no mark."""


class ValueFunctionFactory(Protocol):
    """A way to value hands, as it is configured."""

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[Solved | None] = (None, None)
    ) -> Aivat:
        """Estimates for heads-up hands whose players, by seat, answer about as `responses` say; None: not known.

        Responses are quick to ask, and asked for many states that never come up. `solved`, by seat too, say what the
        solutions of players who solve hold.
        """


@dataclass
class ValueFunctionSpec(Shared[ValueFunctionFactory]):
    """`settings` tell what it is."""

    settings: Mapping[str, Any]

    @property
    def mark(self) -> dict[str, Any] | None:
        """What tells stored estimates of this value function from those of others."""
        return None if self.settings == DEFAULT else dict(self.settings)


class CheckDownValues:
    """Nobody bets any more: `CheckDown`."""

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[Solved | None] = (None, None)
    ) -> Aivat:
        return Aivat(rules, CheckDown(rules))


class FoldEquityValues:
    """A bet is answered, then nobody bets any more: `FoldEquity`."""

    def __call__(
        self, rules: Rules, responses: Sequence[PolicyFunction | None], solved: Sequence[Solved | None] = (None, None)
    ) -> Aivat:
        return Aivat(rules, FoldEquity(rules, responses))
