"""Hand strength against n opponents on a board: HS, PPot, NPot and EHS, against random hands or weight tables.

Against one opponent the definitions are those in [POKI] section 5.3, with exact look-ahead over all cards to come. With
h, p, m for HS, PPot and NPot against opponent i::

    HS_n = product of h                      NPot_n = 1 - product of (1 - m)
    PPot_n = mean of p with weights 1 - h    EHS_n = HS_n + (1 - HS_n) PPot_n
    win_n = HS_n (1 - NPot_n) + (1 - HS_n) PPot_n

We assume that being ahead now, and being overtaken, are independent between opponents. Improving is not independent,
because a card that helps our hand helps against everybody. [POKI] takes PPot against the average table. Here PPot is
averaged over the opponents who may be ahead; for equal opponents both agree.

Weight tables are float32 [1326], and only their proportions matter.
"""

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from poker.abstraction.features import PAIR_COMPLETIONS
from poker.game.cards import NUM_HANDS, CardError
from poker.kernels.cards.ranks import rank_board_hands
from poker.kernels.cards.strength import completion_ranks, count_wins, live_hand_list
from poker.kernels.opponents import weights as kernel
from poker.kernels.types import I16, Board, Floats, Singles
from poker.opponents.hand_classes import shares_below


class Strength(NamedTuple):
    """Strength against all opponents together, as arrays [hands] or 0-d arrays.

    Attributes:
        hs: probability to be ahead now.
        ppot: probability to improve if behind.
        npot: probability to be overtaken if ahead.
        win: probability to be ahead at the end.
    """

    hs: Floats
    ppot: Floats
    npot: Floats
    win: Floats

    @property
    def ehs(self) -> Floats:
        """Effective hand strength HS + (1 - HS) PPot, [hands] or 0-d."""
        return self.hs + (1 - self.hs) * self.ppot


def combine(hs: Floats, ppot: Floats, npot: Floats) -> Strength:
    """Combine the measures against each opponent into the strength against all.

    Args:
        hs: [n, ...] HS against each of n opponents.
        ppot: [n, ...] PPot.
        npot: [n, ...] NPot.

    Returns:
        Strength [...].
    """
    now = hs.prod(axis=0)
    behind = 1 - hs
    mass = behind.sum(axis=0)
    improve = np.divide((behind * ppot).sum(axis=0), mass, out=np.zeros_like(mass), where=mass > 0)
    overtaken = 1 - (1 - npot).prod(axis=0)
    return Strength(now, improve, overtaken, now * (1 - overtaken) + (1 - now) * improve)


class BoardStrength:
    """The analysis of one board of 3 to 5 cards; takes about 45 ms for a new flop; `board_strength` caches the last.

    Attributes:
        live: int16 [L] indices of the live hands.
    """

    def __init__(self, board: Board) -> None:
        """Count wins of all pairs of hands over all completions of the board.

        Args:
            board: [3..5] cards.
        """
        cards = np.array(board, dtype=np.uint8)
        self.board = board
        self._total = float(PAIR_COMPLETIONS[len(board)])
        self.live = live_hand_list(cards)
        self._wins = count_wins(completion_ranks(cards, self.live), 0, len(self.live))
        self._ranks = rank_board_hands(cards)[self.live].astype(np.int16)
        self._position: I16 = np.full(NUM_HANDS, -1, dtype=np.int16)
        self._position[self.live] = np.arange(len(self.live))
        self._quantiles: dict[int, Singles] = {}

    def against(self, hand: int, tables: Singles) -> Strength:
        """Compute the strength of one hand against opponents with weight tables.

        Args:
            hand: index of the hand.
            tables: [n, 1326] weight tables.

        Returns:
            Strength as 0-d arrays.

        Raises:
            CardError: the hand shares a card with the board.
        """
        if self._position[hand] < 0:
            raise CardError(f"hand {hand} shares a card with the board {self.board}")
        return combine(*self._measures(np.array([hand], dtype=np.int16), tables)[:, :, 0])

    def _measures(self, hands: I16, tables: Singles) -> Floats:
        """Return HS, PPot and NPot, [3, n, h], of h live hands against n tables."""
        weights = np.ascontiguousarray(tables[:, self.live], dtype=np.float32)
        rows = self._position[hands]
        wins, losses = self._wins[rows], np.ascontiguousarray(self._wins[:, rows].T)
        return kernel.measures(hands, self._position, self._ranks, wins, losses, self._total, weights)

    def uniform(self, opponents: int) -> Strength:
        """Compute the strength of every hand against random hands.

        Args:
            opponents: number of random hands.

        Returns:
            Strength [1326]; 0 for dead hands.
        """
        out = np.zeros((len(Strength._fields), NUM_HANDS))
        out[:, self.live] = combine(*np.repeat(self._one_uniform, opponents, axis=1))
        return Strength(*out)

    @cached_property
    def _one_uniform(self) -> Floats:
        """Measures [3, 1, L] of live hands against a random hand; sums of counts, so equal hands are exactly equal."""
        return self._measures(self.live, np.ones((1, NUM_HANDS), dtype=np.float32))

    def quantile(self, opponents: int) -> Singles:
        """Compute the share of possible hands with a lower EHS against random hands, plus half of the equal ones.

        The result is computed once for each number of opponents.

        Args:
            opponents: number of random hands.

        Returns:
            float32 [1326] shares; -1 for dead hands.
        """
        if opponents not in self._quantiles:
            quantile = self._quantiles[opponents] = np.full(NUM_HANDS, -1, dtype=np.float32)
            quantile[self.live] = shares_below(self.uniform(opponents).ehs[self.live])
        return self._quantiles[opponents]


board_strength = lru_cache(maxsize=24)(BoardStrength)
"""The analysis of a board, cached for the last boards."""
