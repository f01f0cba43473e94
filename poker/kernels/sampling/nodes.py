"""Nodes of the sampling tree (`poker.solvers.sampling.tree` packs them) and what the ends of hands pay.

The sampling kernels of other files are compiled with what stands here; their caches do not see edits of this file.
"""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.registry import INLINE

NODE = np.dtype(
    [
        ("first", np.int32),  # the first child, the others follow it
        ("row", np.int32),
        ("kind", np.int8),
        ("player", np.int8),
        ("street", np.int8),
        ("arity", np.int8),  # number of children
    ]
)
"""`row` of a DECISION is where its rows begin, that of bucket b at row + b * strides[player, street]. With two players
`row` of a FOLD is what player 0 wins, of a SHOWDOWN what the better hand wins. Of a MULTIWAY end it is one of the E."""


class Tree(NamedTuple):
    """What a kernel knows of a tree of M sampling nodes for P players; E different ends with more than two players."""

    nodes: NDArray[np.void]  # [M] of NODE
    strides: NDArray[np.int32]  # [P, S]
    committed: NDArray[np.int32]  # [E, P]
    folded: NDArray[np.bool_]  # [E, P]


class Deals(NamedTuple):
    """n deals to P players: the bucket of each on each street, and ranks, of which the higher wins at showdown."""

    buckets: NDArray[np.int32]  # [n, P, S]
    ranks: NDArray[np.int32]  # [n, P]


TREE, DEALS = "Tree(NODE_1, i4_2, i4_2, b1_2)", "Deals(i4_3, i4_2)"
"""Their types for the registry."""
DECISION, FOLD, SHOWDOWN, MULTIWAY = range(4)
"""Kinds of node. MULTIWAY is any end of a hand with more than two players: payoffs from `committed` and `folded`."""
MAX_ACTIONS = 30
"""Explored actions travel as the bits of an int32."""


@njit(cache=True, nogil=True)
def multiway_payoff(
    committed: NDArray[np.int32], folded: NDArray[np.bool_], ranks: NDArray[np.int32], player: int
) -> float:
    """Net chips of `player` at the end of a hand of P players, side pots included, odd chips split evenly."""
    won = 0.0
    layer_floor = 0
    mine = committed[player]
    if not folded[player]:
        while layer_floor < mine:
            layer_top = mine  # the layer ends where the next smaller stake of a player still in ends
            for other in range(committed.shape[0]):
                if not folded[other] and layer_floor < committed[other] < layer_top:
                    layer_top = committed[other]
            pot = 0
            best = ranks[player]
            winners = 1
            for other in range(committed.shape[0]):
                pot += max(0, min(committed[other], layer_top) - layer_floor)
                if other != player and not folded[other] and committed[other] >= layer_top:
                    if ranks[other] > best:
                        winners = 0
                        best = ranks[other]
                    elif winners > 0 and ranks[other] == best:
                        winners += 1
            if winners > 0:
                won += pot / winners
            layer_floor = layer_top
    return float(won - mine)


@njit(**INLINE)
def payoff(
    nodes: NDArray[np.void],
    committed: NDArray[np.int32],
    folded: NDArray[np.bool_],
    node: int,
    ranks: NDArray[np.int32],
    player: int,
) -> float:
    """Net chips of `player` at the end `node` of a hand with showdown ranks [P]; arrays as in `Tree`."""
    kind, row = nodes[node].kind, nodes[node].row
    won = 0.0
    if kind == FOLD:
        won = float(row if player == 0 else -row)
    elif kind == SHOWDOWN:
        difference = ranks[player] - ranks[1 - player]
        won = float(row if difference > 0 else (-row if difference < 0 else 0))
    else:
        won = multiway_payoff(committed[row], folded[row], ranks, player)
    return won


@njit(**INLINE)
def entry_of(nodes: NDArray[np.void], strides: NDArray[np.int32], buckets: NDArray[np.int32], node: int) -> np.int64:
    """Where the entries of a DECISION begin for the bucket that its player has in a deal, buckets [P, S]."""
    player, street = nodes[node].player, nodes[node].street
    place: np.int64 = nodes[node].row + np.int64(buckets[player, street]) * strides[player, street]
    return place


@njit(**INLINE)
def positive_sum(table: NDArray[np.floating], row: int, arity: int) -> float:
    """Sum of the positive regrets of a row."""
    total = 0.0
    for a in range(arity):
        total += max(table[row + a], np.float32(0.0))
    return total


@njit(**INLINE)
def matched(table: NDArray[np.floating], row: int, arity: int, a: int, total: float) -> float:
    """Probability of action a under regret matching; `total` is the row's `positive_sum`."""
    return max(table[row + a], np.float32(0.0)) / total if total > 0.0 else 1.0 / arity
