"""Value functions for AIVAT, and their factories as they are configured (`values=`).

Estimates are unbiased with all of them; they differ in the variance that is left and in their cost. Cards are judged by
check-downs, whose mean over the next cards is known without dealing one: an all-in equity is the mean of the equities
after the next cards. Where the solution of a round looked through the deal, it judges them (`search_values.py`).

Symbols: H hands, A states.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from poker.abstraction.equities import showdown_totals
from poker.evaluation.aivat.heads_up import Aivat
from poker.game.betting import Betting
from poker.game.rules import FOLD, Rules
from poker.game.state import PolicyFunction, public_state
from poker.kernels.types import Board, Floats
from poker.play.lineup import BuiltOnce
from poker.run.errors import PokernetsError
from poker.search.solved_values import Solved

Responses = Sequence[PolicyFunction | None]
"""Policies by seat that answer about as the players do; None where they are not known."""
Solutions = Sequence[Solved | None]
"""Solutions of players who solve, by seat."""


class CheckDown:
    """A showdown for the chips that both have put in, times a factor by street for those still to come.

    A bet that is not called yet counts nothing: all-ins of no-limit games would otherwise seem to be called by
    everybody. `growth` has a factor for each street (empty: 1 for all); stakes are capped at the shorter stack.
    """

    exact_runouts = True

    def __init__(self, rules: Rules, growth: Sequence[float] = ()) -> None:
        self._rules = rules
        self._growth = tuple(growth) or (1.0,) * rules.num_streets
        if len(self._growth) != rules.num_streets:
            raise PokernetsError(f"`growth` needs {rules.num_streets} factors for `{rules.name}`, not {len(growth)}")

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        stakes = np.array([self._stake(state) for state in states])
        return stakes * showdown_totals(self._rules, board, own, opponent)

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        return float(self.values([state], board, player, own[None], opponent)[0])

    def _stake(self, state: Betting) -> float:
        matched = float(min(state.committed))
        return matched if state.is_over else min(matched * self._growth[state.street], *self._rules.stacks)


class FoldEquity(CheckDown):
    """A `CheckDown` after a bet is answered: the player who faces it folds as often as a policy says, else calls.

    Estimates are unbiased whether anybody plays the `responses` or not.
    """

    def __init__(self, rules: Rules, responses: Responses) -> None:
        super().__init__(rules)
        self._responses = tuple(responses)

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        out = super().values(states, board, player, own, opponent)
        for row, state in enumerate(states):
            policy = self._responses[state.to_act] if state.to_act == 1 - player else None
            if policy is not None and state.to_call > 0:
                actions, probs = policy(public_state(state, board))
                folding = opponent * probs[:, actions.index(FOLD)] if FOLD in actions else np.zeros_like(opponent)
                called = min(max(state.committed), *self._rules.stacks)
                [totals] = showdown_totals(self._rules, board, own[row, None], opponent - folding)
                folded = min(state.committed) * own[row] @ self._rules.space.compatible_mass(folding)
                out[row] = folded + called * totals
        return out


DEFAULT = {"_target_": "poker.evaluation.aivat.value_functions.FoldEquityValues"}
"""Settings of the default value function; its stored estimates bear no mark."""


class ValueFunctionFactory(Protocol):
    """Estimates for heads-up hands. Responses must be quick: they are asked for many states that never come up."""

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat: ...


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

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        return Aivat(rules, CheckDown(rules))


class FoldEquityValues:
    """Values by `FoldEquity`: a bet is answered, then nobody bets any more."""

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        return Aivat(rules, FoldEquity(rules, responses))
