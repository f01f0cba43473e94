"""Agents that play by nested search: their policy, and what they do with hands that they are not expected to have."""

from typing import NamedTuple

import numpy as np

from poker.agents.base import SamplingAgent, hand_number, ranged_policy_of
from poker.game.beliefs import relative
from poker.game.state import HandState, Policy, RangedPolicy
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.types import Board, Singles
from poker.search.clock import Clock
from poker.search.nested import NestedSearch
from poker.search.round_solver import NodePolicy


class Searched(NamedTuple):
    """Where a state is solved: the `search` of its player, and the board in the suits that are solved; `renaming` is
    their permutation from those dealt."""

    search: NestedSearch
    board: Board
    renaming: int | None = None

    def dealt(self, rows: Singles) -> Singles:
        """[H, ...] rows in the suits that were dealt."""
        return rows if self.renaming is None else rows[HAND_PERMUTATION[self.renaming]]

    def policy(self, solved: NodePolicy) -> Policy:
        return solved.actions, self.dealt(solved.probs)


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
            return where.policy(where.search.policy(state.betting, where.board))

    def ranged_policy(self, state: HandState) -> RangedPolicy:
        """The policy with the range that the agent has at `state`: NaN for hands that it is not expected to have there,
        but for the one that it has in `state`, for which the decision is solved again."""
        where = self.searched(state)
        if where is None:
            return ranged_policy_of(self, state)
        with self._clock.decision():
            belief = where.search.decision(state.betting, where.board)
        player, policy = state.to_act, belief.known()
        assert policy is not None
        rows = where.dealt(np.where(belief.expected(player)[:, None], policy.probs, np.float32(np.nan)))
        row = self._row(where, state) if state.hole_cards[player] else None
        if row is not None:
            rows[hand_number(state, player)] = row
        return RangedPolicy(policy.actions, rows, where.dealt(relative(belief.reach[player])))

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
        hand = hand_number(state, state.to_act)
        hand = hand if where.renaming is None else int(HAND_PERMUTATION[where.renaming][hand])
        with self._clock.decision():
            return where.search.row(state.betting, where.board, hand)
