"""Monte Carlo CFR with linear weighting on a betting tree and card buckets: external and outcome sampling.

An iteration is one deal (`poker.kernels.sampling` has a traversal of each kind). Linear weighting works in periods of
`discount_every` iterations. At the end of period k = 1, 2, ... regrets and strategy sums are both multiplied by k / (k
+ 1). The contribution of period j thus has weight j / (k + 1), proportional to j, as in Linear CFR (Brown & Sandholm
2019), whose periods are single iterations. The multipliers after periods 1, 2 and 4 are 1/2, 2/3 and 4/5.

Regrets (chips) and strategy sums (probability mass) are float64 in small games and float32 in large ones, where memory
matters. A float32 sum stops growing after 2^24 visits of one infoset in effective weight, and the average then drifts
towards uniform. With discounting this happens after about 3 x 10^7 visits: billions of deals in hold'em, but seconds in
Leduc.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar, Unpack

import numpy as np

from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import Dealer
from poker.kernels.sampling import external_sampling, outcome_sampling
from poker.kernels.sampling.nodes import Deals
from poker.kernels.types import I32, U64, Columns, Reals, Singles
from poker.run.errors import PokernetsError
from poker.solvers.sampling.base import SamplingOptions, SamplingSolver, normalised
from poker.tree import BettingTree

_SMALL_TABLE = 1 << 22
"""Largest number of entries of a table that is float64 by default: 32 MiB."""


class RegretOptions(SamplingOptions, total=False):
    """Keyword arguments of `RegretSolver`."""

    discount_every: int | None
    discount_until: int | None
    table_bits: int | None


class RegretSolver(SamplingSolver):
    """The base of the MCCFR solvers.

    Attributes:
        table: float32 or float64 [entries] regrets and strategy sums, placed as in
            `poker.kernels.sampling.external_sampling`.
        periods: discounted periods so far.
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
        """Prepare the solver.

        Args:
            tree: the betting tree of whole hands.
            cards: the buckets that `dealer` deals.
            discount_every: iterations per period; None gives all iterations the same weight.
            discount_until: periods that end after this many iterations are not discounted; None for no limit.
            table_bits: 32 or 64; None uses 64 for tables of up to 32 MiB.
            **options: see `SamplingSolver`.

        Raises:
            PokernetsError: an option is out of range.
        """
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
        if wide:  # 32 bits are the default and are not recorded
            self._recorded["table_bits"] = 64

    @property
    def tables(self) -> Columns:
        """The table of regrets and strategy sums [entries], by name."""
        return {"table": self.table}

    def metrics(self) -> dict[str, float]:
        """Return `regret_bound_bb` in big blinds, and in small games the exact measures."""
        return {"regret_bound_bb": self.regret_bound() / self.rules.big_blind, **super().metrics()}

    def regret_bound(self) -> float:
        """Return an upper bound on nash_conv, in chips per hand.

        It is the sum over infosets of max_a max(R(a), 0) / T, with T the discounted number of iterations. This bounds
        the average overall regret summed over players, hence nash_conv, up to sampling noise. The bound is loose. Under
        imperfect recall it is not a bound, but it still decreases with training.
        """
        num_buckets = np.array(self.sampling.num_buckets, dtype=np.int32)
        total = external_sampling.positive_regret(self.sampling.arrays, self.table, num_buckets)
        return float(total) / max(self.effective_iterations, 1.0)

    @property
    def effective_iterations(self) -> float:
        """Sum of the weights of all iterations; after k whole periods this is k / 2 periods."""
        return self.iterations - self.periods * self._period / 2

    def averages(self, nodes: I32) -> Singles:
        """Return the average strategy at several betting nodes.

        Args:
            nodes: int32 [K] betting nodes of one street and number of actions.

        Returns:
            float32 [K, B, A]; the current strategy where the average was never updated.
        """
        inner = self.sampling.index[nodes]
        arity = int(self.sampling.nodes["arity"][inner[0]])
        places = 2 * self.sampling.starts(inner)[:, :, None] + np.arange(arity)
        return normalised(self.table[places + arity], np.maximum(self.table[places], 0.0))

    @property
    def _period(self) -> int:
        """Iterations per period, in whole steps; 0 without discount."""
        step = self._batch * self.threads
        return -(-(self._discount_every or 0) // step) * step

    def _pause(self) -> int | None:
        """Return the end of the period."""
        return (self.iterations // self._period + 1) * self._period if self._period > 0 else None

    def _step(self, pool: ThreadPoolExecutor, batches: int) -> None:
        super()._step(pool, batches)
        ended = self._period > 0 and self.iterations // self._period > self.periods
        if ended and (self._discount_until is None or self.iterations <= self._discount_until):
            self.periods += 1
            self.table *= self.periods / (self.periods + 1)


class ExternalSampling(RegretSolver):
    """External-sampling MCCFR: all actions of one player, one sampled action of every other player."""

    counters: ClassVar[tuple[str, ...]] = (*RegretSolver.counters, "decisions")

    def __init__(self, tree: BettingTree, cards: Buckets, dealer: Dealer, **options: Unpack[RegretOptions]) -> None:
        """Prepare the solver.

        Args:
            tree: the betting tree of whole hands.
            cards: the buckets that `dealer` deals.
            **options: see `RegretSolver`.
        """
        super().__init__(tree, cards, dealer, **options)
        self.decisions = 0
        self._recorded = {"solver": "external_sampling", **self._recorded}
        self._scratch = [external_sampling.new_scratch(len(self.sampling.nodes)) for _ in range(self.threads)]

    def metrics(self) -> dict[str, float]:
        """Return `mean_regret_bb` in big blinds, and in small games the exact measures."""
        small = SamplingSolver.metrics(self)
        return {"mean_regret_bb": self.mean_regret() / self.rules.big_blind, **small}

    def mean_regret(self) -> float:
        """Return the mean gain of the best fixed action per visited decision, in chips.

        It is the sum over infosets of max_a max(R(a), 0), divided by the number of visited decisions.
        """
        per_iteration = self.decisions / max(self.iterations, 1)
        return self.regret_bound() / max(per_iteration, 1e-12)

    def _play(self, thread: int, done: int, deals: Deals, rng: U64) -> tuple[int, ...]:
        """Return the nodes visited, no periods, and the decisions of traversers."""
        tree, scratch = self.sampling.arrays, self._scratch[thread]
        visits, decisions = external_sampling.external_sampling(tree, self.table, deals, rng, scratch)
        return visits, 0, decisions


class OutcomeSampling(RegretSolver):
    """Outcome-sampling MCCFR ([SUCT] section 4): an iteration is one episode."""

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
        """Prepare the solver.

        Args:
            tree: the betting tree of whole hands.
            cards: the buckets that `dealer` deals.
            explore: probability of a uniformly random action of a player whose regrets are updated.
            alternating: update the regrets of one player per episode, in turn, instead of all players.
            all_explore: let every player explore.
            **options: see `RegretSolver`.

        Raises:
            PokernetsError: `explore` is not in (0, 1].
        """
        if not 0 < explore <= 1:
            raise PokernetsError(f"outcome sampling needs 0 < explore <= 1, not {explore}")
        super().__init__(tree, cards, dealer, **options)
        self._options = explore, all_explore, alternating
        settings = {"explore": explore, "alternating": alternating} | ({"all_explore": True} if all_explore else {})
        self._recorded = {"solver": "outcome_sampling", **self._recorded, **settings}

    def _play(self, thread: int, done: int, deals: Deals, rng: U64) -> tuple[int, ...]:
        played = done // self.threads  # on this thread
        visits = outcome_sampling.outcome_sampling(self.sampling.arrays, self.table, *self._options, played, deals, rng)
        return (visits,)
