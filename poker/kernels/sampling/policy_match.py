"""Hands between policies that are tables on one sampling tree, with every deal played once in every seating.

M is the number of sampling nodes, P of players, S of streets, n of deals, T of seatings, K of policies and E of entries
of a policy.
"""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.registry import entry
from poker.kernels.rng import next_float
from poker.kernels.sampling.nodes import DEALS, DECISION, TREE, Deals, Tree, payoffs
from poker.kernels.types import F64, I64, U64


@entry(*(f"{TREE}, {weights}, i8_2, {DEALS}, u8_1, f8_3" for weights in ("u1_2", "u2_2")))
def play_policies(
    tree: Tree, strategies: NDArray[np.generic], seatings: I64, deals: Deals, rng: U64, results: F64
) -> None:
    """Play every deal in every seating.

    Args:
        tree: the sampling tree.
        strategies: uint8 or uint16 [K, E] action weights; the entry of an action is row + bucket * stride + a.
        seatings: int64 [T, P] policy in each seat.
        deals: n deals.
        rng: uint64 [4] random state; advanced.
        results: float64 [n, T, P] receives the net chips of each seat.
    """
    nodes, strides = tree.nodes, tree.strides
    buckets, ranks = deals
    for deal in range(len(ranks)):
        for seating in range(len(seatings)):
            node = 0
            while nodes[node].kind == DECISION:
                player, street, arity = nodes[node].player, nodes[node].street, nodes[node].arity
                row = nodes[node].row + np.int64(buckets[deal, player, street]) * strides[player, street]
                policy = seatings[seating, player]
                total = 0.0
                for a in range(arity):
                    total += strategies[policy, row + a]
                left = next_float(rng) * total
                action = arity - 1
                for a in range(arity - 1):
                    left -= strategies[policy, row + a]
                    if left < 0.0:
                        action = a
                        break
                node = nodes[node].first + action
            payoffs(tree, node, ranks[deal], results[deal, seating])
