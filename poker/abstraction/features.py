"""Exact features of all 1,326 hands on a board: the only implementation, used by training and search.

Probabilities are float64 in 0..1, computed from exact integer counts. Arrays are indexed by hand. They contain 0 for
hands that share a card with the board and for pairs of hands that share a card. An opponent is uniform over the
remaining hands, and future cards are enumerated. A tie counts one half. Results are cached and read-only.

- Hand strength HS: probability of being ahead now. E[HS] and E[HS^2]: means over future boards of the river's HS and of
  its square.
- PPot, NPot [POKI] section 5.3: PPot is the probability of ending ahead when behind now (a tie counts half). NPot is
  the reverse.

Before the flop, HS equals E[HS], the potentials are 0, and E[HS] decides which hand is ahead.
"""

import contextlib
import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from poker.game.cards import HOLDEM, NUM_HANDS, PREFLOP_CLASS, PREFLOP_CLASS_SIZE, CardError
from poker.kernels.cards import strength as kernel
from poker.kernels.cards.hands import HAND_PERMUTATION
from poker.kernels.cards.isomorphism import board_multiplicities, canonical_boards
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.opponents.weights import measures
from poker.kernels.types import I8, I16, I32, I64, Floats, Singles
from poker.run.atomic import write_atomically

PAIR_COMPLETIONS = {0: 1712304, 3: 990, 4: 44, 5: 1}
"""Number of ways to complete the board given two hands, by the number of board cards."""
_HAND_COMPLETIONS = {0: 2118760, 3: 1081, 4: 46, 5: 1}
_RIVER = 5
_RIVER_FULL = 1980.0
_PREFLOP_FILE = Path(__file__).parent / "__pycache__" / "preflop_strength_1.npz"


@dataclass(frozen=True)
class HandFeatures:
    """Features of all hands on one board, each float64 [1326].

    Attributes:
        hs: [1326] hand strength HS, the probability of being ahead now.
        ehs: [1326] E[HS], the mean of HS on the river.
        ehs2: [1326] E[HS^2], the mean of its square.
        ppot: [1326] positive potential PPot.
        npot: [1326] negative potential NPot.
    """

    hs: Floats
    ehs: Floats
    ehs2: Floats
    ppot: Floats
    npot: Floats


class _Counts(NamedTuple):
    """Exact counts on a board of 3 to 5 cards with L live hands (see `poker.kernels.cards.strength`)."""

    live: I16
    ranks: I8  # [N, L] on its completions
    wins: I16  # [L, L] completions on which the row's hand beats the column's


def hand_features(board: Sequence[int]) -> HandFeatures:
    """Compute HS, E[HS], E[HS^2], PPot and NPot of all hands.

    A new flop takes about 60 ms; results are cached.

    Args:
        board: 0, 3, 4 or 5 cards.

    Raises:
        CardError: the cards are not a board.
    """
    cards = _as_board(board)
    if len(cards) == _RIVER:
        return _river_features(cards)
    return _features(cards) if cards else _preflop_features()


def all_in_equity(board: Sequence[int]) -> Singles:
    """Compute the all-in equity of every pair of hands.

    Args:
        board: 0, 3, 4 or 5 cards.

    Returns:
        float32 [1326, 1326] probability that the row's hand wins plus half the probability of a tie.

    Raises:
        CardError: the cards are not a board.
    """
    return _equity(_as_board(board))


def ahead_now(board: Sequence[int]) -> Singles:
    """Compare every pair of hands on the current board.

    Args:
        board: 0, 3, 4 or 5 cards.

    Returns:
        float32 [1326, 1326] 1 where the row's hand is ahead, 0.5 where it ties, 0 where it is behind or the pair is
        impossible.

    Raises:
        CardError: the cards are not a board.
    """
    return _ahead(_as_board(board))


def _as_board(board: Sequence[int]) -> tuple[int, ...]:
    cards = tuple(int(card) for card in board)
    legal = len(set(cards)) == len(cards) and all(0 <= card < 52 for card in cards)
    if len(cards) not in PAIR_COMPLETIONS or not legal:
        raise CardError(f"a board has 0, 3, 4 or 5 different cards 0..51, not {tuple(board)}")
    return cards


def _by_hand(values: Floats, live: I16) -> Floats:
    out = np.zeros(NUM_HANDS)
    out[live] = values
    out.setflags(write=False)
    return out


@lru_cache(maxsize=8)
def _counts(cards: tuple[int, ...]) -> _Counts:
    board = np.array(cards, dtype=np.uint8)
    live = kernel.live_hand_list(board)
    ranks = kernel.completion_ranks(board, live)
    return _Counts(live, ranks, kernel.count_wins(ranks, 0, len(live)))


@lru_cache(maxsize=16)
def _features(cards: tuple[int, ...]) -> HandFeatures:
    counts = _counts(cards)
    live, wins = counts.live, counts.wins
    position = np.full(NUM_HANDS, -1, dtype=np.int16)
    position[live] = np.arange(len(live))
    ranks = rank_board_hands(np.array(cards, dtype=np.uint8))[live].astype(np.int16)
    losses, alike = np.ascontiguousarray(wins.T), np.ones((1, len(live)), dtype=np.float32)
    total = float(PAIR_COMPLETIONS[len(cards)])
    hs, ppot, npot = measures(live, position, ranks, wins, losses, total, alike)[:, 0]
    moments = kernel.strength_moments(kernel.completion_strength(counts.ranks, live))
    full = _RIVER_FULL * _HAND_COMPLETIONS[len(cards)]
    return HandFeatures(
        hs=_by_hand(hs, live),
        ehs=_by_hand(moments[0] / full, live),
        ehs2=_by_hand(moments[1] / (_RIVER_FULL * full), live),
        ppot=_by_hand(ppot, live),
        npot=_by_hand(npot, live),
    )


