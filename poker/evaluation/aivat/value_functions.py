"""Value functions for AIVAT, and their factories as they are configured (`values=`).

Estimates are unbiased with all of them. They differ in the remaining variance and in their cost. Cards are judged by
check-downs, whose mean over the next cards is known without dealing one: an all-in equity is the mean of the equities
after the next cards. If the solution of a round included the deal, the solution judges the cards (`search_values.py`).

Symbols: H hands, A states.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from poker.abstraction.equities import showdown_totals
from poker.evaluation.aivat.heads_up import Aivat
from poker.game.betting import Betting
from poker.game.rules import FOLD, Rules
from poker.game.state import HandState, PolicyFunction, public_state
from poker.kernels.types import Board, Floats
from poker.play.lineup import BuiltOnce
from poker.run.errors import PokernetsError

if TYPE_CHECKING:
    from poker.solve.solution import DecisionValues

Responses = Sequence[PolicyFunction | None]
"""Policies by seat that answer bets approximately as the players do; None for unknown ones."""
Solved = Callable[[HandState], "DecisionValues | None"]
"""Function that returns a solution's values at a public state; they must not depend on the action taken there."""
Solutions = Sequence[Solved | None]
"""Solutions by seat; None for players who do not solve."""


class CheckDown:
    """A value function: a showdown for the matched chips, times a factor by street for the chips still to come.

    A bet that is not called yet does not count. Otherwise all-ins of no-limit games would count as called by everybody.
    Stakes are capped at the shorter stack.
    """

    exact_runouts = True

    def __init__(self, rules: Rules, growth: Sequence[float] = ()) -> None:
        """Store the factors.

        Args:
            growth: factor of each street; empty for 1 on all streets.

        Raises:
            PokernetsError: `growth` has a wrong length.
        """
        self._rules = rules
        self._growth = tuple(growth) or (1.0,) * rules.num_streets
        if len(self._growth) != rules.num_streets:
            raise PokernetsError(f"`growth` needs {rules.num_streets} factors for `{rules.name}`, not {len(growth)}")

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        """Evaluate several states, see `ValueFunction.values`.

        Args:
            states: A betting states.
            player: the player whose chips are counted.
            own: [A, H] range of `player` in each state.
            opponent: [H] range of the opponent.

        Returns:
            [A] chips to `player`.
        """
        stakes = np.array([self._stake(state) for state in states])
        return stakes * showdown_totals(self._rules, board, own, opponent)

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        """Evaluate a state before the next public cards, see `ValueFunction.values_before`.

        Args:
            player: the player whose chips are counted.
            own: [H] range of `player`.
            opponent: [H] range of the opponent.
        """
        return float(self.values([state], board, player, own[None], opponent)[0])

    def _stake(self, state: Betting) -> float:
        matched = float(min(state.committed))
        return matched if state.is_over else min(matched * self._growth[state.street], *self._rules.stacks)


class FoldEquity(CheckDown):
    """A value function: the player who faces a bet folds or calls by a policy, and then a check-down follows.

    Estimates are unbiased whether or not anybody plays the policies.
    """

    def __init__(self, rules: Rules, responses: Responses) -> None:
        """Store the policies.

        Args:
            responses: policies by seat that answer bets; None for unknown ones.
        """
        super().__init__(rules)
        self._responses = tuple(responses)

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        """Evaluate several states, see `ValueFunction.values`.

        Args:
            states: A betting states.
            player: the player whose chips are counted.
            own: [A, H] range of `player` in each state.
            opponent: [H] range of the opponent.

        Returns:
            [A] chips to `player`.
        """
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
"""Settings of the default value function; its stored estimates have no mark."""


class ValueFunctionFactory(Protocol):
    """A factory of estimators for heads-up hands."""

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        """Create an estimator.

        Args:
            responses: policies by seat that answer bets. They must be fast, because they are queried at many states
                that are never reached.
            solved: solutions by seat.
        """


@dataclass
class ValueFunctionSpec(BuiltOnce[ValueFunctionFactory]):
    """A configured value function, built once in each process.

    Attributes:
        settings: settings that identify it.
    """

    settings: Mapping[str, Any]

    @property
    def mark(self) -> dict[str, Any] | None:
        """Settings that distinguish stored estimates of this value function from others; None for the default."""
        return None if self.settings == DEFAULT else dict(self.settings)


class CheckDownValues:
    """A factory of values by `CheckDown`: nobody bets again."""

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        """Create the estimator.

        Args:
            responses: ignored.
            solved: ignored.
        """
        return Aivat(rules, CheckDown(rules))


class FoldEquityValues:
    """A factory of values by `FoldEquity`: a bet is answered, and then nobody bets again."""

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        """Create the estimator.

        Args:
            responses: policies by seat that answer bets.
            solved: ignored.
        """
        return Aivat(rules, FoldEquity(rules, responses))
