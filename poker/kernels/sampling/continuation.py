"""Reach of the ends of a betting subtree for each hand, under a quantised strategy and its biased forms.

For one player, one form k and one hand, the reach of an end z is the product of the player's own probabilities on the
way from the subtree's root to z. Probabilities of other players and of chance count as 1.

Q is the number of nodes of the subtree (root first, parents before children), Z of ends, m of hands, S of streets, K of
forms and A of actions.
"""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.registry import entry
from poker.kernels.types import F32, I8, I32, I64

BLOCK = 128
"""Number of hands processed together, so that a node's probabilities are fetched once for all of them."""


_NODES = "i1_1, i1_1, i4_1, i4_1, i8_1, i8_1, i4_1, i1_1"


@entry(*(f"{_NODES}, {weights}, f4_2, i8, i4_2, f4_3, f4_3" for weights in ("u1_1r", "u2_1r")), fastmath=True)
def end_reaches(
    player: I8,
    street: I8,
    first: I32,
    arity: I32,
    row: I64,
    stride: I64,
    end: I32,
    action_class: I8,
    strategy: NDArray[np.integer],
    bias: F32,
    own: int,
    buckets: I32,
    reach: F32,
    out: F32,
) -> None:
    """Compute the reach of every end.

    Probabilities are normalised here, so `strategy` may have any scale.

    Args:
        player: int8 [Q] player to act.
        street: int8 [Q] street.
        first: int32 [Q] first child.
        arity: int32 [Q] number of children, 0 for ends.
        row: int64 [Q] first row of the node in the strategy.
        stride: int64 [Q] distance between the rows of consecutive buckets.
        end: int32 [Q] row of an end in `out`.
        action_class: int8 [Q] class of the action into the node: 0 fold, 1 call, 2 raise.
        strategy: uint8 or uint16 [entries] action weights.
        bias: float32 [3, K] factor by class of action.
        own: the player whose probabilities count.
        buckets: int32 [S, m] bucket of each hand; any value for streets outside the subtree. A hand with bucket -1 has
            no reach.
        reach: float32 [Q, K, BLOCK] scratch.
        out: float32 [K, Z, m] receives the reach.
    """
    num_forms, hands = out.shape[0], out.shape[2]
    size, streets = player.shape[0], buckets.shape[0]
    rows = np.empty(BLOCK, dtype=np.int64)
    scale = np.empty(BLOCK, dtype=np.float32)
    weights = np.empty((BLOCK, BLOCK), dtype=np.float32)
    for begin in range(0, hands, BLOCK):
        count = min(BLOCK, hands - begin)
        for i in range(count):
            live = np.float32(1.0)
            for s in range(streets):
                if buckets[s, begin + i] < 0:
                    live = np.float32(0.0)
            reach[0, :, i] = live
        for node in range(size):
            actions, child = arity[node], first[node]
            if actions == 0:
                for form in range(num_forms):
                    for i in range(count):
                        out[form, end[node], begin + i] = reach[node, form, i]
                continue
            if player[node] != own:
                for a in range(actions):
                    for form in range(num_forms):
                        for i in range(count):
                            reach[child + a, form, i] = reach[node, form, i]
                continue
            held = buckets[street[node]]
            for i in range(count):
                rows[i] = row[node] + max(np.int64(held[begin + i]), 0) * stride[node]
            for a in range(actions):
                for i in range(count):
                    weights[a, i] = np.float32(strategy[rows[i] + a])
            for form in range(num_forms):
                for i in range(count):
                    scale[i] = 0.0
                for a in range(actions):
                    factor = bias[action_class[child + a], form]
                    for i in range(count):
                        scale[i] += factor * weights[a, i]
                for i in range(count):
                    scale[i] = reach[node, form, i] / scale[i]
                for a in range(actions):
                    factor = bias[action_class[child + a], form]
                    for i in range(count):
                        reach[child + a, form, i] = factor * weights[a, i] * scale[i]
