"""Inputs of nets over ranges: a heads-up hold'em state where a round begins, or has ended, with both ranges.

The hands that a board leaves are grouped into `CLASSES` classes by strength; a class is a row that one shared net
values for either player, beside what it is told of all classes. How a hand differs from its class is told by its equity
against the opponent's range and by `SHAPE_NAMES`, each counted from the mean of the class.

The job that writes states stores what `encode` gives, and a search asks it again: there is no other way to the inputs.
"""

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import EMPTY, hand_ranks, margins, showdown_chances
from poker.abstraction.features import hand_features
from poker.depth_limit.inputs import TEXTURE_NAMES, board_texture
from poker.game.cards import HAND_CARDS, HOLDEM, NO_CARD, NUM_CARDS, NUM_HANDS, NUM_RANKS, NUM_SUITS
from poker.kernels.types import Board, Floats, Reals, Singles
from poker.store.artifacts import Artifact, refuses_by_name
from poker.store.shards import Column, ColumnTypes, hash_of, open_all, write_rows
from poker.tree.spots import spot_rules

KIND = "range_states"
CLASSES = 64
"""Classes of hands; also the number that stands for hands which hold a card of the board."""
VERSION = 2
"""Raised whenever an input's definition changes under an unchanged name."""
SHAPE_NAMES = (
    "strength_now",  # HS less E[HS]: below 0 for draws
    "spread",  # standard deviation of the strength to come
    "high_rank",  # / 12
)
ROW_NAMES = (
    "own_mass",  # of the range in the class, each hand by the opponent's hands that it meets, times CLASSES
    "opp_mass",
    "equity",  # mean equity of the class against the opponent's range, as the range weighs its hands
    "own_below",  # the range's mass in weaker classes and half of this one
    "opp_below",
    "strength",  # middle of the class among all hands
    "size",  # hands in the class among all hands, times CLASSES
    *SHAPE_NAMES,  # means of the class, as the range weighs its hands
)
PUBLIC_NAMES = ("stack_to_pot", "pot_share", *TEXTURE_NAMES)
HASH = hash_of((*ROW_NAMES, *PUBLIC_NAMES, f"{CLASSES} classes"), VERSION)
TARGET = "counterfactual value of a hand against the opponent's range: net chips over the whole hand divided by the pot"
COLUMNS: ColumnTypes = {
    "board": Column(np.uint8, (5,), (0, NUM_CARDS), NO_CARD),  # NO_CARD beyond its cards
    "stack_to_pot": Column(np.float32),
    "ranges": Column(np.float16, (2, NUM_HANDS)),  # the largest weight is 1
    "values": Column(np.float16, (2, NUM_HANDS)),  # `TARGET`; 0 for hands that hold a card of the board
    "exploitability": Column(np.float32),  # of the solve, in pots
    "group": Column(np.int32),  # the canonical board's index
    "rows": Column(np.float16, (2, CLASSES, len(ROW_NAMES))),  # from here on what `encode` gives
    "public": Column(np.float16, (len(PUBLIC_NAMES),)),
    "classes": Column(np.uint8, (NUM_HANDS,)),
    "shape": Column(np.float16, (NUM_HANDS, len(SHAPE_NAMES))),
    "deviation": Column(np.float16, (2, NUM_HANDS)),
}


class Level(NamedTuple):
    """States with so many cards on the board, valued where the round begins or where it has `ended`; `by` names the
    level whose net values them: after the deal, or at the end of the round."""

    cards: int
    ended: bool
    by: str | None


LEVELS = {
    "river": Level(5, False, None),
    "end_of_turn": Level(4, True, "river"),
    "turn": Level(4, False, "end_of_turn"),
    "end_of_flop": Level(3, True, "turn"),
    "flop": Level(3, False, "end_of_flop"),
    "end_of_preflop": Level(0, True, "flop"),
}
"""Nets over ranges are made from the last: each stands on the one before."""
STACKS = (0.05, 100.0)
"""Least and largest stack behind, in pots, of states that say no other."""


def stamp(level: str) -> dict[str, str]:
    """Part of the config of states and nets of a level, which a reader demands."""
    return {"feature_hash": HASH, "target": TARGET, "level": level}


