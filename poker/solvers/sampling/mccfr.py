"""Monte-Carlo CFR with linear weighting on a betting tree and card buckets: external and outcome sampling.

An iteration is one deal (`poker.kernels.sampling` has a traversal of each kind). Linear weighting comes in periods of
`discount_every` iterations: at the end of period k = 1, 2, ... regrets and strategy sums are both multiplied by
k / (k + 1). What period j gathered thus keeps weight j / (k + 1), proportional to j, as in Linear CFR (Brown & Sandholm
2019), whose periods are single iterations. Multipliers after periods 1, 2, 4: 1/2, 2/3, 4/5.

Regrets (chips) and strategy sums (probability mass) are float64 in small games and float32 in large ones, where memory
counts. A float32 sum stops growing at 2^24 visits of one infoset in effective weight, and the average then drifts
towards uniform: with discounting after about 3 x 10^7 visits, billions of deals in hold'em but seconds in Leduc.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import Dealer
from poker.kernels.sampling import external_sampling, outcome_sampling
from poker.kernels.sampling.nodes import Deals
from poker.kernels.types import Reals, Singles
from poker.run.errors import PokernetsError
from poker.solvers.sampling.base import SamplingOptions, SamplingSolver, normalised
from poker.tree import BettingTree

_SMALL_TABLE = 1 << 22
"""Numbers in a table that is float64 unless `table_bits` says otherwise: 32 MiB."""


class RegretOptions(SamplingOptions, total=False):
    """Keyword arguments of `RegretSolver`."""

    discount_every: int | None
    discount_until: int | None
    table_bits: int | None


class RegretSolver(SamplingSolver):
    """Base of MCCFR; `table` holds regrets and strategy sums as `poker.kernels.sampling.external_sampling` places them.

    `discount_every` None weighs all iterations alike. Periods that end after `discount_until` iterations are not
    discounted. `table_bits` is 32 or 64; None takes 64 for tables of up to 32 MiB.
    """

    counters: ClassVar[tuple[str, ...]] = ("iterations", "visits", "periods")

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        discount_every: int | None = None,
        discount_until: int | None = None,
        table_bits: int | None = None,
        **options: Unpack[SamplingOptions],
    ) -> None:
        super().__init__(tree, cards, dealer, **options)
        if discount_every is not None and discount_every < 1:
            raise PokernetsError("discount_every must be at least 1, or null for no discount")
        if table_bits not in (None, 32, 64):
            raise PokernetsError(f"table_bits must be 32 or 64, or null for 64 in small games, not {table_bits}")
        wide = self.sampling.table_size <= _SMALL_TABLE if table_bits is None else table_bits == 64
        self.table: Reals = np.zeros(self.sampling.table_size, np.float64 if wide else np.float32)
        self.periods = 0
        self._discount_every = discount_every
        self._discount_until = discount_until
        self._recorded |= {"discount_every": discount_every, "discount_until": discount_until}
        if wide:  # 32 bits go without saying
            self._recorded["table_bits"] = 64

    @property
    def tables(self) -> dict[str, NDArray[Any]]:
        return {"table": self.table}

    def metrics(self) -> dict[str, float]:
        """`regret_bound` in big blinds; in small games also what `SamplingSolver` reports."""
        return {"regret_bound_bb": self.regret_bound() / self.rules.big_blind, **super().metrics()}

    def regret_bound(self) -> float:
        """Sum over infosets of max_a max(R(a), 0) / T, chips per hand, T the discounted number of iterations.

        An upper bound on the average overall regret summed over players, hence on nash_conv, up to sampling noise.
        It is loose, and under imperfect recall a figure that falls and not a bound.
        """
        num_buckets = np.array(self.sampling.num_buckets, dtype=np.int32)
        total = external_sampling.positive_regret(self.sampling.arrays, self.table, num_buckets)
        return float(total) / max(self.effective_iterations, 1.0)

    @property
    def effective_iterations(self) -> float:
        """Sum of the weights of all iterations so far; after k whole periods that is k / 2 periods."""
        return self.iterations - self.periods * self._period / 2

    def averages(self, nodes: NDArray[np.int32]) -> Singles:
        """[K, B, A] average strategy; the current one where the average was never updated."""
        inner = self.sampling.index[nodes]
        arity = int(self.sampling.nodes["arity"][inner[0]])
        places = 2 * self.sampling.starts(inner)[:, :, None] + np.arange(arity)
        return normalised(self.table[places + arity], np.maximum(self.table[places], 0.0))

    @property
    def _period(self) -> int:
        """Iterations a period, in whole steps; 0 without discount."""
        step = self._batch * self.threads
        return -(-(self._discount_every or 0) // step) * step

    def _pause(self) -> int | None:
        """The end of the period."""
        return (self.iterations // self._period + 1) * self._period if self._period > 0 else None

    def _step(self, pool: ThreadPoolExecutor, batches: int) -> None:
        super()._step(pool, batches)
        if self._period > 0 and self.iterations // self._period > self.periods:
            self.end_period()

    def end_period(self) -> None:
        """Weighs what was gathered so far against what comes, up to `discount_until`."""
        if self._discount_until is None or self.iterations <= self._discount_until:
            self.periods += 1
            self.table *= self.periods / (self.periods + 1)


class ExternalSampling(RegretSolver):
    """External-sampling MCCFR: every action of one player, one of everybody else."""

    counters: ClassVar[tuple[str, ...]] = (*RegretSolver.counters, "decisions")

    def __init__(self, tree: BettingTree, cards: Buckets, dealer: Dealer, **options: Unpack[RegretOptions]) -> None:
        super().__init__(tree, cards, dealer, **options)
        self.decisions = 0
        self._recorded = {"solver": "external_sampling", **self._recorded}
        self._scratch = [external_sampling.new_scratch(len(self.sampling.nodes)) for _ in range(self.threads)]

    def metrics(self) -> dict[str, float]:
        """Measures of convergence: `mean_regret` in big blinds; in small games also what `SamplingSolver` reports."""
        small = SamplingSolver.metrics(self)
        return {"mean_regret_bb": self.mean_regret() / self.rules.big_blind, **small}

    def mean_regret(self) -> float:
        """Sum over infosets of max_a max(R(a), 0) per decision visited: chips that the best fixed action had gained."""
        per_iteration = self.decisions / max(self.iterations, 1)
        return self.regret_bound() / max(per_iteration, 1e-12)

    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[np.uint64]) -> tuple[int, ...]:
        """Nodes visited, no periods, and decisions of traversers."""
        visits, decisions = external_sampling.external_sampling(
            self.sampling.arrays, self.table, deals, rng, self._scratch[thread]
        )
        return visits, 0, decisions


class OutcomeSampling(RegretSolver):
    """Outcome-sampling MCCFR [SUCT] section 4: an iteration is one episode.

    `alternating` ones update the regrets of one player in turn, others of all; `explore` is the share of uniform
    actions of a player whose regrets are updated, with `all_explore` of every player.
    """

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        explore: float = 0.5,
        alternating: bool = True,
        all_explore: bool = False,
        **options: Unpack[RegretOptions],
    ) -> None:
        if not 0 < explore <= 1:
            raise PokernetsError(f"outcome sampling needs 0 < explore <= 1, not {explore}")
        super().__init__(tree, cards, dealer, **options)
        self._options = explore, all_explore, alternating
        mine = {"explore": explore, "alternating": alternating} | ({"all_explore": True} if all_explore else {})
        self._recorded = {"solver": "outcome_sampling", **self._recorded, **mine}

    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[np.uint64]) -> tuple[int, ...]:
        played = done // self.threads  # on this thread
        visits = outcome_sampling.outcome_sampling(self.sampling.arrays, self.table, *self._options, played, deals, rng)
        return (visits,)