def _river_features(cards: tuple[int, ...]) -> HandFeatures:
    """Compute the features of a complete board in a tenth of the time of `_features`."""
    won = np.empty(NUM_HANDS, np.int16)
    kernel.board_strength_into(np.array(cards, np.uint8), won)
    live = np.flatnonzero(HOLDEM.live(cards)).astype(np.int16)
    strength, zero = won[live].astype(np.float64), _by_hand(np.zeros(len(live)), live)
    hs = _by_hand(strength / _RIVER_FULL, live)
    return HandFeatures(hs=hs, ehs=hs, ehs2=_by_hand(strength**2 / _RIVER_FULL**2, live), ppot=zero, npot=zero)


@lru_cache(maxsize=8)
def _equity(cards: tuple[int, ...]) -> Singles:
    if cards:
        counts = _counts(cards)
        out = kernel.equity_matrix(counts.wins, counts.live, PAIR_COMPLETIONS[len(cards)])
    else:
        wins = _preflop_counts().wins
        out = (0.5 + (wins - wins.T) / (2.0 * PAIR_COMPLETIONS[0])).astype(np.float32)
        out[~HOLDEM.disjoint] = 0
    out.setflags(write=False)
    return out


@lru_cache(maxsize=8)
def _ahead(cards: tuple[int, ...]) -> Singles:
    order = rank_board_hands(np.array(cards, dtype=np.uint8)) if cards else _preflop_features().ehs
    halves = (order[:, None] >= order).view(np.int8) + (order[:, None] > order).view(np.int8)
    out = (halves * HOLDEM.possible(cards)).astype(np.float32) * np.float32(0.5)
    out.setflags(write=False)
    return out


class PreflopCounts(NamedTuple):
    """Exact counts over all boards.

    Attributes:
        wins: [1326, 1326] result of `preflop_wins`.
        moments: [2, 1326] result of `preflop_moments`.
    """

    wins: I32
    moments: I64


@lru_cache(maxsize=1)
def _preflop_features() -> HandFeatures:
    first, second = _preflop_counts().moments / _HAND_COMPLETIONS[0]
    everyone = np.arange(NUM_HANDS, dtype=np.int16)
    ehs, zero = _by_hand(first / _RIVER_FULL, everyone), _by_hand(np.zeros(NUM_HANDS), everyone)
    return HandFeatures(hs=ehs, ehs=ehs, ehs2=_by_hand(second / _RIVER_FULL**2, everyone), ppot=zero, npot=zero)


@lru_cache(maxsize=1)
def _preflop_counts() -> PreflopCounts:
    """Compute the preflop counts once in a few seconds and store them beside the bytecode, if it is writable."""
    if _PREFLOP_FILE.exists():
        with np.load(_PREFLOP_FILE, allow_pickle=False) as stored:
            return PreflopCounts(stored["wins"], stored["moments"])
    counts = PreflopCounts(preflop_wins().astype(np.int32), preflop_moments())
    buffer = io.BytesIO()
    np.savez(buffer, wins=counts.wins, moments=counts.moments)
    with contextlib.suppress(OSError):
        write_atomically(_PREFLOP_FILE, buffer.getvalue())
    return counts


def preflop_wins(board_cards: int = 5) -> I64:
    """Count the boards on which one hand beats another; takes a few seconds.

    Counts are taken over canonical boards with their multiplicities m. Each canonical board represents m boards. The
    mean over the 24 renamings g of the suits is therefore the count over all boards: W[i, j] = sum over g of A[g(i),
    g(j)] / 24.

    Args:
        board_cards: cards on the board, 3 to 5.

    Returns:
        int64 [1326, 1326] number of compatible boards on which the row's hand beats the column's.
    """
    boards, multiplicities = canonical_boards(board_cards), board_multiplicities(board_cards)
    counted = np.zeros((NUM_HANDS, NUM_HANDS), dtype=np.int64)
    for multiplicity in np.unique(multiplicities):
        chosen = boards[multiplicities == multiplicity]
        for start in range(0, len(chosen), 8192):
            kernel.add_preflop_wins(chosen[start : start + 8192], int(multiplicity), counted)
    total = np.zeros_like(counted)
    for permutation in HAND_PERMUTATION:
        total += counted[np.ix_(permutation, permutation)]
    total[~HOLDEM.disjoint] = 0
    return total // len(HAND_PERMUTATION)


def preflop_moments() -> I64:
    """Sum river strength and its square over all boards that a hand allows.

    Returns:
        int64 [2, 1326] sums of the river strength (0..1980) and of its square.
    """
    boards, multiplicities = canonical_boards(5), board_multiplicities(5)
    by_hand = np.zeros((2, NUM_HANDS), dtype=np.int64)
    for start in range(0, len(boards), 4096):
        counts = np.maximum(kernel.boards_strength(boards[start : start + 4096]), 0).astype(np.int64)
        weights = multiplicities[start : start + 4096]
        by_hand += np.stack([weights @ counts, weights @ counts**2])
    member = (PREFLOP_CLASS[:, None] == np.arange(len(PREFLOP_CLASS_SIZE))).astype(np.int64)
    means: I64 = by_hand @ member // PREFLOP_CLASS_SIZE
    return means[:, PREFLOP_CLASS]
