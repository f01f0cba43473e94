"""Best responses of P1 to a P2 who answers the off-tree bet in some way and plays the blueprint elsewhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from poker.experiments.off_tree_bet.spot import OffTreeBet
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows
from poker.solvers.vector.solver import VectorSolver


@dataclass(frozen=True)
class BetExploitability:
    """mbb per hand: P1's best response minus the value of the game with the bet; the part of it that the bet adds to
    P1's best response without the bet; and the share of P1's hands that win more by betting than otherwise. The last
    two are None where P2 does not play the blueprint elsewhere."""

    exploitability: float
    gain_of_bet: float | None = None
    hands_that_bet: float | None = None


class Measure:
    """Exact best responses of P1 in the tree that has the bet.

    `otherwise` float[H]: chips of each hand of P1 by the best of its other actions against the blueprint. `value`:
    chips per hand of P1 in the game with the bet.
    """

    def __init__(self, spot: OffTreeBet, otherwise: NDArray[np.float32], value: float, threads: int) -> None:
        self.spot = spot
        self.game = VectorGame(spot.branch)
        self.otherwise = otherwise.astype(np.float64)
        self.value = value
        self.mbb = 1000 / spot.rules.big_blind
        self._solver = VectorSolver(self.game, "cfr_plus", threads=threads)
        compatible = self.game.compatible[spot.p1] * self.game.ranges[spot.p1]
        self._share = compatible / compatible.sum()
        """[H] the probability that P1 holds each hand."""

    def bet_values(self, rows: Rows) -> NDArray[np.float32]:
        """float32[H]: chips of P1's hands by the bet and a best response to P2's `rows` of the branch."""
        self._solver.arrays["sums"][:] = rows
        return self._solver.values(self.spot.p1, best_response=True)

    def __call__(self, rows: Rows) -> BetExploitability:
        """Measure a P2 who answers the bet by `rows` of the branch and plays the blueprint elsewhere."""
        return self.of(self.bet_values(rows))

    def of(self, values: NDArray[np.float32]) -> BetExploitability:
        """Measure a bet worth `values` float32[H] chips to P1's hands, where P2 plays the blueprint elsewhere."""
        best = np.maximum(values, self.otherwise)
        return BetExploitability(
            exploitability=self.exploitability(best),
            gain_of_bet=self.mbb * float(self._share @ (best - self.otherwise)),
            hands_that_bet=float(self._share @ (values > self.otherwise)),
        )

    def exploitability(self, best: NDArray[np.floating]) -> float:
        """mbb per hand beyond the value of the game where P1's hands win `best` [H] chips."""
        return self.mbb * (float(self._share @ best) - self.value)
