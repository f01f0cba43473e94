"""Inputs beside the 19 for predictors that know the hand and the player so far; the kernels do the arithmetic.

Hand inputs [52] are public and belong to one hand. Player inputs [84] describe how a player has deviated so far: the
frequencies in the twelve contexts, and the mean difference between actions and what a base predictor expected of
anybody, in cells of similar situations. Both use only what was seen before the decision, so twenty hands of a new
player already say something, and nothing has to be trained again.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.kernels.opponents import history as kernel
from poker.kernels.types import Floats, Reals, Singles
from poker.opponents.inputs.frequencies import mixed
from poker.opponents.inputs.limit import HASH, NAMES, NUM_BET_LEVELS
from poker.store.artifacts import fingerprint_of

VERSION = 1
NUM_CONTEXTS = kernel.CONTEXTS
DECAY = 0.995
_BINS, _FINE_BINS = 5, 10
_CUTS: tuple[tuple[int, float], ...] = (
    (NUM_CONTEXTS, DECAY),  # context
    (4 * NUM_CONTEXTS, DECAY),  # context, last decision faced a bet, last action a bet
    (3 * NUM_CONTEXTS, DECAY),  # context, players
    (2 * _BINS * _BINS, DECAY),  # predicted fold and raise, asked for a bet
    (2 * _FINE_BINS, DECAY),  # predicted fold, asked
    (2 * _FINE_BINS, DECAY),  # predicted raise, asked
    (4 * NUM_CONTEXTS, DECAY),  # context, players still to act
    (8 * 4, 0.98),  # street, faced, aggressive, asked
    (1, 0.98),  # everything
    (NUM_CONTEXTS, 0.95),  # context, lately
    (4, 0.97),  # after the flop, asked; lately
    (4, 0.9),  # the same, just now
)
"""Ways of cutting situations into cells: the number of cells, and the decay of past observations."""
_DECAYS: Floats = np.array([decay for _, decay in _CUTS])
_STARTS: NDArray[np.int64] = np.cumsum([0, *(size for size, _ in _CUTS)])
NUM_CELLS = int(_STARTS[-1])
HAND_SIZE = kernel.HAND_INPUTS
PLAYER_SIZE = NUM_CONTEXTS * kernel.CLASSES + len(_CUTS) * kernel.DEVIATION_INPUTS
_REMOVED = (32, 109)  # sizes of an input that was removed, in the hash so that nets trained before can still be read
_SIZES = [HAND_SIZE, PLAYER_SIZE, *_CUTS, *_REMOVED]
HISTORY_HASH = fingerprint_of({"inputs": HASH, "version": VERSION, "sizes": _SIZES})[:16]

_FACED, _AGGRESSIVE, _ACTIVE, _STILL = (
    NAMES.index(name) for name in ("faced_bet", "was_aggressive", "active", "still_to_act")
)


def contexts(street: NDArray[np.uint8], bets: NDArray[np.uint8]) -> NDArray[np.int64]:
    """[n] street * 3 + bets to call."""
    return np.asarray(street.astype(np.int64) * NUM_BET_LEVELS + bets)


def cells(features: Singles, context: NDArray[np.int64], predicted: Singles) -> NDArray[np.int64]:
    """[n, K] the cells of rows with inputs [n, 19], contexts [n] and base predictions [n, 3]; K ways of cutting."""
    played = 2 * (features[:, _AGGRESSIVE] > 0) + (features[:, _FACED] > 0)
    others = np.rint(features[:, _ACTIVE] * 10).astype(np.int64) - 2
    still = np.rint(features[:, _STILL] * 10).astype(np.int64)
    bins, fine = (np.minimum((predicted * n).astype(np.int64), n - 1) for n in (_BINS, _FINE_BINS))
    street, facing_bet = context // NUM_BET_LEVELS, context % NUM_BET_LEVELS > 0
    spot = 2 * (street > 0) + facing_bet
    each = (
        context,
        4 * context + played,
        3 * context + np.clip(others, 0, 2),
        2 * (_BINS * bins[:, 0] + bins[:, 2]) + facing_bet,
        2 * fine[:, 0] + facing_bet,
        2 * fine[:, 2] + facing_bet,
        4 * context + np.clip(still, 0, 3),
        8 * street + 2 * played + facing_bet,
        np.zeros_like(context),
        context,
        spot,
        spot,
    )
    return np.asarray(np.stack(each, axis=1) + _STARTS[:-1])


def hand_rows(columns: Mapping[str, NDArray[Any]]) -> Singles:
    """Hand inputs [n, 52] of the rows of `poker.opponents.inputs.rows`."""
    hand, board, *actions = (np.ascontiguousarray(columns[name]) for name in ("hand", "board", *kernel.Actions._fields))
    return kernel.hand_rows(hand, kernel.Actions(*actions), board)


def by_class(probs: Reals) -> Reals:
    """[n, 3] from [n, C]: raises of all sizes together."""
    return np.column_stack([probs[:, :2], probs[:, 2:].sum(axis=1)])


def population_table(context: NDArray[np.int64], action: NDArray[np.uint8]) -> Floats:
    """[12, 3] class frequencies of all players by context."""
    counts = np.zeros((NUM_CONTEXTS, kernel.CLASSES))
    np.add.at(counts, (context, np.minimum(action, 2)), 1)
    return mixed(counts, np.full_like(counts, 1 / kernel.CLASSES), kernel.CLASSES / 2)


def player_rows(columns: Mapping[str, NDArray[Any]], predicted: Singles, prior: Floats) -> Singles:
    """[n, 84] player inputs of all rows, given base predictions [n, 3] and the population's table [12, 3]."""
    context = contexts(columns["street"], columns["bets"])
    in_cells = cells(columns["features"], context, predicted)
    player, action = (np.ascontiguousarray(columns[name]) for name in ("player", "action"))
    expected = predicted.astype(np.float32, copy=False)
    return kernel.player_rows(player, action, context, in_cells, NUM_CELLS, expected, prior, DECAY, _DECAYS)


class PlayerMemory:
    """Statistics of one player, kept at the table: ask for `inputs`, then `observe` each action."""

    def __init__(self, prior: Floats) -> None:
        self._prior = prior
        counts, deviation = (np.zeros((size, kernel.CLASSES)) for size in (NUM_CONTEXTS, NUM_CELLS))
        self._memory = kernel.PlayerHistory(counts, deviation, np.zeros(NUM_CELLS))

    def inputs(self, in_cells: NDArray[np.int64]) -> Singles:
        """[84] for a decision in `in_cells` [K]."""
        out = np.empty(PLAYER_SIZE, dtype=np.float32)
        kernel.player_inputs(self._memory, self._prior, in_cells, out)
        return out

    def copy(self) -> "PlayerMemory":
        other = PlayerMemory(self._prior)
        other._memory = kernel.PlayerHistory(*(array.copy() for array in self._memory))
        return other

    def observe(self, context: int, in_cells: NDArray[np.int64], predicted: Singles, action: int) -> None:
        """Record that the player took `action` (a class) where the base predictor expected `predicted` [3]."""
        kernel.observe(self._memory, context, in_cells, predicted, action, DECAY, _DECAYS)
