"""Inputs beside the 19 for predictors that know the hand and the player so far; the kernels do the arithmetic.

Hand inputs [50] are public and belong to one hand. Player inputs [52] describe how a player has deviated so far: his
frequencies in the twelve contexts, and the mean difference between what he did and what a base predictor expected of
anybody, in cells of similar situations. Both use only what was seen before the decision, so twenty hands of a new
player already say something, and nothing has to be trained again.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.artifacts import fingerprint_of
from poker.features.opponent import HASH, NAMES, NUM_BET_LEVELS
from poker.kernels import opponent_history as kernel

VERSION = 1
NUM_CONTEXTS = kernel.CONTEXTS
DECAY = 0.995
_BINS = 5
_CELLS = (NUM_CONTEXTS, 4 * NUM_CONTEXTS, 3 * NUM_CONTEXTS, 2 * _BINS * _BINS)
"""Ways of cutting: context; context, last decision faced a bet, last action a bet; context, players; prediction."""
NUM_CELLS = sum(_CELLS)
HAND_SIZE = kernel.HAND_INPUTS
SEQUENCE_SIZE, NUM_TOKENS = kernel.TOKENS, kernel.NUM_TOKENS
PLAYER_SIZE = NUM_CONTEXTS * kernel.CLASSES + len(_CELLS) * kernel.DEVIATION_INPUTS
_SIZES = [HAND_SIZE, PLAYER_SIZE, *_CELLS, SEQUENCE_SIZE, NUM_TOKENS]
HISTORY_HASH = fingerprint_of({"inputs": HASH, "version": VERSION, "sizes": _SIZES})[:16]

_FACED, _AGGRESSIVE, _ACTIVE = (NAMES.index(name) for name in ("faced_bet", "was_aggressive", "active"))


def contexts(street: NDArray[np.uint8], bets: NDArray[np.uint8]) -> NDArray[np.int64]:
    """[n] street * 3 + bets to call."""
    return np.asarray(street.astype(np.int64) * NUM_BET_LEVELS + bets)


def cells(
    features: NDArray[np.float32], context: NDArray[np.int64], predicted: NDArray[np.float32]
) -> NDArray[np.int64]:
    """[n, 4] the cells of rows with inputs [n, 19], contexts [n] and base predictions [n, 3]."""
    faced, aggressive = features[:, _FACED] > 0, features[:, _AGGRESSIVE] > 0
    others = np.rint(features[:, _ACTIVE] * 10).astype(np.int64) - 2
    bins = np.minimum((predicted * _BINS).astype(np.int64), _BINS - 1)
    asked = context % NUM_BET_LEVELS > 0
    each = (
        context,
        4 * context + 2 * aggressive + faced,
        3 * context + np.clip(others, 0, 2),
        2 * (_BINS * bins[:, 0] + bins[:, 2]) + asked,
    )
    starts = np.concatenate([[0], np.cumsum(_CELLS)[:-1]])
    return np.asarray(np.stack(each, axis=1) + starts)


def hand_rows(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.float32]:
    """[n, 50] hand inputs of the rows of `poker.features.action_rows`."""
    names = ("hand", "player", "seat", "street", "action", "bets", "board")
    return kernel.hand_rows(*(np.ascontiguousarray(columns[name]) for name in names))


def token_rows(columns: Mapping[str, NDArray[Any]]) -> NDArray[np.uint8]:
    """[n, 32] the actions of the hand so far, as tokens below `NUM_TOKENS`, 0 where there are no more."""
    names = ("hand", "player", "seat", "street", "action", "bets")
    return kernel.token_rows(*(np.ascontiguousarray(columns[name]) for name in names))


def population_table(context: NDArray[np.int64], action: NDArray[np.uint8]) -> NDArray[np.float64]:
    """[12, 3] class frequencies of all players by context."""
    table = np.full((NUM_CONTEXTS, kernel.CLASSES), 0.5)
    np.add.at(table, (context, action), 1)
    return np.asarray(table / table.sum(axis=1, keepdims=True))


def player_rows(
    columns: Mapping[str, NDArray[Any]], predicted: NDArray[np.float32], prior: NDArray[np.float64]
) -> NDArray[np.float32]:
    """[n, 52] player inputs of all rows, given base predictions [n, 3] and the population's table [12, 3]."""
    context = contexts(columns["street"], columns["bets"])
    in_cells = cells(columns["features"], context, predicted)
    return kernel.player_rows(
        np.ascontiguousarray(columns["player"]),
        np.ascontiguousarray(columns["action"]),
        context,
        in_cells,
        NUM_CELLS,
        predicted.astype(np.float32, copy=False),
        prior,
        DECAY,
    )


class PlayerMemory:
    """What is remembered of one player, for use at the table: `inputs`, then `observe` what he did."""

    def __init__(self, prior: NDArray[np.float64]) -> None:
        self._prior = prior
        self._counts = np.zeros((NUM_CONTEXTS, kernel.CLASSES))
        self._deviation = np.zeros((NUM_CELLS, kernel.CLASSES))
        self._weight = np.zeros(NUM_CELLS)

    def inputs(self, in_cells: NDArray[np.int64]) -> NDArray[np.float32]:
        """[52] for a decision in `in_cells` [4]."""
        out = np.empty(PLAYER_SIZE, dtype=np.float32)
        kernel.player_inputs(self._counts, self._prior, self._deviation, self._weight, in_cells, out)
        return out

    def observe(self, context: int, in_cells: NDArray[np.int64], predicted: NDArray[np.float32], action: int) -> None:
        """He did `action` (a class) where `predicted` [3] was expected of anybody."""
        kernel.observe(self._counts, self._deviation, self._weight, context, in_cells, predicted, action, DECAY)
