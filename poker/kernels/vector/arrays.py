"""Arrays that a sweep of vector-form CFR reads and writes.

`poker.solvers.vector.layout` and `boards` create them.
"""

from typing import NamedTuple

from poker.kernels.types import F32, I8, I16, I32, I64, U8, U16, Bools

ACT, PASS, STOP = range(3)
"""Roles of nodes: a decision, a deal, a terminal."""

STRIDE, REACH, VALUE = range(3)
LANES_IN, LANES_OUT, PREFIX, CARDS, ZERO_ROW, DUMP_ROW, CLUSTERS = range(7)


class Nodes(NamedTuple):
    """M nodes in kernel order; [2, M] arrays are indexed by the player being updated.

    Attributes:
        role: int8 [M] ACT, PASS or STOP.
        player: int8 [M] player to act.
        first_child: int32 [M] first child.
        num_children: int32 [M] number of children.
        entry: int32 [M] first action row of a decision.
        locked: bool [M] whether the strategy is fixed.
        reach_row: int32 [2, M] row of the opponent's reach.
        value_row: int32 [2, M] row of the values.
        scale: float32 [2, M] factor of the value row.
    """

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
    """Q batches of components that are evaluated together.

    Street s owns batches `street_start[s]..street_start[s + 1]`. A component has its root node in `roots` and the
    STREET node above it in `deals` (-1 for the root of the tree). Player p and batch q have fold rows from
    `fold_start[p, q]`, and likewise showdown, run-out, control and leaf rows: (reach row, value row, leaf state, leaf
    choice). Mixed rows (target, showdown, run-out or control row, fold row or target) are sums with factors `mix`. They
    are terminals with rake, and STREET nodes with their control.

    Attributes:
        street_start: int32 [S + 1] first batch of each street.
        node_start: int32 [Q + 1] first node of each batch.
        root_start: int32 [Q + 1] first component of each batch.
        roots: int32 [components] root node of each component.
        deals: int32 [components] STREET node above each component.
        fold_start: int32 [2, Q + 1] first fold row.
        folds: int32 [n, 4] fold rows.
        show_start: int32 [2, Q + 1] first showdown row.
        shows: int32 [n, 4] showdown rows.
        leaf_start: int32 [2, Q + 1] first leaf row.
        leaves: int32 [n, 4] leaf rows.
        runout_start: int32 [2, Q + 1] first run-out row.
        runouts: int32 [n, 4] run-out rows.
        control_start: int32 [2, Q + 1] first control row.
        controls: int32 [n, 4] control rows.
        mixed_start: int32 [2, Q + 1] first mixed row.
        mixed: int32 [n, 4] mixed rows.
        mix: float32 [n, 2] factors of the mixed rows.
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


LEAF_LANES = 32
"""Lines of leaf matrices are padded to multiples of this."""


class Boards(NamedTuple):
    """B boards, street by street; [2, B] arrays are indexed by player.

    The hands of player p on board b are `list_start[p, b]..+size[p, b]` of `HandLists`.

    Attributes:
        street_start: int32 [S + 1] first board of each street.
        child_start: int32 [B + 1] first board below each board.
        weight: float32 [B] probability of the class, given a compatible hand of each player.
        symmetric: bool [B] whether the board has suit symmetries and boards below it.
        list_start: int64 [2, B] start of the list of hands.
        size: int32 [2, B] number of hands.
        padded: int32 [2, B] number of hands rounded up to LANES.
        block: int64 [2, B] start of the player's action rows in the regret array.
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
    """Live hands of all boards, one entry per list element.

    Card by card, the hands of player p on board b that contain card c are `by_card[2 * start + k]`, for k from
    `card_start[p, b, c]` to `card_start[p, b, c + 1]`, where start is the start of the list.

    Attributes:
        hand: uint16 [n] the hand.
        up: uint16 [n] its place in the list of the board before.
        card0: uint8 [n] its first card.
        card1: uint8 [n] its second card; a hand of one card has a private second card.
        same: uint16 [n] its place in the opponent's list.
        less: uint16 [n] number of the opponent's hands that are weaker (last street).
        upto: uint16 [n] number of the opponent's hands that are weaker or equal (last street).
        orbit: uint16 [n] its orbit under the board's suit symmetries.
        card_start: uint16 [2, B, cards + 1] start of each card in `by_card`.
        by_card: uint16 [2 n] places of hands by card.
        card_less: uint8 [2 n] number of the opponent's hands with the same card that are weaker.
        card_upto: uint8 [2 n] number of the opponent's hands with the same card that are weaker or equal.
    """

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
"""Columns of a gadget's row: its number, whether p owns it, the reach row of its first child (the ALTERNATIVE), and the
value rows of that child and of the owner's fold."""


