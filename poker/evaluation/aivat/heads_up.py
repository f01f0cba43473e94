"""AIVAT for heads-up matches: unbiased results with most of the luck removed (Burch et al. 2018).

The reference is Burch, Schmid, Moravcik, Morrill and Bowling 2018. An observer sees only the cards of players without a
known policy. The hand of a known policy stays a range, by Bayes' rule given the observations. Then::

    estimate = E[payoff | everything observed] + sum over events (E[V after | before] - V after)

V is the expectation of a value function u over the unseen hands. Events are everything with a known distribution: the
deal of a seen hand, public cards, and actions of known policies. Each term has mean 0, so the estimate is unbiased for
every u and every unknown opponent. The remaining variance depends on u. The u of cards must have a known exact mean
over the next cards, which few functions have. The u of actions can be any other function.

Policies must be functions of the public state and the player's hand, and the actions must have been drawn from them.

Symbols: H hands, A actions.
"""

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from poker.abstraction.equities import awaits_cards, next_board_size, showdown_totals
from poker.agents.base import policy_mismatch
from poker.game.betting import Betting
from poker.game.cards import hand_index, updated_range
from poker.game.rules import Rules
from poker.game.state import HandState, PolicyFunction, public_state
from poker.kernels.types import Board, Floats
from poker.run.errors import PokernetsError


class ValueFunction(Protocol):
    """A value function u(betting, board, h0, h1), evaluated as sums over compatible hands of two ranges.

    It is never evaluated after a fold.
    """

    @property
    def exact_runouts(self) -> bool:
        """Whether `values_before` is exact when only cards are to come, so that they need not be followed."""

    def values(self, states: Sequence[Betting], board: Board, player: int, own: Floats, opponent: Floats) -> Floats:
        """Evaluate several states.

        Args:
            states: A betting states.
            player: the player whose chips are counted.
            own: [A, H] range of `player` in each state.
            opponent: [H] range of the opponent.

        Returns:
            [A] chips to `player`, summed over compatible hands.
        """

    def values_before(self, state: Betting, board: Board, player: int, own: Floats, opponent: Floats) -> float:
        """Evaluate a state before the next public cards.

        To judge cards, the result must be the mean of `values` over the cards that each pair of hands allows.

        Args:
            board: [0..5] cards on the board.
            player: the player whose chips are counted.
            own: [H] range of `player`.
            opponent: [H] range of the opponent.

        Returns:
            Chips to `player`, summed over compatible hands.
        """


class Terms(NamedTuple):
    """The terms of an estimate in chips to player 0; the estimate is their sum.

    Attributes:
        base: expected payoff given the observations.
        deals: corrections for the deals of seen hands.
        board: corrections for public cards.
        actions: corrections for actions of known policies.
    """

    base: float
    deals: float
    board: float
    actions: float


class Aivat:
    """Estimates for hands of one heads-up game.

    Attributes:
        values: value function of actions.
    """

    def __init__(self, rules: Rules, values: ValueFunction, cards: ValueFunction | None = None) -> None:
        """Store the value functions.

        Args:
            values: value function of actions.
            cards: value function of cards; None for `values`.

        Raises:
            PokernetsError: the game is not heads-up.
        """
        if rules.num_players != 2:
            raise PokernetsError(f"this AIVAT estimator is for two players; '{rules.name}' has {rules.num_players}")
        self.rules, self.values, self.cards = rules, values, cards or values

    def terms(self, final: HandState, policies: Sequence[PolicyFunction | None]) -> Terms:
        """Compute the terms of a finished hand.

        Args:
            final: state at the end, with all cards.
            policies: policies by seat; None for unknown ones.

        Raises:
            PolicyMismatchError: a policy never takes the action that was played.
        """
        return _Walk(self, final, policies).terms()

    def estimate(self, final: HandState, policies: Sequence[PolicyFunction | None]) -> tuple[float, float]:
        """Estimate the chips won by each player.

        Args:
            final: state at the end, with all cards.
            policies: policies by seat; None for unknown ones.

        Raises:
            PolicyMismatchError: a policy never takes the action that was played.
        """
        chips = sum(self.terms(final, policies))
        return chips, -chips


