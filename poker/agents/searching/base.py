"""Agents that play by nested search: their policy, and what they do with hands that they are not expected to have."""

from typing import NamedTuple

import numpy as np

from poker.agents.base import PolicyAgent, SamplingAgent, hand_number, ranged_policy_of
from poker.game.beliefs import relative
from poker.game.cards import CanonicalBoard
from poker.game.state import HandState, Policy, RangedPolicy
from poker.kernels.types import Singles
from poker.search.clock import Clock
from poker.search.nested import NestedSearch
from poker.search.round_solver import NodePolicy


class Searched(NamedTuple):
    """The search of the player to act in a state, and the canonical board on which it is solved."""

    search: NestedSearch
    board: CanonicalBoard

    def policy(self, solved: NodePolicy) -> Policy:
        return solved.actions, self.board.dealt(solved.probs)


class SearchingAgent(SamplingAgent):
    """An agent whose policy is solved where it is asked for, over the hands that it is expected to have there."""

    def __init__(self, name: str, clock: Clock) -> None:
        super().__init__(name)
        self._clock = clock

    def start_hand(self, seat: int) -> None:
        self._clock.start_hand()

    def searched(self, state: HandState) -> Searched | None:
        """Where the state is solved; None where it is not."""
        raise NotImplementedError

    def unsearched_policy(self, state: HandState) -> Policy:
        """Policy at a state that is not solved."""
        raise NotImplementedError

    def policy(self, state: HandState) -> Policy:
        where = self.searched(state)
        if where is None:
            return self.unsearched_policy(state)
        with self._clock.decision():
            return where.policy(where.search.policy(state.betting, where.board.cards))

    def ranged_policy(self, state: HandState) -> RangedPolicy:
        """The policy with the range that the agent has at `state`: NaN for hands that it is not expected to have there,
        but for the one that it has in `state`, for which the decision is solved again."""
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
        """Choose by `policy`, or by a solve for the hand held if it is not expected there."""
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


def ranged_policy(agent: PolicyAgent, state: HandState) -> RangedPolicy:
    """Policy of the player to act in `state`, and the range that the agent's earlier actions leave. The hand that the
    player has in `state` has a row of its own, whatever its weight."""
    return agent.ranged_policy(state) if isinstance(agent, SearchingAgent) else ranged_policy_of(agent, state)
