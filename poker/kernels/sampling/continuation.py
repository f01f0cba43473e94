"""Reach of the ends of a betting subtree, hand by hand, under a quantised strategy and its biased forms.

For one player, one form k and one hand, the reach of an end z is the product of the player's own probabilities on the
way from the subtree's root to z; everybody else's actions and chance count 1.

Symbols: Q nodes of the subtree (root first, parents before children), Z ends, m hands, S streets, K forms, A actions.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray

from poker.kernels.registry import INLINE, entry
from poker.kernels.types import F32, I8, I32, I64


@njit(**INLINE, fastmath=True)
def _one_form(
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
    hand: int,
    reach: F32,
    out: F32,
) -> None:
    """`end_reaches` of one hand for one form."""
    reach[0, 0] = np.float32(1.0)
    for node in range(len(player)):
        actions, child, here = arity[node], first[node], reach[node, 0]
        if actions == 0:
            out[0, hand, end[node]] = here
        elif player[node] != own:
            for a in range(actions):
                reach[child + a, 0] = here
        else:
            at = row[node] + np.int64(buckets[street[node], hand]) * stride[node]
            total = np.float32(0.0)
            for a in range(actions):
                biased = np.float32(strategy[at + a]) * bias[action_class[child + a], 0]
                reach[child + a, 0] = biased
                total += biased
            scale = here / total
            for a in range(actions):
                reach[child + a, 0] *= scale


@entry(
    "i1_1, i1_1, i4_1, i4_1, i8_1, i8_1, i4_1, i1_1, u1_1r, f4_2, i8, i4_2, f4_2, f4_3",
    "i1_1, i1_1, i4_1, i4_1, i8_1, i8_1, i4_1, i1_1, u2_1r, f4_2, i8, i4_2, f4_2, f4_3",
    fastmath=True,
)
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
    """Fill out [K, m, Z]. Per node of the subtree: player, street, first child, arity (0 at an end), row and stride in
    `strategy`, column `end` in out, class (0 fold, 1 call, 2 raise) of the action that leads to it.

    buckets [S, m], any value for a street that the subtree does not contain; a hand with bucket -1 gets no reach.
    bias [3, K]: factor by class of action. Probabilities are
    normalised here, so `strategy` may have any scale. reach [Q, K] is scratch.
    """
    num_forms, hands = out.shape[0], out.shape[1]
    size = player.shape[0]
    total = np.zeros(num_forms, dtype=np.float32)
    for hand in range(hands):
        dead = False
        for s in range(buckets.shape[0]):
            dead = dead or buckets[s, hand] < 0
        if dead:
            out[:, hand, :] = 0.0
            continue
        if num_forms == 1:
            _one_form(
                player, street, first, arity, row, stride, end, action_class, strategy, bias, own, buckets, hand, reach,
                out,
            )  # fmt: skip
            continue
        reach[0, :] = 1.0
        for node in range(size):
            actions = arity[node]
            child = first[node]
            if actions == 0:
                for form in range(num_forms):
                    out[form, hand, end[node]] = reach[node, form]
            elif player[node] != own:
                for a in range(actions):
                    for form in range(num_forms):
                        reach[child + a, form] = reach[node, form]
            else:
                at = row[node] + np.int64(buckets[street[node], hand]) * stride[node]
                for form in range(num_forms):
                    total[form] = 0.0
                for a in range(actions):
                    weight = np.float32(strategy[at + a])
                    for form in range(num_forms):
                        biased = weight * bias[action_class[child + a], form]
                        reach[child + a, form] = biased
                        total[form] += biased
                for form in range(num_forms):
                    total[form] = reach[node, form] / total[form]
                for a in range(actions):
                    for form in range(num_forms):
                        reach[child + a, form] *= total[form]
