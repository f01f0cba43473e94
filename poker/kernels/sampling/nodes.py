"""Nodes of the sampling tree, which `poker.solvers.sampling.tree` packs, and the payoffs at the ends of hands.

Kernels of other files include this code when they are compiled, and their caches do not notice edits of this file.
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
"""A node of the sampling tree. `row` of a DECISION is where its rows begin; the row of bucket b is at
row + b * strides[player, street]. With two players `row` of a FOLD is the chips that player 0 wins, and of a SHOWDOWN
the chips that the better hand wins. `row` of a MULTIWAY end is its number among the E different ends."""


class Tree(NamedTuple):
    """A sampling tree: M nodes for P players, with E different ends of hands with more than two players.

    Attributes:
        nodes: [M] nodes of type NODE.
        strides: int32 [P, S] distance between the slabs of consecutive buckets.
        committed: int32 [E, P] chips at the different ends.
        folded: bool [E, P] who has folded there.
    """

    nodes: Records  # [M] of NODE
    strides: I32  # [P, S]
    committed: I32  # [E, P]
    folded: Bools  # [E, P]


class Deals(NamedTuple):
    """Deals to P players.

    Attributes:
        buckets: int32 [n, P, S] bucket of each player on each street.
        ranks: int32 [n, P] showdown rank of each player; higher wins.
    """

    buckets: I32  # [n, P, S]
    ranks: I32  # [n, P]


TREE, DEALS = "Tree(NODE_1, i4_2, i4_2, b1_2)", "Deals(i4_3, i4_2)"
"""Types of `Tree` and `Deals` for the registry."""
DECISION, FOLD, SHOWDOWN, MULTIWAY = range(4)
"""Kinds of node. MULTIWAY is any end of a hand with more than two players: payoffs from `committed` and `folded`."""
MAX_ACTIONS = 30
"""Largest number of actions of a decision; it bounds the scratch of the kernels."""


@njit(**KERNEL)
def multiway_payoff(committed: I32, folded: Bools, ranks: I32, player: int) -> float:
    """Return the net chips of a player at the end of a hand, with side pots; odd chips are divided evenly.

    Args:
        committed: int32 [P] chips of each player.
        folded: bool [P] who has folded.
        ranks: int32 [P] showdown ranks.
    """
    won = 0.0
    layer_floor = 0
    mine = committed[player]
    if not folded[player]:
        while layer_floor < mine:
            layer_top = mine  # the layer ends at the next smaller stake of a player who has not folded
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
    """Return the net chips of a player at an end of a two-player hand.

    The arguments are numbers, because passing arrays would cost more than the rest of the function.

    Args:
        kind: FOLD or SHOWDOWN.
        stake: `row` of the node.
        lead: the player's rank minus the other's at a showdown.
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
    """Compute the net chips of all players at an end.

    Args:
        tree: the sampling tree.
        node: the end.
        ranks: int32 [P] showdown ranks.
        out: float64 [P] receives the chips.
    """
    kind, end = tree.nodes[node].kind, tree.nodes[node].row
    if kind == MULTIWAY:
        for player in range(len(out)):
            out[player] = multiway_payoff(tree.committed[end], tree.folded[end], ranks, player)
    else:
        out[0] = duel_payoff(kind, end, 0, ranks[0] - ranks[1])
        out[1] = -out[0]


@inline
def positive_sum(table: Reals, row: int, arity: int) -> float:
    """Sum the positive regrets of a row of the table [entries] that begins at `row`."""
    total = 0.0
    for a in range(arity):
        total += max(table[row + a], np.float32(0.0))
    return total


@inline
def matched(regret: Any, total: float, arity: int) -> float:
    """Return the probability of an action under regret matching.

    Args:
        regret: regret of the action.
        total: sum of the positive regrets of the row.
        arity: number of actions.
    """
    return max(regret, np.float32(0.0)) / total if total > 0.0 else 1.0 / arity
