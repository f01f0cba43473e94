"""Selective sampling: what calling and raising are worth, from play-outs with modelled opponents [POKI] section 5.6.

Each trial gives every opponent a hand from his weight table. On every street he does with it what his habits say of a
hand of that strength (its share of weaker hands, now and on the cards that come), in the model that also makes the
weight tables: `poker.kernels.opponents.triple`.
"""

import time
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from poker.betting import Betting
from poker.cards import HAND_MASKS, NUM_CARDS
from poker.kernels import opponents as kernel
from poker.kernels.strength import completion_ranks, completion_strength, completions
from poker.opponents.strength import board_strength, shares_below
from poker.opponents.weights import TRANSITION

_RIVER_FULL = 1980.0

Floats = NDArray[np.float32]


class PlayoutBoard:
    """Strengths and showdown ranks of all hands on all completions of a board; about 50 ms for a flop."""

    def __init__(self, board: tuple[int, ...]) -> None:
        analysed = board_strength(board)
        cards = np.array(analysed.board, dtype=np.uint8)
        self.live = analysed.live
        self.masks = HAND_MASKS[self.live]
        self.boards = completions(cards)
        self.ranks = completion_ranks(cards, self.live)
        counts = completion_strength(self.ranks, self.live)
        self.river: Floats = np.maximum(counts, 0).astype(np.float32) / np.float32(_RIVER_FULL)
        self.now = shares_below(analysed.uniform(1).ehs[self.live])
        self.turn: Floats = np.zeros((NUM_CARDS, len(self.live)), dtype=np.float32)
        if len(cards) == 3:
            for card in range(NUM_CARDS):
                rows = (self.boards[:, 3:] == card).any(axis=1)
                if rows.any():
                    seen = np.maximum((counts[rows] >= 0).sum(axis=0), 1)
                    self.turn[card] = shares_below(self.river[rows].sum(axis=0) / seen)


@lru_cache(maxsize=4)
def _playout_board(board: tuple[int, ...]) -> PlayoutBoard:
    return PlayoutBoard(board)


def playout_board(board: tuple[int, ...]) -> PlayoutBoard:
    """Kept for the last boards asked for."""
    return _playout_board(tuple(sorted(board)))


@dataclass(frozen=True)
class Budget:
    """Trials are drawn in batches until the best action leads by `margin` standard errors, or the budget is spent."""

    batch: int
    trials: int
    seconds: float
    margin: float


@dataclass(frozen=True)
class LineValues:
    """Chips won from here on by calling and by raising (folding wins 0), and standard errors of the comparisons."""

    call: float
    bet: float
    call_error: float
    bet_error: float
    difference_error: float
    trials: int

    def leader(self, may_fold: bool, may_raise: bool) -> tuple[str, float]:
        """The best of fold, call and raise, and its lead over the second best in standard errors."""
        values = {"call": self.call}
        if may_raise:
            values["raise"] = self.bet
        if may_fold:
            values["fold"] = 0.0
        ranked = sorted(values, key=lambda name: -values[name])
        if len(ranked) == 1:
            return ranked[0], np.inf
        first, second = ranked[:2]
        pair = {first, second}
        error = self.difference_error if "fold" not in pair else self.call_error if "call" in pair else self.bet_error
        return first, (values[first] - values[second]) / max(error, 1e-9)


def line_values(
    hand: int,
    betting: Betting,
    board: tuple[int, ...],
    tables: Floats,
    habits: NDArray[np.float64],
    noise: NDArray[np.float64],
    budget: Budget,
    rng: NDArray[np.uint64],
) -> LineValues:
    """For the player to act, who holds `hand`, after the flop.

    `tables` [P, 1326] are weight tables, one's own not used; `habits` [P, 12, 3] the frequencies of actions by context,
    `noise` [P] the shares of actions that do not depend on the cards.
    """
    prepared, rules, hero = playout_board(board), betting.rules, betting.to_act
    weights = tables[:, prepared.live]
    sums = np.zeros(6)
    public = np.array([betting.street, hero, betting.num_raises, max(betting.committed), betting.folded.count(False)])
    waiting = np.array([betting.waiting >> i & 1 == 1 for i in range(rules.num_players)])
    position = int(np.searchsorted(prepared.live, hand))
    legal = betting.legal()
    started = time.perf_counter()
    while True:
        kernel.sample_lines(
            budget.batch,
            hero,
            position,
            public,
            np.array(betting.committed, dtype=np.int64),
            np.array(betting.folded),
            waiting,
            np.array(rules.raise_sizes, dtype=np.int64),
            np.array(rules.max_raises, dtype=np.int64),
            np.array(rules.first_player, dtype=np.int64),
            np.cumsum(weights, axis=1, dtype=np.float64).astype(np.float32),
            prepared.masks,
            prepared.now,
            prepared.turn,
            prepared.river,
            prepared.ranks,
            prepared.boards,
            habits,
            TRANSITION,
            noise,
            rng,
            sums,
        )
        values = _values(sums)
        spent = values.trials >= budget.trials or time.perf_counter() - started >= budget.seconds
        if spent or values.leader(legal.fold, legal.max_raise > 0)[1] >= budget.margin:
            return values


def _values(sums: NDArray[np.float64]) -> LineValues:
    n = max(sums[kernel.TRIALS], 1.0)
    call, bet = sums[kernel.CALLS] / n, sums[kernel.RAISES] / n

    def error(squares: float, mean: float) -> float:
        return float(np.sqrt(max(squares / n - mean * mean, 0.0) / n))

    return LineValues(
        call=float(call),
        bet=float(bet),
        call_error=error(sums[kernel.CALLS_2], call),
        bet_error=error(sums[kernel.RAISES_2], bet),
        difference_error=error(sums[kernel.GAIN_2], bet - call),
        trials=int(sums[kernel.TRIALS]),
    )
