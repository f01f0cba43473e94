"""Hands between policies that are tables on one sampling tree: every deal once in every seating.

Symbols: M sampling nodes, P players, S streets, n deals, T seatings, K policies, E entries of a policy.
"""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.registry import entry
from poker.kernels.rng import next_float
from poker.kernels.sampling.nodes import DECISION, payoff


@entry(
    "NODE_1, i4_2, i4_2, b1_2, u1_2, i8_2, i4_3, i4_2, u8_1, f8_3",
    "NODE_1, i4_2, i4_2, b1_2, u2_2, i8_2, i4_3, i4_2, u8_1, f8_3",
)
def play_policies(
    nodes: NDArray[np.void],
    strides: NDArray[np.int32],
    committed: NDArray[np.int32],
    folded: NDArray[np.bool_],
    strategies: NDArray[np.generic],
    seatings: NDArray[np.int64],
    buckets: NDArray[np.int32],
    ranks: NDArray[np.int32],
    rng: NDArray[np.uint64],
    results: NDArray[np.float64],
) -> None:
    """Fill results [n, T, P], net chips of each seat. strategies [K, E] are weights, entry row + bucket * stride + a.

    seatings [T, P] are policies by seat; buckets [n, P, S], ranks [n, P].
    """
    players = ranks.shape[1]
    for deal in range(ranks.shape[0]):
        for seating in range(len(seatings)):
            node = 0
            while nodes[node].kind == DECISION:
                player, street, arity = nodes[node].player, nodes[node].street, nodes[node].arity
                bucket = np.int64(buckets[deal, player, street])
                row = nodes[node].row + bucket * strides[player, street]
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
            for player in range(players):
                results[deal, seating, player] = payoff(nodes, committed, folded, node, ranks[deal], player)
