"""Inputs of the opponent nets as arrays."""

from typing import NamedTuple

from poker.kernels.types import I64, Singles
from poker.opponents.inputs import history, limit

INPUT_SIZES = {"features": limit.SIZE, "hand": history.HAND_SIZE, "past": history.PLAYER_SIZE}


class Inputs(NamedTuple):
    """Inputs of n rows; inputs that a net does not read may have no columns.

    Attributes:
        features: float32 [n, 19] the inputs of [POKI].
        hand: float32 [n, 52] the hand so far.
        past: float32 [n, 84] the player's earlier hands.
    """

    features: Singles
    hand: Singles
    past: Singles

    def take(self, rows: I64) -> "Inputs":
        """Return some of the rows.

        Args:
            rows: int64 [m] row numbers.
        """
        return Inputs._make(column[rows] for column in self)
