"""Counterfactual values of a player's hands at the nodes of the root's street and at the start of the next street.

Values are chips of the whole hand, given that the opponent has a compatible hand of the range that arrives at the node.
They do not depend on the probability of the player's own actions. The alternatives of gadgets are computed from them.
"""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.types import Floats, Singles
from poker.kernels.vector.arrays import PASS
from poker.run.errors import PokernetsError
from poker.solvers.vector.game import VectorGame


class ResponseValues:
    """Values after a sweep for one player.

    Attributes:
        player: the player whose values they are.
    """

    def __init__(self, game: VectorGame, player: int, reach: Singles, values: Singles, starts: Singles) -> None:
        """Copy the rows of a sweep.

        Args:
            player: the player whose values they are.
            reach: float32 [rows, stride] reach rows of the root's street.
            values: float32 [rows, stride] value rows of the root's street.
            starts: float32 [n] values at the start of the next street, or empty.
        """
        self.game = game
        self.player = player
        self._reach = reach.copy()
        self._values = values.copy()
        self._starts = starts

    def at(self, node: int) -> Singles:
        """Return the values at a node of the root's street.

        Returns:
            float32 [H] chips; NaN for hands outside the range and for hands without a compatible opponent hand there.

        Raises:
            PokernetsError: the node is not on the root's street.
        """
        game, nodes = self.game, self.game.layout.nodes
        position = int(game.layout.position[node])
        if position < 0 or game.tree.street[node] != game.layout.first_street:
            raise PokernetsError(f"no values at `{game.tree.path_text(node)}`: not on the root's street")
        hands = game.hands(self.player)
        row = self._values[nodes.value_row[self.player, position], : len(hands)]
        return self._per_opponent_weight(hands, row * nodes.scale[self.player, position], self.arriving(node))

    def starts(self, node: int) -> Singles:
        """Return the values at the start of the next street, below a STREET node of the root's street.

        Args:
            node: the STREET node.

        Returns:
            float32 [boards of the next street, H] chips; each class of boards has the values of its representative
            (`VectorGame.boards.cards`). NaN as in `at`.

        Raises:
            PokernetsError: no boards are dealt at the node.
        """
        game = self.game
        position, street = int(game.layout.position[node]), game.layout.first_street
        boards, below = game.boards.boards, game.on(street + 1) if street < game.layout.last_street else range(0)
        if position < 0 or game.layout.nodes.role[position] != PASS or game.tree.street[node] != street:
            raise PokernetsError(f"no boards are dealt at `{game.tree.path_text(node)}` of the root's street")
        slots, slot = int(game.layout.num_slots[street]), int(game.layout.nodes.value_row[self.player, position])
        arriving = self.arriving(node)
        first = int(boards.list_start[self.player, below.start])
        out = np.full((len(below), game.rules.num_hands), np.nan, np.float32)
        for row, board in enumerate(below):
            hands = game.hands(self.player, board)
            at = slots * (int(boards.list_start[self.player, board]) - first) + slot * len(hands)
            theirs = game.hands(1 - self.player, board)
            reach = np.zeros_like(arriving)
            reach[theirs] = arriving[theirs]
            out[row] = self._per_opponent_weight(hands, self._starts[at : at + len(hands)], reach)
        return out

    def arriving(self, node: int) -> Floats:
        """Return the opponent's range at a node of the root's street, float64 [H]."""
        game, theirs = self.game, self.game.hands(1 - self.player)
        out = np.zeros(game.rules.num_hands)
        out[theirs] = self._reach[game.layout.nodes.reach_row[self.player, game.layout.position[node]], : len(theirs)]
        return out

    def _per_opponent_weight(self, hands: NDArray[np.uint16], values: Singles, reach: Floats) -> Singles:
        """Return [H] values of `hands` per weight of compatible hands in `reach` [H], plus half the dead chips."""
        space, out = self.game.rules.space, np.full(self.game.rules.num_hands, np.nan, np.float32)
        mass = space.compatible_mass(reach)[hands]
        met = mass > 1e-9 * reach.sum()
        out[hands[met]] = values[met] / mass[met] + 0.5 * self.game.tree.dead
        return out
