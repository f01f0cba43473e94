"""Values of a best responder for all hands, street by street, against an opponent who plays by buckets.

A lane is one betting line: the node where a street begins. Sixteen lanes whose betting on the street has the same shape
are computed together, hand by hand, so that everything that hangs on cards is an address and nothing is gathered.

- A *row* is a sequence of the opponent's actions on the street; the reach there is what it was when the street began
  times `shares[bucket, row, lane]`. All but the entry row (no action yet) end the street if the responder calls or
  checks, so a row has one *end*: a showdown, or the value of what follows. Rows that have an end come first.
- The responder's values are linear in ends and in *masses* (the opponent's reach summed over compatible hands), except
  where the best action is taken: `_play` runs a short program over both.
- Showdowns: hands of a board are in order of strength. Walking down, sums over all hands so far and over those with
  either card give what beats a hand; walking up, what it beats. Both walks take hands that tie in the same order, so
  they cancel in the difference of the two.

Symbols: H = 1326 hands, n boards, L live hands of a board, W = 16 * rows floats of one hand, card or bucket, P steps of
a program. float32; a sum has at most 1,225 terms, and means over boards are float64 (`best_response.unabstracted`).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards.hands import HAND_CARDS, NUM_HANDS
from poker.kernels.cards.isomorphism import gather_board
from poker.kernels.cards.ranks import NUM_CLASSES, rank_board_into
from poker.kernels.registry import entry, kernel
from poker.kernels.simd import fma, load, maximum, splat, store
from poker.kernels.types import F32, I16, I32, I64, U8, U16

CHUNK = 8
"""Hands for which a program runs at once."""

LINEAR, BEST, SLOT = range(3)
"""Computed by a step: a * end + b * mass of a row, the larger of the two, or another slot."""

SET, ADD, MAX = range(3)
"""Uses that a step makes of the slot it computes."""

_ALL = 52
_CARD_ROWS = 53


def work_size(rows: int, slots: int, live: int) -> int:
    """Floats of scratch memory that streets with so many rows, slots and live hands need."""
    return 16 * (rows * (2 * _CARD_ROWS + live + 2 * CHUNK) + slots * CHUNK)


@entry("u1_2, u1_2r, u2_3, i2_2", "u1_2, u2_2r, u2_3, i2_2")
def sort_boards(boards: U8, table: NDArray[Any], records: U16, down: I16) -> None:
    """Sort the hands of boards [n, cards]: records [n, L, 4] are hand, bucket and two cards, weakest first; down [n, L]
    the places in `records` from the strongest group of equal hands to the weakest, within a group as in `records`."""
    ranks, buckets = np.empty(NUM_HANDS, np.int32), np.empty(NUM_HANDS, np.int32)
    order, starts = np.empty(NUM_HANDS, np.int32), np.empty(NUM_CLASSES + 1, np.int32)
    for i in range(len(boards)):
        rank_board_into(boards[i], ranks)
        gather_board(table, boards[i], buckets)
        for rank in range(len(starts)):
            starts[rank] = 0
        for hand in range(NUM_HANDS):
            if ranks[hand] >= 0:
                starts[ranks[hand] + 1] += 1
        for rank in range(1, len(starts)):
            starts[rank] += starts[rank - 1]
        count = starts[-1]
        for hand in range(NUM_HANDS):
            if ranks[hand] >= 0:
                order[starts[ranks[hand]]] = hand
                starts[ranks[hand]] += 1
        end, place = count, 0
        for at in range(count - 1, -1, -1):
            hand = order[at]
            records[i, at, 0], records[i, at, 1] = hand, buckets[hand]
            records[i, at, 2], records[i, at, 3] = HAND_CARDS[hand, 0], HAND_CARDS[hand, 1]
            if at == 0 or ranks[order[at - 1]] != ranks[hand]:
                for member in range(at, end):
                    down[i, place] = member
                    place += 1
                end = at


@kernel
def _play(steps: I32, factors: F32, work: F32, ends: int, masses: int, slots: int) -> None:
    """Runs a program [P, 4] of (what, how, slot, row) for CHUNK hands; factors [P, 2, 16] are a and b."""
    size = CHUNK * 16
    for n in range(len(steps)):
        what, how, row = steps[n, 0], steps[n, 1], np.int64(steps[n, 3]) * size
        to = slots + np.int64(steps[n, 2]) * size
        a, b = load(factors, n * 32), load(factors, n * 32 + 16)
        if what == SLOT:
            if how == ADD:
                for i in range(0, size, 16):
                    store(work, to + i, load(work, to + i) + load(work, slots + row + i))
            else:
                for i in range(0, size, 16):
                    store(work, to + i, maximum(load(work, to + i), load(work, slots + row + i)))
        elif what == BEST:
            if how == SET:
                for i in range(0, size, 16):
                    store(work, to + i, maximum(a * load(work, ends + row + i), b * load(work, masses + row + i)))
            else:
                for i in range(0, size, 16):
                    best = maximum(a * load(work, ends + row + i), b * load(work, masses + row + i))
                    store(work, to + i, maximum(load(work, to + i), best))
        elif how == SET:
            for i in range(0, size, 16):
                store(work, to + i, fma(a, load(work, ends + row + i), b * load(work, masses + row + i)))
        elif how == ADD:
            for i in range(0, size, 16):
                value = fma(b, load(work, masses + row + i), load(work, to + i))
                store(work, to + i, fma(a, load(work, ends + row + i), value))
        else:
            for i in range(0, size, 16):
                value = fma(a, load(work, ends + row + i), b * load(work, masses + row + i))
                store(work, to + i, maximum(load(work, to + i), value))


@entry("u2_3, i2_2, f4_1, f4_1, i8, i8, i4_2, f4_1, f4_1, f4_1, f4_1")
def last_street(
    records: U16,
    down: I16,
    weights: F32,
    shares: F32,
    num_rows: int,
    num_ends: int,
    steps: I32,
    factors: F32,
    reach: F32,
    values: F32,
    work: F32,
) -> None:
    """Adds the values of 16 lanes on n boards, times their weights, to values [H * 16]; reach [H * 16] at the entry."""
    W, size = num_rows * 16, CHUNK * 16
    above, below = 0, _CARD_ROWS * W
    stronger = 2 * _CARD_ROWS * W
    ends = stronger + records.shape[1] * W
    masses = ends + num_rows * size
    slots = masses + num_rows * size
    count = records.shape[1]
    for board in range(len(records)):
        for i in range(0, 2 * _CARD_ROWS * W, 16):
            store(work, i, splat(0.0))
        for n in range(count):
            at = np.int64(down[board, n])
            record = records[board, at]
            coming = load(reach, np.int64(record[0]) * 16)
            share = np.int64(record[1]) * W
            one, two, every = above + np.int64(record[2]) * W, above + np.int64(record[3]) * W, above + _ALL * W
            to = stronger + at * W
            for o in range(0, W, 16):
                x = coming * load(shares, share + o)
                with_one, with_two, total = load(work, one + o), load(work, two + o), load(work, every + o)
                store(work, to + o, with_one + with_two - total)
                store(work, one + o, with_one + x)
                store(work, two + o, with_two + x)
                store(work, every + o, total + x)
        weight = splat(weights[board])
        shown = num_ends * 16
        for first in range(0, count, CHUNK):
            last = min(first + CHUNK, count)
            for place in range(first, last):
                record = records[board, place]
                coming = load(reach, np.int64(record[0]) * 16)
                share = np.int64(record[1]) * W
                card, other = np.int64(record[2]) * W, np.int64(record[3]) * W
                one, two, every = below + card, below + other, below + _ALL * W
                of = stronger + place * W
                to = ends + (place - first) * 16
                for o in range(0, shown, 16):
                    x = coming * load(shares, share + o)
                    with_one, with_two, total = load(work, one + o), load(work, two + o), load(work, every + o)
                    store(work, to + o * CHUNK, load(work, of + o) + total - with_one - with_two)
                    store(work, one + o, with_one + x)
                    store(work, two + o, with_two + x)
                    store(work, every + o, total + x)
                one, two, every = above + card, above + other, above + _ALL * W
                to = masses + (place - first) * 16
                for o in range(0, W, 16):
                    x = coming * load(shares, share + o)
                    store(work, to + o * CHUNK, load(work, every + o) - load(work, one + o) - load(work, two + o) + x)
            _play(steps, factors, work, ends, masses, slots)
            for place in range(first, last):
                at = np.int64(records[board, place, 0]) * 16
                store(values, at, fma(weight, load(work, slots + (place - first) * 16), load(values, at)))


@entry("i8_1, i4_1, f4_1, i8, i8_2, f4_1, f4_1")
def descend(live: I64, buckets: I32, shares: F32, num_rows: int, targets: I64, reach: F32, below: F32) -> None:
    """The opponent's reach at the ends of a street, into the lanes of the next: `targets` [ends, 16] are offsets in
    `below` (hands 16 apart), -1 for lanes that do not go on; reach [H * 16] at the entry."""
    for hand in live:
        for row in range(len(targets)):
            share = (np.int64(buckets[hand]) * num_rows + row) * 16
            for lane in range(16):
                target = targets[row, lane]
                if target >= 0:
                    below[target + hand * 16] = reach[hand * 16 + lane] * shares[share + lane]


@entry("i8_1, i4_1, f8, f4_1, i8, i4_2, f4_1, i8_2, f4_1, f4_1, f4_1, f4_1")
def ascend(
    live: I64,
    buckets: I32,
    weight: float,
    shares: F32,
    num_rows: int,
    steps: I32,
    factors: F32,
    targets: I64,
    below: F32,
    reach: F32,
    values: F32,
    work: F32,
) -> None:
    """Adds the values of 16 lanes on one board, times `weight`, to values [H * 16], from those `below` its ends."""
    W, size = num_rows * 16, CHUNK * 16
    ends = 2 * _CARD_ROWS * W
    masses = ends + num_rows * size
    slots = masses + num_rows * size
    for i in range(0, _CARD_ROWS * W, 16):
        store(work, i, splat(0.0))
    for hand in live:
        share, coming = np.int64(buckets[hand]) * W, load(reach, hand * 16)
        one, two = np.int64(HAND_CARDS[hand, 0]) * W, np.int64(HAND_CARDS[hand, 1]) * W
        for o in range(0, W, 16):
            x = coming * load(shares, share + o)
            store(work, one + o, load(work, one + o) + x)
            store(work, two + o, load(work, two + o) + x)
            store(work, _ALL * W + o, load(work, _ALL * W + o) + x)
    for first in range(0, len(live), CHUNK):
        last = min(first + CHUNK, len(live))
        for i in range(first, last):
            hand = live[i]
            share, coming = np.int64(buckets[hand]) * W, load(reach, hand * 16)
            one, two = np.int64(HAND_CARDS[hand, 0]) * W, np.int64(HAND_CARDS[hand, 1]) * W
            for o in range(0, W, 16):
                x = coming * load(shares, share + o)
                mass = load(work, _ALL * W + o) - load(work, one + o) - load(work, two + o) + x
                store(work, masses + (o * CHUNK + (i - first) * 16), mass)
            for row in range(len(targets)):
                to = ends + row * size + (i - first) * 16
                for lane in range(16):
                    target = targets[row, lane]
                    work[to + lane] = below[target + hand * 16] if target >= 0 else np.float32(0.0)
        _play(steps, factors, work, ends, masses, slots)
        for i in range(first, last):
            at = live[i] * 16
            store(values, at, fma(splat(weight), load(work, slots + (i - first) * 16), load(values, at)))


@entry("u2_2, f8, f4_1, f4_1")
def symmetrise(renamings: U16, scale: float, values: F32, work: F32) -> None:
    """values [G, H, 16] become `scale` times their mean over renamings [n, H] of a hand; work [H * 16]."""
    share = np.float32(scale / len(renamings))
    for group in range(len(values) // (NUM_HANDS * 16)):
        start = group * NUM_HANDS * 16
        for hand in range(NUM_HANDS):
            total = splat(0.0)
            for n in range(len(renamings)):
                total = total + load(values, start + np.int64(renamings[n, hand]) * 16)
            store(work, hand * 16, total * splat(share))
        for i in range(0, NUM_HANDS * 16, 16):
            store(values, start + i, load(work, i))
