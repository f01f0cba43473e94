"""Random ends of betting rounds that are not in a blueprint's tree, as searches with other bet sizes meet them."""

from collections import defaultdict

import numpy as np

from poker.depth_limit.leaves.blueprint_states import BlueprintStates
from poker.game.betting import Betting, Legal
from poker.game.rules import CALL, Rules
from poker.tree import BettingTree

_NUM_LINES = 4_000
_RAISE_PROBABILITY = 0.4
"""Probability of a raise at each action of a random line."""


def any_raise(legal: Legal, rng: np.random.Generator) -> int:
    """Draw a legal raise-to total, uniform in its logarithm.

    Args:
        legal: the legal actions; raising must be legal.
    """
    low, high = np.log([legal.min_raise, legal.max_raise + 1])
    return min(int(np.exp(rng.uniform(low, high))), legal.max_raise)


class OffTreeStates:
    """Random ends of a round, grouped by the STREET node of the tree that represents each.

    A state between two nodes goes to either with the weights of `BlueprintStates.shares`. A net trained on such states
    with the values of the nodes therefore interpolates in the logarithm of the pot.
    """

    def __init__(self, tree: BettingTree, street: int) -> None:
        """Draw the states.

        Args:
            tree: the blueprint's tree.
            street: the round that ends.
        """
        ends, rng = BlueprintStates(tree), np.random.default_rng(street)
        self._by_node: defaultdict[int, list[Betting]] = defaultdict(list)
        for _ in range(_NUM_LINES):
            state = _random_end(tree.rules, street, rng)
            nodes, shares = zip(*ends.shares(state, street), strict=True)
            self._by_node[int(rng.choice(nodes, p=shares))].append(state)

    def near(self, node: int, rng: np.random.Generator) -> Betting | None:
        """Draw a state that a node represents.

        Args:
            node: STREET node of the tree.

        Returns:
            The state, or None if no random line led to the node.
        """
        states = self._by_node[node]
        return states[rng.integers(len(states))] if states else None


def _random_end(rules: Rules, street: int, rng: np.random.Generator) -> Betting:
    """Return a state after a line of random calls and raises through the round of `street`, with betting to come."""
    while True:
        state = Betting.start(rules)
        while not state.is_over and state.street <= street:
            legal = state.legal()
            raises = legal.max_raise and rng.random() < _RAISE_PROBABILITY
            state = state.apply(any_raise(legal, rng) if raises else CALL)
        if not state.is_over:
            return state
