"""Finds the state of the blueprint's tree that stands for the end of a round that was really played.

A round that was bet exactly as in the tree is found there. Otherwise the nearest end of the same round stands for it:
near in the logarithm of the pot, and preferably with the same last aggressor. Values are exchanged in pots, so the
sizes of the two pots need not agree.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.game.betting import NOBODY, Betting
from poker.game.rules import Rules
from poker.kernels.types import Floats
from poker.run.errors import PokernetsError
from poker.tree import BettingTree, Kind

AGGRESSOR_WEIGHT = 0.5
"""A different last aggressor counts like a pot that is exp(0.5) = 1.65 times as large."""


class _RoundEnds(NamedTuple):
    """The STREET nodes below which somebody can still act, of one round."""

    nodes: NDArray[np.int64]
    log_pot: Floats
    aggressor: NDArray[np.int64]


class BlueprintStates:
    """Looks up ends of rounds in `tree`."""

    def __init__(self, tree: BettingTree) -> None:
        self._tree = tree
        self._ends = [_round_ends(tree, street) for street in range(tree.rules.num_streets - 1)]

    def check_game(self, game: Rules) -> None:
        self._tree.rules.must_fit(game, "the blueprint behind the leaf values")

    def node(self, state: Betting, street: int) -> int:
        """The STREET node for `state`, in which the round of `street` has just ended."""
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
        """The STREET nodes for `state` with a share for each: the nearest with a smaller and with a larger pot, the
        share of either in proportion to the distance of the other. The end of `street` in the tree stands alone."""
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
        """The node reached by exactly the actions of `state`."""
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
