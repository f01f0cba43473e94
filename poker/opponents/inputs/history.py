"""Further inputs, for predictors that use the hand and the player's history; kernels do the arithmetic.

The 52 hand inputs describe the public course of one hand. The 84 player inputs describe how a player has deviated from
others so far. They contain the class frequencies in the twelve contexts. They also contain the mean difference between
the player's actions and a base predictor's probabilities, in cells of similar situations. All inputs use only earlier
decisions. So twenty hands of a new player already matter, and no net is trained again.

Symbols: n rows, C size classes and other classes of actions, K ways of cutting situations into cells.
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
    (2 * _BINS * _BINS, DECAY),  # predicted fold and raise, facing a bet
    (2 * _FINE_BINS, DECAY),  # predicted fold, facing a bet
    (2 * _FINE_BINS, DECAY),  # predicted raise, facing a bet
    (4 * NUM_CONTEXTS, DECAY),  # context, players still to act
    (8 * 4, 0.98),  # street, faced, aggressive, facing a bet
    (1, 0.98),  # everything
    (NUM_CONTEXTS, 0.95),  # context, recent actions
    (4, 0.97),  # after the flop, facing a bet; recent actions
    (4, 0.9),  # the same, last actions
)
"""Ways of cutting situations into cells: the number of cells, and the factor by which past observations decay."""
_DECAYS: Floats = np.array([decay for _, decay in _CUTS])
_STARTS: NDArray[np.int64] = np.cumsum([0, *(size for size, _ in _CUTS)])
NUM_CELLS = int(_STARTS[-1])
HAND_SIZE = kernel.HAND_INPUTS
PLAYER_SIZE = NUM_CONTEXTS * kernel.CLASSES + len(_CUTS) * kernel.DEVIATION_INPUTS
_REMOVED = (32, 109)  # sizes of a removed input; they are part of the hash, so that older nets can still be read
_SIZES = [HAND_SIZE, PLAYER_SIZE, *_CUTS, *_REMOVED]
HISTORY_HASH = fingerprint_of({"inputs": HASH, "version": VERSION, "sizes": _SIZES})[:16]

_FACED, _AGGRESSIVE, _ACTIVE, _STILL = map(NAMES.index, ("faced_bet", "was_aggressive", "active", "still_to_act"))


def contexts(street: NDArray[np.uint8], bets: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Compute the index of each row's context.

    Args:
        street: [n] street.
        bets: [n] bets to call, at most 2.

    Returns:
        [n] street * 3 + bets to call.
    """
    return np.asarray(street.astype(np.int64) * NUM_BET_LEVELS + bets)


def cells(features: Singles, context: NDArray[np.int64], predicted: Singles) -> NDArray[np.int64]:
    """Compute the cells of each row.

    Args:
        features: [n, 19] inputs of `poker.opponents.inputs.limit`.
        context: [n] context.
        predicted: [n, 3] probabilities of the base predictor.

    Returns:
        [n, K] cells.
    """
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
    """Compute the hand inputs of rows.

    Args:
        columns: columns of `poker.opponents.inputs.rows`.

    Returns:
        [n, 52] hand inputs.
    """
    hand, board, *actions = (np.ascontiguousarray(columns[name]) for name in ("hand", "board", *kernel.Actions._fields))
    return kernel.hand_rows(hand, kernel.Actions(*actions), board)


def by_class(probs: Reals) -> Reals:
    """Add up the probabilities of raises of all sizes.

    Args:
        probs: [n, C] probabilities, raises by size class from column 2.

    Returns:
        [n, 3] probabilities of fold, check or call, and bet or raise.
    """
    return np.column_stack([probs[:, :2], probs[:, 2:].sum(axis=1)])


def population_table(context: NDArray[np.int64], action: NDArray[np.uint8]) -> Floats:
    """Compute the class frequencies of all players by context.

    Args:
        context: [n] context of each row.
        action: [n] action of each row.

    Returns:
        [12, 3] frequencies.
    """
    counts = np.zeros((NUM_CONTEXTS, kernel.CLASSES))
    np.add.at(counts, (context, np.minimum(action, 2)), 1)
    return mixed(counts, np.full_like(counts, 1 / kernel.CLASSES), kernel.CLASSES / 2)


def player_rows(columns: Mapping[str, NDArray[Any]], predicted: Singles, prior: Floats) -> Singles:
    """Compute the player inputs of all rows.

    Args:
        columns: columns of `poker.opponents.inputs.rows`.
        predicted: [n, 3] probabilities of the base predictor.
        prior: [12, 3] frequencies of the population.

    Returns:
        [n, 84] player inputs.
    """
    context = contexts(columns["street"], columns["bets"])
    in_cells = cells(columns["features"], context, predicted)
    player, action = (np.ascontiguousarray(columns[name]) for name in ("player", "action"))
    expected = predicted.astype(np.float32, copy=False)
    return kernel.player_rows(player, action, context, in_cells, NUM_CELLS, expected, prior, DECAY, _DECAYS)


class PlayerMemory:
    """Statistics of one player at the table; read `inputs`, then `observe` each action."""

    def __init__(self, prior: Floats) -> None:
        """Begin without observations.

        Args:
            prior: [12, 3] frequencies of the population.
        """
        self._prior = prior
        counts, deviation = (np.zeros((size, kernel.CLASSES)) for size in (NUM_CONTEXTS, NUM_CELLS))
        self._memory = kernel.PlayerHistory(counts, deviation, np.zeros(NUM_CELLS))

    def inputs(self, in_cells: NDArray[np.int64]) -> Singles:
        """Return the player inputs for a decision.

        Args:
            in_cells: [K] cells of the decision.

        Returns:
            [84] player inputs.
        """
        out = np.empty(PLAYER_SIZE, dtype=np.float32)
        kernel.player_inputs(self._memory, self._prior, in_cells, out)
        return out

    def copy(self) -> "PlayerMemory":
        """Return an independent copy."""
        other = PlayerMemory(self._prior)
        other._memory = kernel.PlayerHistory(*(array.copy() for array in self._memory))
        return other

    def observe(self, context: int, in_cells: NDArray[np.int64], predicted: Singles, action: int) -> None:
        """Record an action of the player.

        Args:
            context: context of the decision.
            in_cells: [K] cells of the decision.
            predicted: [3] probabilities of the base predictor.
            action: class of the action.
        """
        kernel.observe(self._memory, context, in_cells, predicted, action, DECAY, _DECAYS)
