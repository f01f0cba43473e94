"""Mapping from the end of a real betting round to a state of the blueprint's tree.

If the real bets are in the tree, the state is exact. Otherwise the nearest end of the same round is used. The distance
is the difference in log pot, plus a penalty for a different last aggressor. Values are in pots, so the two pots may
differ.
"""

from typing import NamedTuple

import numpy as np

from poker.game.betting import NOBODY, Betting
from poker.game.rules import Rules
from poker.kernels.types import I64, Floats
from poker.run.errors import PokernetsError
from poker.tree import BettingTree, Kind

AGGRESSOR_WEIGHT = 0.5
"""A different last aggressor adds as much distance as a pot exp(0.5) = 1.65 times as large."""


class _RoundEnds(NamedTuple):
    """The STREET nodes of one round that have betting below them."""

    nodes: I64
    log_pot: Floats
    aggressor: I64


class BlueprintStates:
    """Lookup of round ends in a betting tree."""

    def __init__(self, tree: BettingTree) -> None:
        """List the ends of all rounds.

        Args:
            tree: the blueprint's tree.
        """
        self._tree = tree
        self._ends = [_round_ends(tree, street) for street in range(tree.rules.num_streets - 1)]

    def check_game(self, game: Rules) -> None:
        """Check that the tree fits a game.

        Raises:
            RulesError: the games differ in deck, streets, players or their order.
        """
        self._tree.rules.must_fit(game, "the blueprint behind the leaf values")

    def node(self, state: Betting, street: int) -> int:
        """Return the STREET node that represents a state.

        Args:
            state: a state in which the round has just ended.
            street: that round.

        Raises:
            PokernetsError: the tree never reaches the end of the round with chips behind.
        """
        exact = self._exact(state)
        if exact is not None:
            return exact
        ends = self._ends[street]
        if not len(ends.nodes):
            raise PokernetsError(f"the blueprint's tree never reaches the end of street {street} with chips behind")
        distance = np.abs(ends.log_pot - np.log(state.pot))
        distance += AGGRESSOR_WEIGHT * (ends.aggressor != state.last_raiser(street))
        return int(ends.nodes[int(distance.argmin())])

    def shares(self, state: Betting, street: int) -> list[tuple[int, float]]:
        """Return the STREET nodes between which a state lies, with weights that sum to 1.

        These are the nearest node with a smaller pot and the nearest with a larger pot, weighted for linear
        interpolation. If the tree has the exact state, it is the only result.

        Args:
            state: a state in which the round has just ended.
            street: that round.

        Returns:
            One or two pairs (node, weight).
        """
        exact = self._exact(state)
        if exact is not None:
            return [(exact, 1.0)]
        ends = self._ends[street]
        above = ends.log_pot - np.log(state.pot)
        distance = np.abs(above) + AGGRESSOR_WEIGHT * (ends.aggressor != state.last_raiser(street))
        sides = [np.flatnonzero(side) for side in (above < 0, above >= 0)]
        nearest = [int(side[distance[side].argmin()]) for side in sides if len(side)]
        far = distance[nearest]
        parts = far[::-1] / far.sum() if len(nearest) == 2 else np.ones(1)
        return [(int(ends.nodes[place]), float(part)) for place, part in zip(nearest, parts, strict=True)]

    def _exact(self, state: Betting) -> int | None:
        """Return the node reached by exactly the actions of `state`, or None."""
        tree = self._tree
        try:
            node = tree.find(state.line)
        except PokernetsError:
            return None
        ended = int(tree.parent[node])
        return ended if tree.kind[ended] == Kind.STREET and tree.kind[node] == Kind.DECISION else None


def _round_ends(tree: BettingTree, street: int) -> _RoundEnds:
    ended = np.flatnonzero((tree.kind == Kind.STREET) & (tree.street == street))
    ended = ended[tree.kind[tree.first_child[ended]] == Kind.DECISION]
    aggressor = np.array([_last_raiser(tree, int(node)) for node in ended], dtype=np.int64)
    log_pot = np.log(tree.committed[ended].sum(axis=1).astype(np.float64))
    return _RoundEnds(ended, log_pot, aggressor)


def _last_raiser(tree: BettingTree, node: int) -> int:
    parent = int(tree.parent[node])
    while parent >= 0 and tree.kind[parent] == Kind.DECISION:
        if tree.action[node] > 0:
            return int(tree.player[parent])
        node, parent = parent, int(tree.parent[parent])
    return NOBODY
