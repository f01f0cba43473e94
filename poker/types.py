"""Aliases of arrays and sequences that packages share."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Reals = NDArray[np.floating]
"""Of either precision."""
Ranges = Singles
"""[P, H] weights of the hands of each player; rows sum to 1 where nothing else is said."""
Board = tuple[int, ...]
"""Community cards in the order of the streets, as numbers 0 to 51 (`poker.cards`)."""
Path = tuple[int, ...]
"""Actions from the root of a tree to a node."""
