"""Ends of betting rounds that a blueprint's tree does not have, which searches ask about after bets of other sizes."""

from collections import defaultdict

import numpy as np

from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.game.betting import Betting, Legal
from poker.game.rules import CALL, Rules
from poker.tree import BettingTree

_LINES = 4_000
_RAISES = 0.4
"""Share of the actions of a random line."""


def any_raise(legal: Legal, rng: np.random.Generator) -> int:
    """Draw a raise of any size that is `legal`, uniform in its logarithm."""
    low, high = np.log([legal.min_raise, legal.max_raise + 1])
    return min(int(np.exp(rng.uniform(low, high))), legal.max_raise)


class OffTreeStates:
    """Random ends of the round of `street`, by the STREET node of `tree` that stands for each. One between two nodes
    is given to either with its share (`BlueprintStates.shares`), so a net that learns the values of nodes at such
    states interpolates in the logarithm of the pot."""

    def __init__(self, tree: BettingTree, street: int) -> None:
        ends, rng = BlueprintStates(tree), np.random.default_rng(street)
        self._by_node: defaultdict[int, list[Betting]] = defaultdict(list)
        for _ in range(_LINES):
            state = _random_end(tree.rules, street, rng)
            nodes, shares = zip(*ends.shares(state, street), strict=True)
            self._by_node[int(rng.choice(nodes, p=shares))].append(state)

    def near(self, node: int, rng: np.random.Generator) -> Betting | None:
        """Draw a state that `node` stands for; None where no line led to one."""
        states = self._by_node[node]
        return states[rng.integers(len(states))] if states else None


def _random_end(rules: Rules, street: int, rng: np.random.Generator) -> Betting:
    """State after a line of calls and raises of any size through the round of `street`, with betting to come."""
    while True:
        state = Betting.start(rules)
        while not state.is_over and state.street <= street:
            legal = state.legal()
            raises = legal.max_raise and rng.random() < _RAISES
            state = state.apply(any_raise(legal, rng) if raises else CALL)
        if not state.is_over:
            return state
