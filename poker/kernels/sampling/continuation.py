"""Reach of the ends of a betting subtree for each hand, under a quantised strategy and its biased forms.

For one player, one form k and one hand, the reach of an end z is the product of the player's own probabilities on the
way from the subtree's root to z. Probabilities of other players and of chance count as 1.

Q is the number of nodes of the subtree (root first, parents before children), Z of ends, m of hands, S of streets, K of
forms and A of actions.
"""

import numpy as np
from numpy.typing import NDArray

from poker.kernels.registry import entry
from poker.kernels.simd import LANES, fma, load, splat, store
from poker.kernels.types import F32, F64, I8, I32, I64

BLOCK = 128
"""Number of hands processed together, so that a node's probabilities are fetched once for all of them."""

_NODES = "i1_1, i1_1, i4_1, i4_1, i8_1, i8_1, i4_1, i1_1"


@entry(*(f"{_NODES}, f4_1, {weights}, f4_2, i8, i4_2, f4_3" for weights in ("u1_1r", "u2_1r")))
def end_reaches(
    player: I8,
    street: I8,
    first: I32,
    arity: I32,
    row: I64,
    stride: I64,
    end: I32,
    action_class: I8,
    worth: F32,
    strategy: NDArray[np.integer],
    bias: F32,
    own: int,
    buckets: I32,
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
        worth: float32 [Z] factor of the reach of each end.
        strategy: uint8 or uint16 [entries] action weights.
        bias: float32 [3, K] factor by class of action.
        own: the player whose probabilities count.
        buckets: int32 [S, m] bucket of each hand; any value for streets outside the subtree. A hand with bucket -1 has
            no reach.
        out: float32 [K, Z, m] receives the reach.
    """
    num_forms, hands = out.shape[0], out.shape[2]
    size, streets = player.shape[0], buckets.shape[0]
    rows = np.empty(BLOCK, dtype=np.int64)
    weights = np.ones(np.max(arity) * BLOCK, dtype=np.float32)
    reach = np.empty(size * num_forms * BLOCK, dtype=np.float32)  # of a node and form from (node * K + form) * BLOCK on
    source = np.zeros(size, dtype=np.int64)  # the node whose reach a node shares, as only the other player acted since
    for begin in range(0, hands, BLOCK):
        count = min(BLOCK, hands - begin)
        for i in range(BLOCK):
            live = np.float32(i < count)
            for s in range(streets):
                if i < count and buckets[s, begin + i] < 0:
                    live = np.float32(0.0)
            for form in range(num_forms):
                reach[form * BLOCK + i] = live
        for node in range(size):
            actions, child, above = arity[node], np.int64(first[node]), source[node] * num_forms * BLOCK
            if actions == 0:
                factor = worth[end[node]]
                for form in range(num_forms):
                    row_of_end, at = out[form, end[node]], above + form * BLOCK
                    for i in range(count):
                        row_of_end[begin + i] = factor * reach[at + i]
                continue
            for a in range(actions):
                source[child + a] = child + a if player[node] == own else source[node]
            if player[node] != own:
                continue
            held = buckets[street[node]]
            for i in range(count):
                rows[i] = row[node] + max(np.int64(held[begin + i]), 0) * stride[node]
            for a in range(actions):
                for i in range(count):
                    weights[a * BLOCK + i] = np.float32(strategy[rows[i] + a])
            for form in range(num_forms):
                for i in range(form * BLOCK, form * BLOCK + count, LANES):
                    total = splat(0.0)
                    for a in range(actions):
                        bias_of = splat(bias[action_class[child + a], form])
                        total = fma(bias_of, load(weights, a * BLOCK + i - form * BLOCK), total)
                    scale = load(reach, above + i) / total
                    for a in range(actions):
                        bias_of = splat(bias[action_class[child + a], form])
                        here = bias_of * load(weights, a * BLOCK + i - form * BLOCK) * scale
                        store(reach, (child + a) * num_forms * BLOCK + i, here)


@entry("f4_5, f4_3, f8_4, f8_4, f8_4")
def add_boards(values: F32, control: F32, sums: F64, squares: F64, products: F64) -> None:
    """Add the values of R boards, their squares and their products with a control variate, in the order of the boards.

    Args:
        values: float32 [P, K, R, m0, m1] values.
        control: float32 [R, m0, m1] control variate.
        sums: float64 [P, K, m0, m1] sums of values; updated.
        squares: float64 [P, K, m0, m1] sums of squares; updated.
        products: float64 [P, K, m0, m1] sums of values * control; updated.
    """
    own, forms, boards, hands, others = values.shape
    for p in range(own):
        for k in range(forms):
            for r in range(boards):
                for i in range(hands):
                    for j in range(others):
                        value = values[p, k, r, i, j]
                        sums[p, k, i, j] += value
                        squares[p, k, i, j] += value * value
                        products[p, k, i, j] += value * control[r, i, j]
