"""External-sampling MCCFR with linear weighting on a betting tree and card buckets, all cores, resumable.

An iteration is one deal with one traversal for every player (`poker.kernels.mccfr` is the traversal). Linear weighting
comes in periods of `discount_every` iterations: at the end of period k = 1, 2, ... regrets and strategy sums are both
multiplied by k / (k + 1). What period j gathered thus keeps weight j / (k + 1), proportional to j, as in Linear CFR
(Brown & Sandholm 2019), whose periods are single iterations. Multipliers after periods 1, 2, 4: 1/2, 2/3, 4/5.

Float32 holds regrets (chips) and strategy sums (probability mass). A strategy sum stops growing at 2^24 visits of one
infoset in effective weight; with discounting that is about 3 x 10^7 visits, billions of deals in hold'em.

One thread: the state after n batches is a function of the seed, and a resumed run equals an uninterrupted one byte for
byte. More threads share the table without locks: same quality, not the same bytes.
"""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.dealers import Dealer
from poker.errors import PokernetsError
from poker.kernels import mccfr
from poker.kernels.rng import streams
from poker.solvers.sampling_tree import SamplingTree, sampling_tree
from poker.tree import BettingTree


@dataclass(frozen=True)
class Progress:
    """Where a run stands. Rates are over the whole run since it was started or resumed."""

    iterations: int
    visits: int
    seconds: float
    iterations_per_second: float
    visits_per_second: float


class ExternalSampling:
    """Solver state: the table, one generator a thread, and counters. `num_buckets` [S] must be the dealer's."""

    def __init__(
        self,
        tree: BettingTree,
        dealer: Dealer,
        num_buckets: tuple[int, ...],
        *,
        seed: int,
        threads: int = 1,
        batch: int = 1000,
        discount_every: int = 1_000_000,
        discount_until: int | None = None,
        prune_below: float | None = None,
        prune_after: int = 0,
        prune_probability: float = 0.95,
    ) -> None:
        if min(threads, batch, discount_every) < 1:
            raise PokernetsError("external sampling needs threads, batch and discount_every of at least 1")
        self.tree = tree
        self.sampling: SamplingTree = sampling_tree(tree, num_buckets)
        self.table = np.zeros(self.sampling.table_size, dtype=np.float32)
        self.iterations = 0
        self.visits = 0
        self.periods = 0
        self._dealer = dealer
        self._batch = batch
        self._discount_every = discount_every
        self._discount_until = discount_until
        self._prune = (prune_below, prune_after, prune_probability)
        self._streams = streams(seed, threads)
        self._scratch = [_scratch(len(self.sampling.nodes)) for _ in range(threads)]

    @property
    def threads(self) -> int:
        return len(self._streams)

    def run(
        self,
        *,
        iterations: int | None = None,
        seconds: float | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        """Run until the solver has done `iterations` in all (rounded up to whole batches) or for `seconds` from now."""
        if iterations is None and seconds is None:
            raise PokernetsError(
                "external sampling runs for iterations, for seconds, or for the first of both; give one"
            )
        started, first, first_visits = time.perf_counter(), self.iterations, self.visits
        with ThreadPoolExecutor(self.threads) as pool:
            while True:
                elapsed = time.perf_counter() - started
                if iterations is not None and self.iterations >= iterations:
                    break
                if seconds is not None and elapsed >= seconds:
                    break
                self._step(pool)
                if progress is not None:
                    elapsed = time.perf_counter() - started
                    done, visited = self.iterations - first, self.visits - first_visits
                    progress(Progress(self.iterations, self.visits, elapsed, done / elapsed, visited / elapsed))

    def regret_bound(self) -> float:
        """Sum over infosets of max_a max(R(a), 0) / T, chips per hand, T the discounted number of iterations.

        An upper bound on the average overall regret summed over players, hence on nash_conv, up to sampling noise.
        It is loose, and under imperfect recall a figure that falls and not a bound.
        """
        total = 0.0
        for node in self.decisions():
            regrets = self.sampling.rows(self.table, int(node))[:, 0]
            total += float(np.maximum(regrets.max(axis=1), 0.0).sum(dtype=np.float64))
        return total / max(self.effective_iterations, 1.0)

    @property
    def effective_iterations(self) -> float:
        """Sum of the weights of all iterations so far; after k whole periods that is k / 2 periods."""
        return self.iterations - self.periods * self._period / 2

    def average(self, node: int) -> NDArray[np.float32]:
        """[B, A] average strategy at betting node `node`; the current one where the average was never updated."""
        regrets, sums = np.moveaxis(self.sampling.rows(self.table, int(self.sampling.index[node])), 1, 0)
        visited = sums.sum(axis=1, keepdims=True) > 0
        weights = np.where(visited, sums, np.maximum(regrets, 0.0))
        total = weights.sum(axis=1, keepdims=True)
        uniform = np.float32(1.0 / weights.shape[1])
        return np.where(total > 0, weights / np.where(total > 0, total, 1), uniform).astype(np.float32)

    def decisions(self) -> NDArray[np.int64]:
        """Sampling nodes at which somebody decides."""
        return np.flatnonzero(self.sampling.nodes[:, mccfr.KIND] == mccfr.DECISION)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """All that a later run needs to continue: arrays and counters."""
        counters = {"iterations": self.iterations, "visits": self.visits, "periods": self.periods}
        return {"table": self.table, "streams": self._streams}, counters

    def restore(self, arrays: Mapping[str, NDArray[Any]], counters: Mapping[str, int]) -> None:
        """Continue from `state()` of a solver made with the same arguments."""
        if arrays["table"].shape != self.table.shape or arrays["streams"].shape != self._streams.shape:
            raise PokernetsError(
                f"the checkpoint has a table of {arrays['table'].size:,} numbers and {len(arrays['streams'])} threads, "
                f"this run {self.table.size:,} and {self.threads}: continue with the game, abstraction, bets and threads it had"
            )
        self.table[:] = arrays["table"]
        self._streams[:] = arrays["streams"]
        self.iterations, self.visits, self.periods = (counters[key] for key in ("iterations", "visits", "periods"))

    @property
    def _period(self) -> int:
        """Iterations a period, in whole steps."""
        step = self._batch * self.threads
        return -(-self._discount_every // step) * step

    def _step(self, pool: ThreadPoolExecutor) -> None:
        prune_below, prune_after, prune_probability = self._prune
        pruning = prune_below is not None and self.iterations >= prune_after
        probability = prune_probability if pruning else 0.0
        floor = prune_below if prune_below is not None else 0.0
        jobs = [pool.submit(self._traverse, thread, floor, probability) for thread in range(self.threads)]
        self.visits += sum(job.result() for job in jobs)
        self.iterations += self._batch * self.threads
        due = self.iterations // self._period > self.periods
        if due and (self._discount_until is None or self.iterations <= self._discount_until):
            self.periods += 1
            self.table *= np.float32(self.periods / (self.periods + 1))

    def _traverse(self, thread: int, floor: float, probability: float) -> int:
        tree, rng = self.sampling, self._streams[thread]
        deals = self._dealer.deal(rng, self._batch)
        return int(
            mccfr.external_sampling(
                tree.nodes, tree.committed, tree.folded, self.table, deals.buckets, deals.ranks, floor, probability,
                rng, *self._scratch[thread],
            )
        )  # fmt: skip


def _scratch(size: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    integers = [np.zeros(size, dtype=np.int32) for _ in range(3)]
    return integers[0], integers[1], integers[2], np.zeros(size, dtype=np.float32)
