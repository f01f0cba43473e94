"""Value functions for AIVAT: what a heads-up hand may be worth. A better one leaves less variance.

A value function is u(betting, board, h0, h1), chips to player 0 over the whole hand, for pairs of hands. It is asked
for sums over both players' ranges.

AIVAT stays unbiased for any u whatever, on one condition, where u judges cards: `values_before` is the exact mean of
`values` over the next public cards. `CheckDown` fulfils it without looking at a card, because an all-in equity is the
mean of the equities after the next cards.

Symbols: H hands, A states.
"""

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from poker.abstraction.equities import showdown_totals
from poker.betting import Betting
from poker.errors import PokernetsError
from poker.rules import FOLD, Rules
from poker.state import PolicyFunction, public_state
from poker.types import Board, Floats


class ValueFunction(Protocol):
    """u(betting, board, h0, h1) as sums over compatible hands, weighted by own [H] of `player` and opponent [H]. Folded
    hands are never asked for."""

    @property
    def exact_runouts(self) -> bool:
        """Whether `values_before` is exact where only cards are to come, so that they need not be followed."""

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        """[A] chips to `player` in each state, where it has the range own [A, H]."""

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        """Chips to `player` in `state`, before the next public cards. To judge cards it must be the mean of `values`
        over the cards that each pair of hands allows."""


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

    `responses` are such policies by seat, None for none; estimates are unbiased whether anybody plays them or not.
    They are asked for many states that never come up, so they should be quick.
    """

    def __init__(self, rules: Rules, responses: Sequence[PolicyFunction | None]) -> None:
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
                [shown] = showdown_totals(self._rules, board, own[row, None], opponent - folding)
                folded = min(state.committed) * own[row] @ self._rules.space.compatible_mass(folding)
                out[row] = folded + called * shown
        return out
