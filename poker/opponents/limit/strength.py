"""Hand strength against n opponents on a board: HS, PPot, NPot and EHS, unweighted or by each opponent's weight table.

Against one opponent the definitions are [POKI] section 5.3 with exact look-ahead over all cards to come. With h, p, m
for HS, PPot and NPot against opponent i:

    HS_n = product of h                      NPot_n = 1 - product of (1 - m)
    PPot_n = mean of p with weights 1 - h    EHS_n = HS_n + (1 - HS_n) PPot_n
    win_n = HS_n (1 - NPot_n) + (1 - HS_n) PPot_n

Being ahead now, and being overtaken, are taken as independent between opponents. A card that helps helps against
everybody, so improving is not: [POKI] takes PPot against the average table, here it is averaged over the opponents who
may be ahead. For equal opponents both agree.
Weight tables are float32 [1326]; only their proportions matter.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.features import PAIR_COMPLETIONS
from poker.game.cards import NUM_HANDS, CardError
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.cards.strength import completion_ranks, count_wins, live_hand_list
from poker.kernels.opponents import weights as kernel
from poker.kernels.types import Board, Floats, Singles
from poker.opponents.hand_classes import shares_below


class Strength(NamedTuple):
    """Strength against all opponents together, [hands] or 0-d; `win` is the probability to be ahead at the end."""

    hs: Floats
    ppot: Floats
    npot: Floats
    win: Floats

    @property
    def ehs(self) -> Floats:
        return self.hs + (1 - self.hs) * self.ppot


def combine(hs: Floats, ppot: Floats, npot: Floats) -> Strength:
    """Strength against n opponents from the measures [n, ...] against each."""
    now = hs.prod(axis=0)
    behind = 1 - hs
    mass = behind.sum(axis=0)
    improve = np.divide((behind * ppot).sum(axis=0), mass, out=np.zeros_like(mass), where=mass > 0)
    overtaken = 1 - (1 - npot).prod(axis=0)
    return Strength(now, improve, overtaken, now * (1 - overtaken) + (1 - now) * improve)


class BoardStrength:
    """One board of 3 to 5 cards, analysed in about 45 ms for a new flop; `board_strength` caches the last ones."""

    def __init__(self, board: Board) -> None:
        cards = np.array(board, dtype=np.uint8)
        self.board = board
        self._total = float(PAIR_COMPLETIONS[len(board)])
        self.live = live_hand_list(cards)
        self._wins = count_wins(completion_ranks(cards, self.live), 0, len(self.live))
        self._ranks = rank_board_hands(cards)[self.live].astype(np.int16)
        self._position: NDArray[np.int16] = np.full(NUM_HANDS, -1, dtype=np.int16)
        self._position[self.live] = np.arange(len(self.live))
        self._quantiles: dict[int, Singles] = {}

    def against(self, hand: int, tables: Singles) -> Strength:
        """Strength of one hand (0-d arrays) against opponents with weight tables [n, 1326]."""
        if self._position[hand] < 0:
            raise CardError(f"hand {hand} shares a card with the board {self.board}")
        return combine(*self._measures(np.array([hand], dtype=np.int16), tables)[:, :, 0])

    def _measures(self, hands: NDArray[np.int16], tables: Singles) -> Floats:
        """[3, n, h] of h live hands against n tables."""
        weights = np.ascontiguousarray(tables[:, self.live], dtype=np.float32)
        rows = self._position[hands]
        wins, losses = self._wins[rows], np.ascontiguousarray(self._wins[:, rows].T)
        return kernel.measures(hands, self._position, self._ranks, wins, losses, self._total, weights)

    def uniform(self, opponents: int) -> Strength:
        """Strength [1326] of every hand against `opponents` random hands."""
        out = np.zeros((len(Strength._fields), NUM_HANDS))
        out[:, self.live] = combine(*np.repeat(self._one_uniform, opponents, axis=1))
        return Strength(*out)

    @cached_property
    def _one_uniform(self) -> Floats:
        """[3, 1, L] measures of the live hands against one random hand; sums of counts, so equal hands are equal."""
        return self._measures(self.live, np.ones((1, NUM_HANDS), dtype=np.float32))

    def quantile(self, opponents: int) -> Singles:
        """[1326] share of the possible hands with a lower EHS against random hands, plus half of the equal ones.

        -1 for dead hands; computed once for each number of opponents.
        """
        if opponents not in self._quantiles:
            quantile = self._quantiles[opponents] = np.full(NUM_HANDS, -1, dtype=np.float32)
            quantile[self.live] = shares_below(self.uniform(opponents).ehs[self.live])
        return self._quantiles[opponents]


board_strength = lru_cache(maxsize=24)(BoardStrength)
"""The analysis of a board, cached for the last boards."""
