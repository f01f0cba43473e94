"""Nodes of the sampling tree (`poker.solvers.sampling.tree` packs them) and what the ends of hands pay.

The sampling kernels take a tree as four arrays, `SamplingTree.arrays`: nodes [M] of `NODE`, strides int32 [P, S], and
committed int32 [E, P] and folded bool [E, P] of the E different ends of hands with more than two players. They call
`payoff` across files; their numba caches do not see edits here: clear them after one.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

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


@njit(cache=True, nogil=True)
def payoff(
    nodes: NDArray[np.void],
    committed: NDArray[np.int32],
    folded: NDArray[np.bool_],
    node: int,
    ranks: NDArray[np.int32],
    player: int,
) -> float:
    """Net chips of `player` at the end `node` of a hand with showdown ranks [P]; arrays as in `SamplingTree`."""
    kind, row = nodes[node].kind, nodes[node].row
    if kind == FOLD:
        return float(row if player == 0 else -row)
    if kind == SHOWDOWN:
        difference = ranks[player] - ranks[1 - player]
        return float(np.sign(difference) * row)
    return multiway_payoff(committed[row], folded[row], ranks, player)
