"""Inputs of the opponent nets as arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.opponents.inputs import history, limit

INPUT_SIZES = {"features": limit.SIZE, "hand": history.HAND_SIZE, "past": history.PLAYER_SIZE}


class Inputs(NamedTuple):
    """Inputs of n rows: features [n, 19], hand [n, 52], past [n, 84].

    Inputs that a net does not read may have no columns.
    """

    features: NDArray[np.float32]
    hand: NDArray[np.float32]
    past: NDArray[np.float32]

    def take(self, rows: NDArray[np.int64]) -> "Inputs":
        return Inputs._make(column[rows] for column in self)
