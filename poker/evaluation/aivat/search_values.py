"""A value function for AIVAT that uses the solutions which agents computed during the hand.

At a decision in a solution, an action has the solution's value for the hands of the solver's opponent. The solver's own
range is known exactly. So the only error comes from the opponent's later deviations from the solution. If a solve
included a deal (the turn), the mean of the next cards' values is exact. In other states another value function judges
actions, and check-downs judge cards. All-ins are worth their equities.

Values must not depend on the action taken at their decision (`NestedSearch.solution`), nor on the card that is dealt.

Symbols: H hands, A states.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from poker.abstraction.equities import showdown_totals
from poker.evaluation.aivat.heads_up import Aivat, ValueFunction
from poker.evaluation.aivat.value_functions import CheckDown, Responses, Solutions, ValueFunctionFactory
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import public_state
from poker.kernels.types import Board, Floats

if TYPE_CHECKING:
    from poker.solve.solution import DecisionValues


@dataclass(frozen=True)
class _Solutions:
    """Solutions by seat; at a decision the acting player's solution is used if there is one, else the other's."""

    rules: Rules
    solved: Solutions

    def before(self, last: Betting, board: Board) -> "tuple[DecisionValues, int] | None":
        """Return the values at the decision whose action led to `last`, and that action.

        The result is None at the start of the hand, and if nobody solved the decision.
        """
        turns = list(last.turns())
        if not turns:
            return None
        state, player, action = turns[-1]
        solved = self.solved[player] or self.solved[1 - player]
        values = None if solved is None else solved(public_state(state, board))
        return None if values is None else (values, action)

    def chips(self, player: int, values: Floats, whose: int, own: Floats, opponent: Floats) -> float:
        """Return chips to `player`, summed over compatible pairs.

        Args:
            player: the player whose chips are counted.
            values: [H] mean chips of the hands of `whose`.
            whose: the player whose hands have the values.
            own: [H] range of `player`.
            opponent: [H] range of the opponent.
        """
        mine, theirs = (own, opponent) if player == whose else (opponent, own)
        total = float((mine * values) @ self.rules.space.compatible_mass(theirs))
        return total if player == whose else -total


class SolvedActions:
    """A value function that judges actions by solutions, and by another function if nothing was solved."""

    exact_runouts = False

    def __init__(self, rules: Rules, solved: Solutions, otherwise: ValueFunction) -> None:
        """Store the solutions.

        Args:
            solved: solutions by seat.
            otherwise: value function of other states.
        """
        self._rules = rules
        self._solutions = _Solutions(rules, solved)
        self._otherwise = otherwise

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
        out = np.empty(len(states))
        for row, state in enumerate(states):
            values = self._range_values(state, board, player, own[row], opponent)
            if values is None:
                [values] = self._otherwise.values([state], board, player, own[row, None], opponent)
            out[row] = values
        return out

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        """Evaluate a state before the next public cards, see `ValueFunction.values_before`.

        Args:
            player: the player whose chips are counted.
            own: [H] range of `player`.
            opponent: [H] range of the opponent.
        """
        if state.is_over:
            [chips] = showdown_totals(self._rules, board, own[None], opponent)
            return float(min(state.committed) * chips)
        values = self._range_values(state, board, player, own, opponent)
        return self._otherwise.values_before(state, board, player, own, opponent) if values is None else values

    def _range_values(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float | None:
        before = self._solutions.before(state, board)
        values = None if before is None else before[0].after(before[1])
        if before is None or values is None:
            return None
        return self._solutions.chips(player, values, before[0].player, own, opponent)


class SolvedCards(CheckDown):
    """A value function that judges cards by solutions that included the deal, and by check-downs otherwise."""

    def __init__(self, rules: Rules, solved: Solutions, growth: Sequence[float]) -> None:
        """Store the solutions.

        Args:
            solved: solutions by seat.
            growth: see `CheckDown`.
        """
        super().__init__(rules, growth)
        self._solutions = _Solutions(rules, solved)

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
            before = self._looked_through(state, board[:-1]) if len(board) in self._rules.board_sizes[1:] else None
            if before is not None and not state.actions[state.street]:
                dealt = before[0].dealt(before[1], board[-1])
                if dealt is not None:
                    out[row] = self._solutions.chips(player, dealt, before[0].player, own[row], opponent)
        return out

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        """Evaluate a state before the next public cards, see `ValueFunction.values_before`.

        Args:
            player: the player whose chips are counted.
            own: [H] range of `player`.
            opponent: [H] range of the opponent.
        """
        before = self._looked_through(state, board)
        if before is None:
            return super().values_before(state, board, player, own, opponent)
        deck = [card for card in range(self._rules.deck_size) if card not in board]
        total = 0.0
        for card in deck:
            values = before[0].dealt(before[1], card)
            if values is None:
                return super().values_before(state, board, player, own, opponent)
            live = self._rules.space.live((card,))
            total += self._solutions.chips(player, values, before[0].player, own * live, opponent * live)
        return total / (len(deck) - 2 * self._rules.num_hole_cards)

    def _looked_through(self, state: Betting, board: Board) -> "tuple[DecisionValues, int] | None":
        """Return the solution that ended the round before the deal of one card on `board`."""
        if state.is_over or state.street == 0 or self._rules.board_cards[state.street] != 1:
            return None
        if len(board) != self._rules.board_sizes[state.street - 1] or state.actions[state.street]:
            return None
        return self._solutions.before(state, board)


class SearchValues:
    """A factory of values by solutions (`SolvedActions`, `SolvedCards`)."""

    def __init__(self, *, fallback: ValueFunctionFactory, growth: Sequence[float]) -> None:
        """Store the settings.

        Args:
            fallback: value function of actions in unsolved states.
            growth: factors by street for check-downs, see `CheckDown`.
        """
        self._fallback = fallback
        self._growth = growth

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        """Create the estimator.

        Args:
            responses: policies by seat for `fallback`.
            solved: solutions by seat.
        """
        otherwise = self._fallback(rules, responses, solved)
        actions = SolvedActions(rules, solved, otherwise.values)
        return Aivat(rules, actions, SolvedCards(rules, solved, self._growth))
