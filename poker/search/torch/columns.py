"""Columns of the tables that the kernels read: what each number of a board, a node, a component and a game means."""

import numpy as np
from numpy.typing import NDArray

Int32s = NDArray[np.int32]
Longs = NDArray[np.int64]

PARENT, GAME, CHILDREN, CHILDREN_END = range(4)
RUNOUT, LIST, SIZE, PAD, BLOCK, REACH, VALUE, ROOT, DOWN, ORBIT, ORBITS, VECTORS, CLUSTER_STARTS = range(4, 30, 2)
BOARD_COLUMNS = 30
"""Columns of boards. From RUNOUT on there are two: starts of the matrices of all-ins and of controls, then by player:
start and length of the list of hands, padded length, start of the action rows, of the rows of reach and of value while
the player's values are computed, of the reach at the root, of the places of hands in a list below, of orbits and their
number, of vectors by hand, of `cluster_starts`."""

PLAYER, FIRST, ACTIONS, ENTRY, REACH_ROW, VALUE_ROW = 0, 1, 2, 3, 4, 6
NODE_COLUMNS = 8
"""Columns of nodes; the rows are by the player whose values are computed."""

COMPONENT_ROOT, DEAL, DECISIONS, DECISIONS_OF, MIXED, PRODUCTS, FACTORS = 0, 1, 2, 4, 8, 12, 16
COMPONENT_COLUMNS = 20
"""Columns of components: root, STREET node above it, then starts and ends: of decisions, of those of each player, and
by the player whose values are computed of `mixed`, of `products` of values and of those of reach."""

REACH_ALONE, ALL_IN, CONTROL = range(3)
"""Kinds of work at terminals: of one row of reach, or of a tile of all-ins with cards to come or of controls."""
CARDS = 64
"""Card slots of the kernels."""

MATRICES, CLUSTERS, OWNER, CONTINUATIONS = 0, 1, 3, 4
GAME_COLUMNS = 5
"""Columns of games: start of the leaf matrices [L, K, clusters of the owner, of the other], clusters of each player."""
