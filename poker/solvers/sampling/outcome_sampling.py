"""Outcome-sampling MCCFR, parallel or alternating [SUCT] section 4; the kernel of that name is the episode."""

from typing import Any, Unpack

from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import Dealer
from poker.errors import PokernetsError
from poker.kernels.sampling import outcome_sampling
from poker.kernels.sampling.nodes import Deals
from poker.solvers.sampling.external_sampling import RegretOptions, RegretSolver
from poker.tree import BettingTree


class OutcomeSampling(RegretSolver):
    """An iteration is one episode; `alternating` ones update the regrets of one player in turn, others of all.

    `explore` is the share of uniform actions of a player whose regrets are updated.
    """

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        explore: float = 0.5,
        alternating: bool = True,
        **options: Unpack[RegretOptions],
    ) -> None:
        if not 0 < explore <= 1:
            raise PokernetsError(f"outcome sampling needs 0 < explore <= 1, not {explore}")
        super().__init__(tree, cards, dealer, **options)
        self._explore, self._alternating = explore, alternating
        mine = {"explore": explore, "alternating": alternating}
        self._recorded = {"solver": "outcome_sampling", **self._recorded, **mine}

    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[Any]) -> tuple[int, ...]:
        played = done // self.threads  # on this thread
        visits = outcome_sampling.outcome_sampling(
            self.sampling.arrays, self.table, self._explore, self._alternating, played, deals, rng
        )
        return (visits,)