class Gadgets(NamedTuple):
    """The gadgets of all batches, in rows by player and batch as in `Batches`.

    Attributes:
        start: int32 [2, Q + 1] first row.
        rows: int32 [n, 5] rows with the columns NUMBER, OWN, BELOW, OTHER and HELD.
        at: int64 [B] start of each board's alternative values.
        alternatives: float32 [n] values of gadget g on board b for the owner's list of hands, from `at[b]` + g *
            padded.
    """

    start: I32
    rows: I32
    at: I64
    alternatives: F32


class Sweep(NamedTuple):
    """Everything that a sweep reads or writes, except for the scratch memory of a thread.

    Attributes:
        nodes: nodes of the tree.
        batches: batches of components.
        boards: all boards.
        lists: live hands of the boards.
        regrets: float32 [entries] regrets.
        source: float32 [entries] defines the current strategy: the regrets, or with `predictive` the predicted regrets.
        sums: float32 [entries] strategy sums.
        place: int64 [3, S] stride, reach offset and value offset in scratch memory.
        areas: int64 [7] offsets of further areas in scratch memory.
        root_reach: float32 [2, stride] ranges at the root.
        root_value: float32 [2, stride] receives the values at the root.
        chunk_start: int32 [chunks + 1] chunk c of the boards below the root is `chunk_start[c]..chunk_start[c + 1]`.
        partial: float32 [n] sums of each chunk.
        cluster: int32 [2, H] cluster of each hand at leaves.
        num_clusters: int32 [2] number of clusters.
        alike: whether the hands of a cluster differ only in their suits, and play alike.
        leaf_matrix: int64 [2, L, K] start of each matrix in `leaf_values`.
        leaf_values: float32 [n] for each player matrices [opponent clusters, own clusters padded]. If hands
            play `alike`, they are multiplied by the share of the row's hands that are compatible with each own hand.
        runout_at: int64 [2, B] start of each board's run-out matrix and of its control's matrix.
        runout_matrix: int16 [n] matrices [hands of player 1, hands of player 0 padded].
        num_slots: int64 [S] number of STREET nodes of each street.
        gadgets: gadgets of safe re-solving.
        starts: float32 [n] unless empty, receives the player's values at the start of the next round, by board and
            slot.
        num_card_slots: number of card values.
        first_street: street of the root.
        last_street: last street of the tree.
        predictive: whether `source` has predicted regrets.
        best: uint8 [entries] in mode RECORD receives the player's best actions, in the first of a node's action rows.
        modelled: float32 [entries] reach with which the modelled part of the range takes each action.
        modelled_player: player with a modelled part, -1 for none.
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
    alike: bool
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
    "i8_2, i8_1, f4_2, f4_2, i4_1, f4_1, i4_2, i4_1, b1, i8_3, f4_1, i8_2, i2_1, i8_1,"
    "Gadgets(i4_2, i4_2, i8_1, f4_1), f4_1, i8, i8, i8, b1, u1_1, f4_1, i8"
)
SWEEP = f"Sweep({_LAYOUT}, f4_1, f4_1, f4_1, {_SCRATCH})"
"""The type of a sweep for the registry."""