_RULES = spot_rules(1)
_LEAST = 1e-9
"""Weight of all hands together beside those of a range, so that a class without weight has a mean too."""


class Encoded(NamedTuple):
    """n states on one board: `rows` [n, 2, C, F] of each player's classes, `public` [n, P], `classes` uint8 [H] and
    `shape` [H, S] of hands, and `deviation` [n, 2, H] of their equities from that of the class; floats in float32."""

    rows: Singles
    public: Singles
    classes: NDArray[np.uint8]
    shape: Singles
    deviation: Singles


class _Hands(NamedTuple):
    """A board alone: `live` hands [L], their `held` classes, sizes of classes, and parts of `Encoded`."""

    live: NDArray[np.int64]
    held: NDArray[np.int64]
    size: NDArray[np.int64]
    classes: NDArray[np.uint8]
    shape: Singles
    texture: Floats


def encode(board: Board, ranges: Reals, stacks: Reals) -> Encoded:
    """Inputs on a board for ranges [n, 2, H] of any scale and the stacks behind in pots [n]; some 100 ms for a flop and
    50 ms for a turn that was not asked for before."""
    live, held, size, classes, shape, texture = _hands(board)
    weights, count = joint_weights(board, ranges), len(ranges)
    own = weights[:, :, live] + _LEAST / len(live)
    own /= own.sum(axis=2, keepdims=True)
    mass = _by_class(own, held)
    some = np.where(mass > 0, mass, 1)
    equities = equities_against(board, ranges[:, ::-1])[:, :, live]
    means = np.where(mass > 0, _by_class(own * equities, held) / some, 0.5)
    deviation = np.zeros((count, 2, NUM_HANDS), np.float32)
    deviation[:, :, live] = equities - means[:, :, held]
    below = np.cumsum(mass, axis=2) - mass / 2
    rows = np.empty((count, 2, CLASSES, len(ROW_NAMES)), np.float32)
    rows[..., 0], rows[..., 1] = CLASSES * mass, CLASSES * mass[:, ::-1]
    rows[..., 2], rows[..., 3], rows[..., 4] = means, below, below[:, ::-1]
    rows[..., 5], rows[..., 6] = (np.arange(CLASSES) + 0.5) / CLASSES, size * (CLASSES / len(live))
    for place, column in enumerate(shape[live].T, 7):
        rows[..., place] = _by_class(own * column, held) / some
    public = np.empty((count, len(PUBLIC_NAMES)), np.float32)
    public[:, 0], public[:, 1], public[:, 2:] = np.log2(1 + stacks) / 6, 1 / (1 + 2 * stacks), texture
    return Encoded(rows, public, classes, shape, deviation)


def _by_class(values: Floats, held: NDArray[np.int64]) -> Floats:
    """[n, 2, C] sums of values [n, 2, L] of live hands by their classes."""
    count = len(values)
    at = held + CLASSES * np.arange(2 * count)[:, None]
    sums: Floats = np.bincount(at.ravel(), values.ravel(), 2 * count * CLASSES).astype(np.float64)
    return sums.reshape(count, 2, CLASSES)


