"""Selective sampling: the values of calling and raising from play-outs with modelled opponents ([POKI] section 5.6).

Each trial draws a hand for every opponent from their weight table. On each street, an opponent acts as a hand of that
strength does according to their habits. The same model makes the weight tables (`poker.opponents.responses`), but in
play-outs opponents fold less in larger pots. The formula player chooses the hero's later actions. So choosing the
better line improves on the formula player wherever the models are right: it is a rollout of a base policy.

Symbols: N completions of the board, L live hands, P players.
"""

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from poker.game.betting import Betting
from poker.game.cards import HOLDEM, NUM_CARDS
from poker.kernels.cards.strength import LOWEST, completion_ranks, completion_strength, completions
from poker.kernels.opponents import playout as kernel
from poker.kernels.opponents.playout import LimitHand, Limits, LiveHands, Style
from poker.kernels.types import U64, Board, Floats, Singles
from poker.opponents.hand_classes import shares_below
from poker.opponents.limit.strength import board_strength
from poker.opponents.responses import all_responses

_RIVER_FULL = 1980.0

_PARTICLES = 32
"""Number of hands that represent an opponent's range when the hero decides later in a play-out."""


class PlayoutBoard:
    """Strengths and showdown ranks of all hands on all completions of a board; takes about 50 ms for a flop.

    Attributes:
        live: [L] indices of the live hands.
        masks: [L] their cards as bit masks.
        boards: [N, 5] completed boards.
        ranks: int16 [N, L] showdown ranks from 0 on, 255 where a hand and a completion share a card.
        river: float32 [N, L] share of weaker hands on each completed board.
    """

    def __init__(self, board: Board) -> None:
        """Analyse the board.

        Args:
            board: [3..5] cards on the board.
        """
        self._board = board_strength(board)
        cards = np.array(self._board.board, dtype=np.uint8)
        self.live = self._board.live
        self.masks = HOLDEM.masks[self.live]
        self.boards = completions(cards)
        ranks = completion_ranks(cards, self.live)
        self.ranks = ranks - np.int16(LOWEST)
        self._counts = completion_strength(ranks, self.live)
        self.river: Singles = np.maximum(self._counts, 0).astype(np.float32) / np.float32(_RIVER_FULL)
        self._against: dict[int, LiveHands] = {}

    def against(self, opponents: int) -> LiveHands:
        """Return the live hands, with their strengths before the river; computed once per number of opponents.

        Args:
            opponents: number of random hands that a strength is measured against.
        """
        if opponents not in self._against:
            now, turn = self._board.quantile(opponents)[self.live], self._on_turns(opponents)
            self._against[opponents] = LiveHands(self.masks, now, turn, self.river, self.ranks, self.boards)
        return self._against[opponents]

    def _on_turns(self, opponents: int) -> Singles:
        out: Singles = np.zeros((NUM_CARDS, len(self.live)), dtype=np.float32)
        if len(self._board.board) == 3:
            wins = self.river**opponents
            for card in range(NUM_CARDS):
                rows = (self.boards[:, 3:] == card).any(axis=1)
                if rows.any():
                    left = (self.masks >> np.uint64(card)) & np.uint64(1) == 0
                    possible = (self._counts[rows][:, left] >= 0).sum(axis=0)
                    out[card, left] = shares_below(wins[rows][:, left].sum(axis=0) / possible)
        return out


playout_board = lru_cache(maxsize=4)(PlayoutBoard)
"""Strengths and ranks of a board, cached for the last boards."""


class PlayoutBudget(NamedTuple):
    """Trials are drawn in batches until the best action leads by `margin` standard errors, or the budget is spent.

    Attributes:
        batch: trials per batch.
        trials: largest number of trials.
        seconds: time limit.
        margin: lead at which sampling stops, in standard errors.
    """

    batch: int
    trials: int
    seconds: float
    margin: float


class LineValues(NamedTuple):
    """Chips won from here on by calling and by raising (folding wins 0), with standard errors.

    Attributes:
        call: chips won by calling.
        bet: chips won by raising.
        call_error: standard error of `call`.
        bet_error: standard error of `bet`.
        difference_error: standard error of `bet - call`.
    """

    call: float
    bet: float
    call_error: float
    bet_error: float
    difference_error: float
    trials: int

    def leader(self, may_fold: bool, may_raise: bool) -> tuple[str, float]:
        """Return the best of fold, call and raise, and its lead over the second best in standard errors.

        Args:
            may_fold: whether folding is considered.
            may_raise: whether raising is legal.
        """
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
    held: int,
    betting: Betting,
    board: Board,
    tables: Singles,
    habits: Floats,
    style: Style,
    budget: PlayoutBudget,
    rng: U64,
) -> LineValues:
    """Sample the values of calling and raising for the player to act after the flop.

    Args:
        held: index of the player's hand.
        board: [3..5] cards on the board.
        tables: [P, 1326] weight tables; the player's own is not used.
        habits: [P, 12, 3] frequencies of actions by context.
        style: style of the player's own later decisions.
        budget: number of trials and time to spend.
        rng: uint64 [4] random state; advanced.

    Returns:
        Mean values in chips and their standard errors.
    """
    rules, hero = betting.rules, betting.to_act
    prepared = playout_board(board)
    active = betting.folded.count(False)
    answers = all_responses(habits)
    sums = np.zeros(6)
    public = np.array([betting.street, hero, betting.num_raises, max(betting.committed), active])
    waiting = np.array([betting.waiting >> i & 1 == 1 for i in range(rules.num_players)])
    hand = LimitHand(public, np.array(betting.committed, dtype=np.int64), np.array(betting.folded), waiting)
    limits = Limits(*(np.array(each, np.int64) for each in (rules.raise_sizes, rules.max_raises, rules.first_player)))
    cumulative = np.cumsum(tables[:, prepared.live], axis=1, dtype=np.float64).astype(np.float32)
    live = prepared.against(active - 1)
    position = int(np.searchsorted(prepared.live, held))
    legal, deadline = betting.legal(), time.perf_counter() + budget.seconds
    while True:
        kernel.sample_lines(
            budget.batch, hero, position, hand, limits, live, cumulative, answers, style, _PARTICLES, rng, sums
        )
        values = _values(sums)
        spent = values.trials >= budget.trials or time.perf_counter() >= deadline
        if spent or values.leader(legal.fold, legal.max_raise > 0)[1] >= budget.margin:
            return values


def _values(sums: Floats) -> LineValues:
    n = max(sums[kernel.TRIALS], 1.0)
    call, bet = (float(sums[each] / n) for each in (kernel.CALLS, kernel.RAISES))
    squares = ((kernel.CALLS_2, call), (kernel.RAISES_2, bet), (kernel.GAIN_2, bet - call))
    call_error, bet_error, difference_error = (
        float(np.sqrt(max(sums[each] / n - mean * mean, 0.0) / n)) for each, mean in squares
    )
    return LineValues(call, bet, call_error, bet_error, difference_error, int(sums[kernel.TRIALS]))
