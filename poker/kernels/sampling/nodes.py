"""Nodes of the sampling tree (`poker.solvers.sampling.tree` packs them) and what the ends of hands pay.

The sampling kernels of other files are compiled with what stands here; their caches do not see edits of this file.
"""

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from poker.kernels.registry import KERNEL, inline
from poker.kernels.types import F64, I32, Bools, Reals, Records

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
    """A tree as kernels see it: M sampling nodes for P players; E different ends with more than two players."""

    nodes: Records  # [M] of NODE
    strides: I32  # [P, S]
    committed: I32  # [E, P]
    folded: Bools  # [E, P]


class Deals(NamedTuple):
    """n deals to P players: the bucket of each on each street, and ranks, of which the higher wins at showdown."""

    buckets: I32  # [n, P, S]
    ranks: I32  # [n, P]


TREE, DEALS = "Tree(NODE_1, i4_2, i4_2, b1_2)", "Deals(i4_3, i4_2)"
"""Their types for the registry."""
DECISION, FOLD, SHOWDOWN, MULTIWAY = range(4)
"""Kinds of node. MULTIWAY is any end of a hand with more than two players: payoffs from `committed` and `folded`."""
MAX_ACTIONS = 30
"""Actions of a decision at the most, which bounds the scratch of the kernels."""


@njit(**KERNEL)
def multiway_payoff(committed: I32, folded: Bools, ranks: I32, player: int) -> float:
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


@inline
def duel_payoff(kind: int, stake: int, player: int, lead: int) -> float:
    """Net chips of `player` at an end for two: the `row` of the node, the player's rank less the other's at a showdown.

    Numbers only: passing arrays costs more than the rest of it.
    """
    won = float(stake)
    if kind == FOLD:
        if player > 0:
            won = -won
    elif lead <= 0:
        won = -won if lead < 0 else 0.0
    return won


@inline
def payoffs(tree: Tree, node: int, ranks: I32, out: F64) -> None:
    """Fill out [P] with the net chips of all players at the end `node` of a hand with showdown ranks [P]."""
    kind, end = tree.nodes[node].kind, tree.nodes[node].row
    if kind == MULTIWAY:
        for player in range(len(out)):
            out[player] = multiway_payoff(tree.committed[end], tree.folded[end], ranks, player)
    else:
        out[0] = duel_payoff(kind, end, 0, ranks[0] - ranks[1])
        out[1] = -out[0]


@inline
def positive_sum(table: Reals, row: int, arity: int) -> float:
    """Sum of the positive regrets of the row of `table` that begins at `row`."""
    total = 0.0
    for a in range(arity):
        total += max(table[row + a], np.float32(0.0))
    return total


@inline
def matched(regret: Any, total: float, arity: int) -> float:
    """Probability of an action with this regret under regret matching; `total` sums the positive ones of the row."""
    chosen: float = max(regret, np.float32(0.0)) / total if total > 0.0 else 1.0 / arity
    return chosen
