"""Base classes of agents that play by nested search: their policy, and their play with hands outside their range.

Symbols: H hands, A actions.
"""

from typing import NamedTuple

import numpy as np

from poker.agents.base import Agent, hand_number, ranged_policy_of
from poker.game.beliefs import relative
from poker.game.cards import CanonicalBoard
from poker.game.state import HandState, Policy, RangedPolicy
from poker.kernels.types import Singles
from poker.search.nested import NestedSearch
from poker.solve.clock import Clock
from poker.solve.types import NodePolicy


class Searched(NamedTuple):
    """The search of the player to act in a state.

    Attributes:
        board: the canonical board on which it is solved.
    """

    search: NestedSearch
    board: CanonicalBoard

    def policy(self, solved: NodePolicy) -> Policy:
        """Convert a solved policy to the real board.

        Args:
            solved: the policy on the canonical board.
        """
        return solved.actions, self.board.dealt(solved.probs)


class SearchingAgent(Agent):
    """An agent whose policy is solved on demand, over the hands in its range."""

    def __init__(self, name: str, clock: Clock) -> None:
        """Store the clock.

        Args:
            clock: limits the time of decisions and hands.
        """
        super().__init__(name)
        self._clock = clock

    def start_hand(self, seat: int) -> None:
        """Begin the time of a hand."""
        self._clock.start_hand()

    def searched(self, state: HandState) -> Searched | None:
        """Return the search that solves a state; None if the state is not solved.

        Args:
            state: a public state.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError

    def unsearched_policy(self, state: HandState) -> Policy:
        """Return the policy at a state that is not solved.

        Args:
            state: a public state.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError

    def policy(self, state: HandState) -> Policy:
        """Return the strategy of the player to act, solving if necessary.

        Args:
            state: a public state.

        Returns:
            Actions and probabilities float32 [H, A].
        """
        where = self.searched(state)
        if where is None:
            return self.unsearched_policy(state)
        with self._clock.decision():
            return where.policy(where.search.policy(state.betting, where.board.cards))

    def ranged_policy(self, state: HandState) -> RangedPolicy:
        """Return the policy with the agent's range.

        Args:
            state: a state. If it has the player's hole cards, and they are outside the range, the decision is solved
                again for them.

        Returns:
            The policy and the range; rows of other hands outside the range are NaN.
        """
        where = self.searched(state)
        if where is None:
            return ranged_policy_of(self, state)
        with self._clock.decision():
            belief = where.search.decision(state.betting, where.board.cards)
        player, policy = state.to_act, belief.known()
        assert policy is not None
        rows = where.board.dealt(np.where(belief.expected(player)[:, None], policy.probs, np.float32(np.nan)))
        row = self._row(where, state) if state.hole_cards[player] else None
        if row is not None:
            rows[hand_number(state, player)] = row
        return RangedPolicy(policy.actions, rows, where.board.dealt(relative(belief.reach[player])))

    def draw(self, policy: Policy, state: HandState) -> int:
        """Sample an action from the policy, or from a solve for the player's hand if it is outside the range.

        Args:
            policy: the policy at `state`.
            state: the state, with the player's hole cards.
        """
        where = self.searched(state)
        row = None if where is None else self._row(where, state)
        if row is not None:
            actions, probs = policy
            probs = probs.copy()
            probs[hand_number(state, state.to_act)] = row
            policy = actions, probs
        return super().draw(policy, state)

    def _row(self, where: Searched, state: HandState) -> Singles | None:
        hand = where.board.hand(hand_number(state, state.to_act))
        with self._clock.decision():
            return where.search.row(state.betting, where.board.cards, hand)
