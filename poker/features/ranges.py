"""Inputs of nets over ranges: a heads-up hold'em state at the start of a round, with both ranges.

The hands that a board leaves are grouped into `CLASSES` classes by strength; a class is a row that one shared net
values for either player, beside what it is told of all classes. How a hand differs from its class is told by its equity
against the opponent's range alone, which `deviation` compares with the mean of the class.

The job that writes states stores what `encode` gives, and a search asks it again: there is no other way to the inputs.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import check_down_chances, hand_ranks
from poker.artifacts import Artifact, refuses_by_name
from poker.cards import HOLDEM, NUM_HANDS
from poker.features.leaf import TEXTURE_NAMES, board_texture, hash_of
from poker.features.shards import Columns, open_all, write_rows
from poker.tree.spots import spot_rules
from poker.types import Board, Floats, Reals, Singles

KIND = "range_states"
CLASSES = 64
"""Classes of hands; also the number that stands for hands which hold a card of the board."""
VERSION = 1
"""Raised whenever an input's definition changes under an unchanged name."""
ROW_NAMES = (
    "own_mass",  # of the range in the class, each hand by the opponent's hands that it meets, times CLASSES
    "opp_mass",
    "equity",  # mean equity of the class against the opponent's range, as the range weighs its hands
    "own_below",  # the range's mass in weaker classes and half of this one
    "opp_below",
    "strength",  # middle of the class among all hands
    "size",  # hands in the class among all hands, times CLASSES
)
PUBLIC_NAMES = ("stack_to_pot", "pot_share", *TEXTURE_NAMES)
HASH = hash_of((*ROW_NAMES, *PUBLIC_NAMES, f"{CLASSES} classes"), VERSION)
TARGET = "counterfactual value of a hand against the opponent's range: net chips over the whole hand divided by the pot"
STAMP = {"feature_hash": HASH, "target": TARGET}
COLUMNS: Columns = {
    "board": (np.uint8, (5,)),  # NO_CARD beyond its cards
    "stack_to_pot": (np.float32, ()),
    "ranges": (np.float16, (2, NUM_HANDS)),  # the largest weight is 1
    "values": (np.float16, (2, NUM_HANDS)),  # `TARGET`; 0 for hands that hold a card of the board
    "exploitability": (np.float32, ()),  # of the solve, in pots
    "group": (np.int32, ()),  # the canonical board's index
    "rows": (np.float16, (2, CLASSES, len(ROW_NAMES))),  # from here on what `encode` gives
    "public": (np.float16, (len(PUBLIC_NAMES),)),
    "classes": (np.uint8, (NUM_HANDS,)),
    "deviation": (np.float16, (2, NUM_HANDS)),
}
NO_CARD = 255
_RULES = spot_rules(1)
_LEAST = 1e-9
"""Weight of all hands together beside those of a range, so that a class without weight has a mean too."""


class Encoded(NamedTuple):
    """One state: `rows` [2, C, F] of each player's classes, `public` [P], `classes` uint8 [H] and `deviation` [2, H] of
    hands, floats in float32."""

    rows: Singles
    public: Singles
    classes: NDArray[np.uint8]
    deviation: Singles


def encode(board: Board, ranges: Reals, stack_to_pot: float) -> Encoded:
    """Inputs on a board of 4 or 5 cards for ranges [2, H] of any scale and the stack behind in pots."""
    classes = hand_classes(board)
    live = classes < CLASSES
    weights = joint_weights(board, ranges)
    held, size = classes[live], np.bincount(classes[live], minlength=CLASSES)
    strength, mass, means = (np.arange(CLASSES) + 0.5) / CLASSES, np.empty((2, CLASSES)), np.empty((2, CLASSES))
    deviation = np.zeros((2, NUM_HANDS), np.float32)
    for player in range(2):
        own = weights[player, live] + _LEAST / len(held)
        mass[player] = np.bincount(held, own / own.sum(), CLASSES)
        opponent = np.where(live, ranges[1 - player], 0).astype(np.float64)
        equities = check_down_chances(_RULES, board, opponent)[live]
        summed = np.bincount(held, own * equities, CLASSES)
        means[player] = np.where(size > 0, summed / np.where(size > 0, mass[player] * own.sum(), 1), 0.5)
        deviation[player, live] = equities - means[player, held]
    below = np.cumsum(mass, axis=1) - mass / 2
    rows = np.stack(
        [
            CLASSES * mass,
            CLASSES * mass[::-1],
            means,
            below,
            below[::-1],
            np.stack([strength, strength]),
            np.stack([size, size]) * (CLASSES / len(held)),
        ],
        axis=2,
    )
    texture = board_texture(board)
    public = np.array(
        [
            np.log2(1 + stack_to_pot) / 6,
            1 / (1 + 2 * stack_to_pot),
            texture.pairing,
            texture.suited / 5,
            texture.straight_windows / 10,
            texture.high_rank / 12,
        ]
    )
    return Encoded(rows.astype(np.float32), public.astype(np.float32), classes, deviation)


def hand_classes(board: Board) -> NDArray[np.uint8]:
    """[H] class of every hand by its place in `strengths`. Equal hands share the class of their middle, so that classes
    may be empty."""
    live = HOLDEM.live(board)
    found = strengths(board)[live]
    ascending = np.sort(found)
    twice_middle = np.searchsorted(ascending, found, "left") + np.searchsorted(ascending, found, "right")
    classes = np.full(NUM_HANDS, CLASSES, np.uint8)
    classes[live] = (twice_middle * CLASSES) // (2 * len(ascending))
    return classes


def strengths(board: Board) -> Floats:
    """[H] rank of every hand on the river, before it the equity against a uniform hand."""
    if len(board) == _RULES.total_board_cards:
        return hand_ranks(_RULES, board).astype(np.float64)
    return check_down_chances(_RULES, board, HOLDEM.live(board).astype(np.float64)).round(9)


def joint_weights(board: Board, ranges: Reals) -> Floats:
    """[2, H] the chance that each player holds a hand, given that the hands of the two share no card."""
    held = np.where(HOLDEM.live(board), ranges, 0).astype(np.float64)
    joint = held * np.stack([HOLDEM.compatible_mass(held[1]), HOLDEM.compatible_mass(held[0])])
    shares: Floats = joint / joint.sum(axis=1, keepdims=True)
    return shares


def write_states(path: str | Path, columns: Mapping[str, NDArray[Any]], **manifest: Any) -> Artifact:
    """Write one shard of `COLUMNS` atomically."""
    return write_rows(path, KIND, COLUMNS, columns, stamp=STAMP, **manifest)


@refuses_by_name(KIND)
def open_states(root: str | Path, verify: bool = True) -> list[Artifact]:
    """All shards of range states at `root`, as `open_all` checks them."""
    return open_all(root, KIND, STAMP, lambda shard: COLUMNS, verify)