class _Walk:
    """A walk through one hand, event by event.

    `ranges` [2, H] are the distributions of unseen hands; a seen hand has probability 1.
    """

    def __init__(self, aivat: Aivat, final: HandState, policies: Sequence[PolicyFunction | None]) -> None:
        self.rules, self.values, self.cards = aivat.rules, aivat.values, aivat.cards
        self.final, self.policies = final, policies
        self.ranges = np.full((2, self.rules.num_hands), 1.0 / self.rules.num_hands)
        self.betting, self.board = Betting.start(self.rules), Board()

    def terms(self) -> Terms:
        deals = self._see_hands()
        board = self._see_board()
        actions = 0.0
        for action in self.final.betting.line:
            actions += self._act(action)
            board += self._see_board()
        return Terms(self._value(), deals, board, actions)

    def _see_hands(self) -> float:
        """Reveal the hands of unknown policies, and return the correction."""
        correction = 0.0
        for player in range(2):
            if self.policies[player] is None:
                before = self._value()
                cards = self.final.hole_cards[player]
                self.ranges[player] = 0.0
                self.ranges[player, cards[0] if len(cards) == 1 else hand_index(*cards)] = 1.0
                correction += before - self._value()
        return correction

    def _see_board(self) -> float:
        """Reveal the public cards before the next action, or up to the showdown, and return the correction."""
        correction = 0.0
        while awaits_cards(self.betting, self.board) and not (self.betting.is_over and self.cards.exact_runouts):
            before = self._value()
            dealt = self.final.runout[: next_board_size(self.rules, self.board)]
            self.board = self.rules.ordered_board(dealt)
            self.ranges *= self.rules.space.live(self.board)
            correction += before - self._value()
        return correction

    def _act(self, action: int) -> float:
        player = self.betting.to_act
        policy = self.policies[player]
        if policy is None:
            self.betting = self.betting.apply(action)
            return 0.0
        actions, probs = policy(public_state(self.betting, self.board))
        likelihood = probs.T.astype(np.float64)
        weights = likelihood * self.ranges[player]
        reach = weights @ self.rules.space.compatible_mass(self.ranges[1 - player])
        taken = actions.index(action) if action in actions else -1
        after = updated_range(self.ranges[player], likelihood[taken]) if taken >= 0 and reach[taken] > 0.0 else None
        if after is None:
            raise policy_mismatch(self.betting, action)
        played = np.flatnonzero(weights.any(axis=1))
        children = [self.betting.apply(actions[i]) for i in played]
        chips = np.zeros(len(actions))
        chips[played] = self._chips(self.values, children, player, weights[played])
        correction = float(chips.sum() / reach.sum() - chips[taken] / reach[taken])
        self.ranges[player] = after
        self.betting = self.betting.apply(action)
        return correction if player == 0 else -correction

    def _value(self) -> float:
        """Return the expected u of cards to player 0 over the unseen hands."""
        mass = self.rules.space.compatible_mass(self.ranges[1])
        [chips] = self._chips(self.cards, [self.betting], 0, self.ranges[:1])
        return float(chips / (self.ranges[0] @ mass))

    def _chips(self, judge: ValueFunction, states: Sequence[Betting], player: int, own: Floats) -> Floats:
        """Return chips [A] to `player`, summed over own [A, H] and the opponent's range.

        They are exact at ends of the hand, else u.
        """
        opponent = self.ranges[1 - player]
        out = np.empty(len(states))
        points = []
        for row, state in enumerate(states):
            if state.is_over and not state.is_showdown:
                sign = -1.0 if state.folded[player] else 1.0
                out[row] = sign * min(state.committed) * (own[row] @ self.rules.space.compatible_mass(opponent))
            elif awaits_cards(state, self.board):
                out[row] = judge.values_before(state, self.board, player, own[row], opponent)
            elif state.is_over:
                [chips] = showdown_totals(self.rules, self.board, own[row, None], opponent)
                out[row] = min(state.committed) * chips
            else:
                points.append(row)
        if points:
            out[points] = judge.values([states[row] for row in points], self.board, player, own[points], opponent)
        return out
