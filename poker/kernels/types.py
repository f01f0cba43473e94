"""Short names of types: array types for kernels, and types of boards and paths."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

U8 = NDArray[np.uint8]
U16 = NDArray[np.uint16]
U64 = NDArray[np.uint64]
I8 = NDArray[np.int8]
I16 = NDArray[np.int16]
I32 = NDArray[np.int32]
I64 = NDArray[np.int64]
F32 = NDArray[np.float32]
F64 = NDArray[np.float64]
Bools = NDArray[np.bool_]
Records = NDArray[np.void]
Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
Reals = NDArray[np.floating]
"""Floats of either precision."""
Columns = dict[str, NDArray[Any]]
"""A table: arrays of one length by name."""
Ranges = Singles
"""[P, H] weights of the hands of each player; rows sum to 1 unless stated otherwise."""
Board = tuple[int, ...]
"""Community cards in the order of the streets, as numbers 0 to 51 (`poker.game.cards`)."""
Path = tuple[int, ...]
"""Actions from the root of a tree to a node."""
