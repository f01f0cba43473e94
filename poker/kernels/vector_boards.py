"""Lists of live hands per board: dealt from the list of the board before, sorted by strength on the last street."""

import numpy as np
from numba import njit
from numpy.typing import NDArray

Ids = NDArray[np.uint16]


@njit(cache=True, nogil=True)
def count_live(
    masks: NDArray[np.uint64], hands: Ids, start: NDArray[np.int64], count: NDArray[np.int32], dealt: NDArray[np.uint64]
) -> NDArray[np.int32]:
    """int32[b]: hands of the parent's list (start[b], count[b]) that share no card with `dealt[b]`."""
    out = np.zeros(len(dealt), np.int32)
    for b in range(len(dealt)):
        for i in range(start[b], start[b] + count[b]):
            out[b] += masks[hands[i]] & dealt[b] == 0
    return out


@njit(cache=True, nogil=True)
def deal_hands(
    masks: NDArray[np.uint64],
    parent_hands: Ids,
    parent_start: NDArray[np.int64],
    parent_count: NDArray[np.int32],
    dealt: NDArray[np.uint64],
    ranks: NDArray[np.int16],
    start: NDArray[np.int64],
    hands: Ids,
    up: Ids,
) -> None:
    """Live hands of each board b from start[b] on, and their place in the parent's list.

    `ranks` [boards, H] sorts each list by strength, ascending and stable; [boards, 0] keeps the parent's order.
    """
    ranked = ranks.shape[1] > 0
    top = 0
    if ranked:
        for b in range(len(dealt)):
            for h in range(ranks.shape[1]):
                top = max(top, ranks[b, h])
    where = np.zeros(top + 2, np.int64)
    for b in range(len(dealt)):
        at = start[b]
        first, last = parent_start[b], parent_start[b] + parent_count[b]
        if ranked:
            where[:] = 0
            for i in range(first, last):
                hand = parent_hands[i]
                if masks[hand] & dealt[b] == 0:
                    where[ranks[b, hand] + 1] += 1
            for r in range(top + 1):
                where[r + 1] += where[r]
        for i in range(first, last):
            hand = parent_hands[i]
            if masks[hand] & dealt[b] == 0:
                place = at
                if ranked:
                    place = start[b] + where[ranks[b, hand]]
                    where[ranks[b, hand]] += 1
                else:
                    at += 1
                hands[place] = hand
                up[place] = i - first


@njit(cache=True, nogil=True)
def match_hands(
    own_hands: Ids,
    own_start: NDArray[np.int64],
    own_count: NDArray[np.int32],
    opp_hands: Ids,
    opp_start: NDArray[np.int64],
    opp_count: NDArray[np.int32],
    ranks: NDArray[np.int16],
    num_hands: int,
    same: Ids,
    less: Ids,
    upto: Ids,
) -> None:
    """For each own hand on each board: its place in the opponent's list (their count if it is not there), and how many
    of the opponent's hands are weaker, and weaker or equal (with `ranks` as in `deal_hands`)."""
    place = np.empty(num_hands, np.int64)
    for b in range(len(own_start)):
        theirs = opp_count[b]
        place[:] = theirs
        for j in range(theirs):
            place[opp_hands[opp_start[b] + j]] = j
        weaker = 0
        not_stronger = 0
        for i in range(own_start[b], own_start[b] + own_count[b]):
            same[i] = place[own_hands[i]]
            if ranks.shape[1] > 0:
                rank = ranks[b, own_hands[i]]
                while weaker < theirs and ranks[b, opp_hands[opp_start[b] + weaker]] < rank:
                    weaker += 1
                while not_stronger < theirs and ranks[b, opp_hands[opp_start[b] + not_stronger]] <= rank:
                    not_stronger += 1
                less[i] = weaker
                upto[i] = not_stronger
