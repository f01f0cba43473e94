"""Classes of hands that a model of an opponent treats alike on a board: by strength, or by what a net reads of them.

Symbols: B boards, H hands, n classes.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.equities import showdown_chances
from poker.game.cards import HOLDEM
from poker.game.rules import Rules
from poker.kernels.cards.strength import board_strength_into
from poker.kernels.types import Board, Floats, Singles
from poker.opponents.inputs.held import NAMES, held_inputs, shares_below
from poker.opponents.responses import BINS, Z

_WEAKER = NAMES.index("share_weaker")
_FEARED_PREFLOP, _FEARED = 0.1, 0.25
"""The shares of the best hands against which people rank theirs, of 0.03 to 1 what fits those of Bovada best."""


class HandClasses(NamedTuple):
    """Classes `of` hands [B, H], -1 for those that the board rules out, the normal quantiles `z` [B, n] of their
    strengths, and what a net reads of the cards `held` [B, n, 10], the mean of the class; None: nothing."""

    of: NDArray[np.int16]
    z: Floats
    held: Singles | None = None


def by_strength(rules: Rules, boards: Sequence[Board], people: bool = False) -> HandClasses:
    """Classes of `BINS` strengths on each board; as `people` rank hands, or against any hand."""
    ordered = map(rules.ordered_board, boards)
    bins = np.stack([(_flop_bins if len(board) == 3 else _later_bins)(rules, board, people) for board in ordered])
    return HandClasses(bins, np.tile(Z, (len(bins), 1)))


@lru_cache(maxsize=256)
def by_inputs(rules: Rules, board: Board) -> HandClasses:
    """Classes of hands with equal inputs of a net on one board."""
    board = rules.ordered_board(board)
    live = HOLDEM.live(board)
    held, number = np.unique(held_inputs(board)[live], axis=0, return_inverse=True)
    of = np.full((1, rules.num_hands), -1, np.int16)
    of[0, live] = number.ravel()
    return HandClasses(of, Z[np.minimum(held[:, _WEAKER] * BINS, BINS - 1).astype(np.int64)][None], held[None])


@lru_cache(maxsize=256)
def by_mean_inputs(rules: Rules, boards: tuple[Board, ...]) -> HandClasses:
    """Classes by strength, two bins together, with the mean inputs of their hands: for boards to come, of which there
    are many."""
    of = by_strength(rules, boards).of >> 1  # -1 stays
    inputs = (held_inputs(rules.ordered_board(board)) for board in boards)
    held = np.stack([_means(*each) for each in zip(of, inputs, strict=True)])
    return HandClasses(of, np.tile(Z.reshape(-1, 2).mean(axis=1), (len(boards), 1)), held)


def _means(bins: NDArray[np.int16], inputs: Singles) -> Singles:
    """[BINS / 2, 10] mean inputs of the hands in each bin; 0 where there are none."""
    live = bins >= 0
    sums = np.stack([np.bincount(bins[live], column, BINS // 2) for column in inputs[live].T], axis=1)
    return (sums / np.maximum(np.bincount(bins[live], minlength=BINS // 2), 1)[:, None]).astype(np.float32)


def _binned(rules: Rules, board: Board, people: bool) -> NDArray[np.int16]:
    weaker = weaker_hands(rules, board)
    if people:
        weaker = weaker_hands(rules, board, weaker > 1 - (_FEARED if board else _FEARED_PREFLOP))
    return np.where(rules.space.live(board), np.minimum(weaker * BINS, BINS - 1).astype(np.int16), np.int16(-1))


_flop_bins, _later_bins = lru_cache(maxsize=1755)(_binned), lru_cache(maxsize=16384)(_binned)
"""Flops take fifty times as long as what follows them, and there are as many up to the names of suits."""


def weaker_hands(rules: Rules, board: Board, against: NDArray[np.bool_] | None = None) -> Floats:
    """[H] the share of hands that win fewer showdowns against a random hand, or a random one of those `against` [H], on
    average over the cards to come, and half of those that win as many; 0 for hands that the board rules out."""
    live = rules.space.live(board)
    if (
        against is None and rules.space is HOLDEM and len(board) == rules.total_board_cards == 5
    ):  # all live hands meet as many others
        won = np.empty(rules.num_hands, np.int16)
        board_strength_into(np.array(board, np.uint8), won)
        alike = np.bincount(won[live])
        return np.where(live, (2 * np.cumsum(alike) - alike)[won] / (2 * alike.sum()), 0.0)
    others = (live if against is None else live & against).astype(np.float64)
    chances = showdown_chances(rules, board, others)
    chances = np.round(chances / np.maximum(rules.space.compatible_mass(others), 1), 9)
    weaker = np.zeros(len(live))
    weaker[live] = shares_below(chances[live])
    return weaker