@lru_cache(maxsize=64)
def _hands(board: Board) -> _Hands:
    classes = hand_classes(board)
    live = np.flatnonzero(classes < CLASSES)
    held = classes[live].astype(np.int64)
    size = np.bincount(held, minlength=CLASSES)
    shape = np.zeros((NUM_HANDS, len(SHAPE_NAMES)), np.float32)
    shape[live, 2] = (HAND_CARDS[live, 1] // NUM_SUITS) / (NUM_RANKS - 1)
    if len(board) < _RULES.total_board_cards:
        features = hand_features(board)
        shape[live, 0] = (features.hs - features.ehs)[live]
        shape[live, 1] = np.sqrt(np.maximum(features.ehs2 - features.ehs**2, 0))[live]
    texture = board_texture(board)
    public = [texture.pairing, texture.suited / 5, texture.straight_windows / 10, texture.high_rank / 12]
    return _Hands(live, held, size, classes, shape, np.array(public))


def hand_classes(board: Board) -> NDArray[np.uint8]:
    """[H] class of every hand by its place in `strengths`. Equal hands share the class of their middle, so that classes
    may be empty."""
    live = HOLDEM.live(board)
    strength = strengths(board)[live]
    ascending = np.sort(strength)
    twice_middle = np.searchsorted(ascending, strength, "left") + np.searchsorted(ascending, strength, "right")
    classes = np.full(NUM_HANDS, CLASSES, np.uint8)
    classes[live] = (twice_middle * CLASSES) // (2 * len(ascending))
    return classes


def strengths(board: Board) -> Floats:
    """[H] strength on the river, before it the mean over the boards to come of the chance to win against any hand."""
    if len(board) == _RULES.total_board_cards:
        return hand_ranks(_RULES, board).astype(np.float64)
    return hand_features(board).ehs.round(9)


def equities_against(board: Board, ranges: Reals) -> Floats:
    """[n, 2, H] chance of each hand to win a showdown against ranges [n, 2, H], ties one half; one half against hands
    that it does not meet."""
    flat = np.where(HOLDEM.live(board), ranges, 0).astype(np.float64).reshape(-1, NUM_HANDS)
    if len(board) == _RULES.total_board_cards:
        won = np.stack([showdown_chances(_RULES, board, row) for row in flat])
    else:
        live, against = _margins(board)
        won = np.zeros_like(flat)
        won[:, live] = flat[:, live].astype(np.float32) @ against
    mass = HOLDEM.compatible_mass(flat)
    chances: Floats = np.where(mass > EMPTY, 0.5 + 0.5 * won / np.maximum(mass, EMPTY), 0.5)
    return chances.reshape(ranges.shape)


@lru_cache(maxsize=8)
def _margins(board: Board) -> tuple[NDArray[np.int64], Singles]:
    """The hands that a board leaves, and what each column's wins from each row's of them."""
    live = np.flatnonzero(HOLDEM.live(board))
    return live, np.ascontiguousarray(margins(_RULES, board)[np.ix_(live, live)].T, np.float32)


def joint_weights(board: Board, ranges: Reals) -> Floats:
    """[n, 2, H] the chance that each player holds a hand, given that the hands of the two share no card; ranges
    [n, 2, H]. All live hands alike where no two hands of the ranges fit together."""
    live = HOLDEM.live(board)
    held = np.where(live, ranges, 0).astype(np.float64)
    joint = held * HOLDEM.compatible_mass(held[:, ::-1])
    sums = joint.sum(axis=2, keepdims=True)
    shares: Floats = np.where(sums > 0, joint / np.where(sums > 0, sums, 1), live / live.sum())
    return shares


def fit_together(board: Board, ranges: Reals) -> NDArray[np.bool_]:
    """[n] whether some hands of both players, of ranges [n, 2, H], share no card with each other and the board."""
    held = np.where(HOLDEM.live(board), ranges, 0).astype(np.float64)
    met: NDArray[np.bool_] = (held[:, 0] * HOLDEM.compatible_mass(held[:, 1])).sum(axis=1) > 0
    return met


def filled(board: Board, ranges: Reals) -> Reals:
    """Ranges [n, 2, H] with all live hands alike in place of one that is empty, and of both where no two hands of them
    fit together. Solves arrive with such ranges where no hand takes an action."""
    live = HOLDEM.live(board)
    held = np.where(live, ranges, 0)
    held = np.where(held.any(axis=2, keepdims=True), held, live)
    return np.where(fit_together(board, held)[:, None, None], held, live).astype(ranges.dtype)


def write_states(path: str | Path, level: str, columns: Mapping[str, NDArray[Any]], **manifest: Any) -> Artifact:
    """Write one shard of `COLUMNS` atomically."""
    return write_rows(path, KIND, COLUMNS, columns, stamp=stamp(level), **manifest)


@refuses_by_name(KIND)
def open_states(root: str | Path, level: str) -> list[Artifact]:
    """All shards of range states at `root`, as `open_all` checks them."""
    return open_all(root, KIND, stamp(level), lambda shard: COLUMNS)
