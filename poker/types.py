"""Aliases of arrays and sequences that packages share."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Reals = NDArray[np.floating]
"""Of either precision."""
Columns = dict[str, NDArray[Any]]
"""A table: arrays of one length by name."""
Ranges = Singles
"""[P, H] weights of the hands of each player; rows sum to 1 where nothing else is said."""
Board = tuple[int, ...]
"""Community cards in the order of the streets, as numbers 0 to 51 (`poker.cards`)."""
Path = tuple[int, ...]
"""Actions from the root of a tree to a node."""
