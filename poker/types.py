"""Aliases of arrays and sequences that packages share."""

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Reals = NDArray[np.floating]
"""Of either precision."""
Board = tuple[int, ...]
"""Community cards in the order of the streets, as numbers 0 to 51 (`poker.cards`)."""
Path = tuple[int, ...]
"""Actions from the root of a tree to a node."""
