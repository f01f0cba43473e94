"""Arrays that a sweep of vector-form CFR reads and writes. `poker.solvers.vector.layout` and `boards` make them."""

from typing import NamedTuple

from poker.kernels.types import F32, I8, I16, I32, I64, U8, U16, Bools

ACT, PASS, STOP = range(3)
"""Roles of nodes: a decision, a deal, a terminal."""

STRIDE, REACH, VALUE = range(3)
LANES_IN, LANES_OUT, PREFIX, CARDS, ZERO_ROW, DUMP_ROW, CLUSTERS = range(7)


class Nodes(NamedTuple):
    """M nodes in kernel order; [2, M] arrays are indexed by the player being updated."""

    role: I8
    player: I8
    first_child: I32
    num_children: I32
    entry: I32
    locked: Bools
    reach_row: I32
    value_row: I32
    scale: F32


class Batches(NamedTuple):
    """Q batches of components evaluated together. Street s owns `street_start[s]..street_start[s + 1]` of them.

    A component has its root node in `roots` and the STREET node above it in `deals` (-1 for the root of the tree). Per
    player p and batch q: fold rows `fold_start[p, q]..`, showdown rows, run-out rows, control rows, leaf rows:
    (reach row, value row, leaf state, leaf choice). Mixed rows (target, showdown, run-out or control row, fold row or
    target) are sums with `mix` as factors: terminals with rake, and STREET nodes with their control.
    """

    street_start: I32
    node_start: I32
    root_start: I32
    roots: I32
    deals: I32
    fold_start: I32
    folds: I32
    show_start: I32
    shows: I32
    leaf_start: I32
    leaves: I32
    runout_start: I32
    runouts: I32
    control_start: I32
    controls: I32
    mixed_start: I32
    mixed: I32
    mix: F32


class Boards(NamedTuple):
    """B boards, street by street; [2, B] arrays are indexed by player.

    `weight` is the probability of the class given a hand of each player that it leaves alone. The hands of player p on
    board b are `list_start[p, b]..+size[p, b]` of `HandLists`; `padded` is the size rounded up to LANES. `block` is
    where the player's action rows of that board start in the regret array.
    """

    street_start: I32
    child_start: I32
    weight: F32
    symmetric: Bools
    list_start: I64
    size: I32
    padded: I32
    block: I64


class HandLists(NamedTuple):
    """Per list element: the hand, its place in the list of the board before, its two cards (a hand of one card gets a
    private second one), its place in the opponent's list, how many of the opponent's hands are weaker, and weaker or
    equal (last street), and its orbit under the board's suit symmetries.

    Card by card: the hands of player p on board b that hold card c are `by_card[2 * start + k]` for k from
    `card_start[p, b, c]` to `card_start[p, b, c + 1]` (start: the list's), with the numbers of the opponent's hands
    holding c that are weaker (`card_less`), and weaker or equal."""

    hand: U16
    up: U16
    card0: U8
    card1: U8
    same: U16
    less: U16
    upto: U16
    orbit: U16
    card_start: U16
    by_card: U16
    card_less: U8
    card_upto: U8


NUMBER, OWN, BELOW, OTHER, HELD = range(5)
"""Columns of a gadget's row: its number, whether p owns it, the row of reach at its first child, the ALTERNATIVE, and
those of values there and of the owner's fold."""


class Gadgets(NamedTuple):
    """Gadgets of all batches, rows by player and batch as those of `Batches`.

    `alternatives` holds the values of gadget g on board b for the owner's list of hands from `at[b]` + g * padded.
    """

    start: I32
    rows: I32
    at: I64
    alternatives: F32


class Sweep(NamedTuple):
    """Everything a sweep reads or writes except the scratch memory of a thread.

    nodes, batches, boards, lists: the layout. `regrets` and `sums` hold the action rows; `source` is
    where the current strategy comes from: the regrets, or the predicted regrets (then `predictive`). `place` [3, S] and
    `areas` [7] are offsets into scratch memory. `root_reach` and `root_value` are [2, stride]. Chunk c of the boards
    below the root is `chunk_start[c]..chunk_start[c + 1]`. `leaf_values` [2, ...] holds, per player, matrices
    [opponent clusters, own clusters padded] at `leaf_matrix[p, state, choice]`; `cluster` [2, H]. `runout_at`
    [2, B] is where the run-out matrix of a board starts, [hands of player 1, hands of player 0 padded], and the
    matrix of its control. `num_slots[s]` counts the
    STREET nodes of street s. `starts`, unless empty, receives p's values where the round after the root's begins, by
    board and slot. Mode RECORD writes p's best actions to the first of a node's action rows in `best`. The reach with
    which a part of the range of `modelled_player` (-1: nobody) takes each action, whatever is solved, is in `modelled`.
    """

    nodes: Nodes
    batches: Batches
    boards: Boards
    lists: HandLists
    regrets: F32
    source: F32
    sums: F32
    place: I64
    areas: I64
    root_reach: F32
    root_value: F32
    chunk_start: I32
    partial: F32
    cluster: I32
    num_clusters: I32
    leaf_matrix: I64
    leaf_values: F32
    runout_at: I64
    runout_matrix: I16
    num_slots: I64
    gadgets: Gadgets
    starts: F32
    num_card_slots: int
    first_street: int
    last_street: int
    predictive: bool
    best: U8
    modelled: F32
    modelled_player: int


BOARDS = "Boards(i4_1, i4_1, f4_1, b1_1, i8_2, i4_2, i4_2, i8_2)"
HAND_LISTS = "HandLists(u2_1, u2_1, u1_1, u1_1, u2_1, u2_1, u2_1, u2_1, u2_3, u2_1, u1_1, u1_1)"
"""Types for the registry."""
_LAYOUT = (
    "Nodes(i1_1, i1_1, i4_1, i4_1, i4_1, b1_1, i4_2, i4_2, f4_2),"
    f"Batches({'i4_1, ' * 5}{'i4_2, ' * 12}f4_2),"
    f"{BOARDS}, {HAND_LISTS}"
)
_SCRATCH = (
    "i8_2, i8_1, f4_2, f4_2, i4_1, f4_1, i4_2, i4_1, i8_3, f4_1, i8_2, i2_1, i8_1,"
    "Gadgets(i4_2, i4_2, i8_1, f4_1), f4_1, i8, i8, i8, b1, u1_1, f4_1, i8"
)
SWEEP = f"Sweep({_LAYOUT}, f4_1, f4_1, f4_1, {_SCRATCH})"
"""The type of a sweep for the registry."""
