"""What a sweep of vector-form CFR reads and writes. `poker.solvers.vector.layout` and `boards` make the arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]

ACT, PASS, STOP = 0, 1, 2
"""What a kernel does at a node: a decision, a deal, a terminal."""

STRIDE, REACH, VALUE = range(3)
LANES_IN, LANES_OUT, PREFIX, CARDS, ZERO_ROW, DUMP_ROW, CLUSTERS = range(7)


class Nodes(NamedTuple):
    """M nodes in kernel order; [2, M] arrays are indexed by the player being updated."""

    role: NDArray[np.int8]
    player: NDArray[np.int8]
    first_child: NDArray[np.int32]
    num_children: NDArray[np.int32]
    entry: NDArray[np.int32]
    locked: NDArray[np.bool_]
    reach_row: NDArray[np.int32]
    value_row: NDArray[np.int32]
    scale: NDArray[np.float32]


class Batches(NamedTuple):
    """Q batches of components evaluated together. Street s owns `street_start[s]..street_start[s + 1]` of them.

    A component has its root node in `roots` and the STREET node above it in `deals` (-1 for the root of the tree). Per
    player p and batch q: fold rows `fold_start[p, q]..`, showdown rows, run-out rows, leaf rows:
    (reach row, value row, leaf state, leaf choice). Mixed rows (target, showdown or run-out row, fold row) are sums
    with `mix` as factors: terminals with rake.
    """

    street_start: NDArray[np.int32]
    node_start: NDArray[np.int32]
    root_start: NDArray[np.int32]
    roots: NDArray[np.int32]
    deals: NDArray[np.int32]
    fold_start: NDArray[np.int32]
    folds: NDArray[np.int32]
    show_start: NDArray[np.int32]
    shows: NDArray[np.int32]
    leaf_start: NDArray[np.int32]
    leaves: NDArray[np.int32]
    runout_start: NDArray[np.int32]
    runouts: NDArray[np.int32]
    mixed_start: NDArray[np.int32]
    mixed: NDArray[np.int32]
    mix: NDArray[np.float32]


class Boards(NamedTuple):
    """B boards, street by street; [2, B] arrays are indexed by player.

    `weight` is the probability of the class given a hand of each player that it leaves alone. The hands of player p on
    board b are `list_start[p, b]..+size[p, b]` of `HandLists`; `padded` is the size rounded up to LANES. `block` is
    where the player's action rows of that board start in the regret array.
    """

    street_start: NDArray[np.int32]
    child_start: NDArray[np.int32]
    weight: NDArray[np.float32]
    symmetric: NDArray[np.bool_]
    list_start: NDArray[np.int64]
    size: NDArray[np.int32]
    padded: NDArray[np.int32]
    block: NDArray[np.int64]


class HandLists(NamedTuple):
    """Per list element: the hand, its place in the list of the board before, its two cards (a hand of one card gets a
    private second one), its place in the opponent's list, how many of the opponent's hands are weaker, and weaker or
    equal (last street), and its orbit under the board's suit symmetries.

    Card by card: the hands of player p on board b that hold card c are `by_card[2 * start + k]` for k from
    `card_start[p, b, c]` to `card_start[p, b, c + 1]` (start: the list's), with the numbers of the opponent's hands
    holding c that are weaker (`card_less`), and weaker or equal."""

    hand: NDArray[np.uint16]
    up: NDArray[np.uint16]
    card0: NDArray[np.uint8]
    card1: NDArray[np.uint8]
    same: NDArray[np.uint16]
    less: NDArray[np.uint16]
    upto: NDArray[np.uint16]
    orbit: NDArray[np.uint16]
    card_start: NDArray[np.uint16]
    by_card: NDArray[np.uint16]
    card_less: NDArray[np.uint8]
    card_upto: NDArray[np.uint8]


class Sweep(NamedTuple):
    """Everything a sweep reads or writes except the scratch memory of a thread.

    nodes, batches, boards, lists: the layout. `regrets` and `sums` hold the action rows; `source` is
    where the current strategy comes from: the regrets, or the predicted regrets (then `predictive`). `place` [3, S] and
    `areas` [7] are offsets into scratch memory. `root_reach` and `root_value` are [2, stride]. Chunk c of the boards
    below the root is `chunk_start[c]..chunk_start[c + 1]`. `leaf_values` [2, ...] holds, per player, matrices
    [own clusters, opponent clusters padded] at `leaf_matrix[p, state, choice]`; `cluster` [2, H]. `runout_at[b]` is
    where the run-out matrix of board b starts, [hands of player 1, hands of player 0 padded]. `num_slots[s]` counts the
    STREET nodes of street s.
    """

    nodes: Nodes
    batches: Batches
    boards: Boards
    lists: HandLists
    regrets: Floats
    source: Floats
    sums: Floats
    place: NDArray[np.int64]
    areas: NDArray[np.int64]
    root_reach: Floats
    root_value: Floats
    chunk_start: NDArray[np.int32]
    partial: Floats
    cluster: NDArray[np.int32]
    num_clusters: NDArray[np.int32]
    leaf_matrix: NDArray[np.int64]
    leaf_values: Floats
    runout_at: NDArray[np.int64]
    runout_matrix: NDArray[np.int16]
    num_slots: NDArray[np.int64]
    num_card_slots: int
    first_street: int
    last_street: int
    predictive: bool


_LAYOUT = (
    "Nodes(i1_1, i1_1, i4_1, i4_1, i4_1, b1_1, i4_2, i4_2, f4_2),"
    "Batches(i4_1, i4_1, i4_1, i4_1, i4_1, i4_2, i4_2, i4_2, i4_2, i4_2, i4_2, i4_2, i4_2, i4_2, i4_2, f4_2),"
    "Boards(i4_1, i4_1, f4_1, b1_1, i8_2, i4_2, i4_2, i8_2),"
    "HandLists(u2_1, u2_1, u1_1, u1_1, u2_1, u2_1, u2_1, u2_1, u2_3, u2_1, u1_1, u1_1)"
)
_SCRATCH = "i8_2, i8_1, f4_2, f4_2, i4_1, f4_1, i4_2, i4_1, i8_3, f4_1, i8_1, i2_1, i8_1, i8, i8, i8, b1"
SWEEP, SWEEP_16 = (f"Sweep({_LAYOUT}, {kind}, {kind}, {kind}, {_SCRATCH})" for kind in ("f4_1", "u2_1"))
"""Types of a sweep for the registry: regrets and sums in float32, or in bfloat16."""
