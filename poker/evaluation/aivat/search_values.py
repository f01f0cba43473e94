"""A value function for AIVAT from the solutions that agents made in the hand.

At a decision in a solution, an action has the solution's value for the hands of the solver's opponent. The solver's own
range is known exactly, so only the opponent's later departures from the solution are missed. Where a solve looked
through a deal (the turn), the mean of the next cards' values is exact. Elsewhere another value function judges actions,
and check-downs judge cards. All-ins are worth their equities.

Values must not depend on the action taken at their decision (`NestedSearch.solution`), nor on the card of their deal.

Symbols: H hands.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from poker.abstraction.equities import showdown_totals
from poker.evaluation.aivat.heads_up import Aivat, ValueFunction
from poker.evaluation.aivat.value_functions import CheckDown, Responses, Solutions, ValueFunctionFactory
from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.game.state import public_state
from poker.kernels.types import Board, Floats
from poker.search.solved_values import DecisionValues


@dataclass(frozen=True)
class _Solutions:
    """Solutions by seat: at a decision that of the player who acts if they solve, else that of the other."""

    rules: Rules
    solved: Solutions

    def before(self, last: Betting, board: Board) -> tuple[DecisionValues, int] | None:
        """Values at the decision whose action led to `last`, and that action; None at the start of the hand, and where
        nobody has solved."""
        turns = list(last.turns())
        if not turns:
            return None
        state, player, action = turns[-1]
        solved = self.solved[player] or self.solved[1 - player]
        values = None if solved is None else solved(public_state(state, board))
        return None if values is None else (values, action)

    def chips(self, player: int, values: Floats, whose: int, own: Floats, opponent: Floats) -> float:
        """Chips to `player` if the hands of `whose` win `values` [H] on average, summed over compatible pairs."""
        mine, theirs = (own, opponent) if player == whose else (opponent, own)
        total = float((mine * values) @ self.rules.space.compatible_mass(theirs))
        return total if player == whose else -total


class SolvedActions:
    """Judges actions by solutions, and by `otherwise` where nothing was solved."""

    exact_runouts = False

    def __init__(self, rules: Rules, solved: Solutions, otherwise: ValueFunction) -> None:
        self._rules = rules
        self._solutions = _Solutions(rules, solved)
        self._otherwise = otherwise

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        out = np.empty(len(states))
        for row, state in enumerate(states):
            values = self._range_values(state, board, player, own[row], opponent)
            if values is None:
                [values] = self._otherwise.values([state], board, player, own[row, None], opponent)
            out[row] = values
        return out

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
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
    """Judges cards by solutions that looked through the deal, and by check-downs elsewhere."""

    def __init__(self, rules: Rules, solved: Solutions, growth: Sequence[float]) -> None:
        super().__init__(rules, growth)
        self._solutions = _Solutions(rules, solved)

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        out = super().values(states, board, player, own, opponent)
        for row, state in enumerate(states):
            before = self._looked_through(state, board[:-1]) if len(board) in self._rules.board_sizes[1:] else None
            if before is not None and not state.actions[state.street]:
                dealt = before[0].dealt(before[1], board[-1])
                if dealt is not None:
                    out[row] = self._solutions.chips(player, dealt, before[0].player, own[row], opponent)
        return out

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
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

    def _looked_through(self, state: Betting, board: Board) -> tuple[DecisionValues, int] | None:
        """The solution that ended the round before the deal on `board`, of one card."""
        if state.is_over or state.street == 0 or self._rules.board_cards[state.street] != 1:
            return None
        if len(board) != self._rules.board_sizes[state.street - 1] or state.actions[state.street]:
            return None
        return self._solutions.before(state, board)


class SearchValues:
    """Values by solutions (`SolvedActions`, `SolvedCards`), and by `fallback` where nothing was solved.

    Check-downs count `growth` times the chips that both have put in, by street.
    """

    def __init__(self, *, fallback: ValueFunctionFactory, growth: Sequence[float]) -> None:
        self._fallback = fallback
        self._growth = growth

    def __call__(self, rules: Rules, responses: Responses, solved: Solutions = (None, None)) -> Aivat:
        otherwise = self._fallback(rules, responses, solved)
        actions = SolvedActions(rules, solved, otherwise.values)
        return Aivat(rules, actions, SolvedCards(rules, solved, self._growth))
