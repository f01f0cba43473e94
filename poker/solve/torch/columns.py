"""Columns of the tables that the kernels read: the meaning of each number of a board, node, component and game."""

import numpy as np
from numpy.typing import NDArray

Int32s = NDArray[np.int32]
Longs = NDArray[np.int64]

PARENT, GAME, CHILDREN, CHILDREN_END = range(4)
RUNOUT, LIST, SIZE, PAD, BLOCK, REACH, VALUE, ROOT, DOWN, ORBIT, ORBITS, VECTORS, CLUSTER_STARTS = range(4, 30, 2)
BOARD_COLUMNS = 30
"""Columns of boards.

From RUNOUT on each name has two columns. RUNOUT: starts of the matrices of all-ins and of controls. The others are by
player. LIST, SIZE, PAD: start, length and padded length of the list of hands. BLOCK: start of the action rows. REACH,
VALUE: starts of the rows of reach and of value while the player's values are computed. ROOT: start of the reach at the
root. DOWN: start of the places of hands in the list of a board below. ORBIT, ORBITS: start and number of orbits.
VECTORS: start of vectors by hand. CLUSTER_STARTS: start in the table of that name."""

PLAYER, FIRST, ACTIONS, ENTRY, REACH_ROW, VALUE_ROW = 0, 1, 2, 3, 4, 6
NODE_COLUMNS = 8
"""Columns of nodes; REACH_ROW and VALUE_ROW are by the player whose values are computed."""

COMPONENT_ROOT, DEAL, DECISIONS, DECISIONS_OF, MIXED, PRODUCTS, FACTORS = 0, 1, 2, 4, 8, 12, 16
COMPONENT_COLUMNS = 20
"""Columns of components: the root and the STREET node above it, followed by starts and ends.

Starts and ends are given for all decisions and for each player's decisions. By the player whose values are computed
they are given for `mixed`, for `products` of values and for `products` of reach."""

REACH_ALONE, ALL_IN, CONTROL = range(3)
"""Kinds of work at terminals: one row of reach, a tile of all-ins with cards to come, or a tile of controls."""
CARDS = 64
"""Card slots of the kernels."""

MATRICES, CLUSTERS, OWNER, CONTINUATIONS = 0, 1, 3, 4
GAME_COLUMNS = 5
"""Columns of games: start of the leaf matrices [L, K, owner's clusters, other's clusters], each player's clusters."""
