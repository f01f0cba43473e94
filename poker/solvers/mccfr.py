"""External-sampling MCCFR with linear weighting on a betting tree and card buckets, all cores, resumable.

An iteration is one deal with one traversal for every player (`poker.kernels.mccfr` is the traversal). Linear weighting
comes in periods of `discount_every` iterations: at the end of period k = 1, 2, ... regrets and strategy sums are both
multiplied by k / (k + 1). What period j gathered thus keeps weight j / (k + 1), proportional to j, as in Linear CFR
(Brown & Sandholm 2019), whose periods are single iterations. Multipliers after periods 1, 2, 4: 1/2, 2/3, 4/5.

Float32 holds regrets (chips) and strategy sums (probability mass). A strategy sum stops growing at 2^24 visits of one
infoset in effective weight; with discounting that is about 3 x 10^7 visits, billions of deals in hold'em.

`threads` None takes all cores. With one thread the state after n batches is a function of the seed, and a resumed run
equals an uninterrupted one byte for byte. More threads share the table without locks: same quality, not same bytes.
"""

import os
import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets, SmallGameBuckets
from poker.abstraction.dealers import Dealer
from poker.errors import PokernetsError
from poker.kernels import mccfr
from poker.kernels.rng import streams
from poker.solvers.best_response import evaluate_policy
from poker.solvers.sampling_tree import SamplingTree, sampling_tree
from poker.tree import BettingTree

_COUNTERS = ("iterations", "visits", "decisions", "periods")


class ExternalSampling:
    """Solver state: the table, one generator a thread, and counters. `cards` must be what `dealer` deals from."""

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        seed: int,
        threads: int | None = 1,
        batch: int = 1000,
        discount_every: int = 1_000_000,
        discount_until: int | None = None,
        prune_below: float | None = None,
        prune_after: int = 0,
        prune_probability: float = 0.95,
    ) -> None:
        threads = len(os.sched_getaffinity(0)) if threads is None else threads
        if min(threads, batch, discount_every) < 1:
            raise PokernetsError("external sampling needs threads, batch and discount_every of at least 1")
        self.tree = tree
        self.sampling: SamplingTree = sampling_tree(tree, cards.num_buckets)
        self.table = np.zeros(self.sampling.table_size, dtype=np.float32)
        self.iterations = 0
        self.visits = 0
        self.decisions = 0
        self.periods = 0
        self._cards = cards
        self._dealer = dealer
        self._batch = batch
        self._discount_every = discount_every
        self._discount_until = discount_until
        self._prune = (prune_below, prune_after, prune_probability)
        self._seed = seed
        self._streams = streams(seed, threads)
        self._scratch = [_scratch(len(self.sampling.nodes)) for _ in range(threads)]

    @property
    def threads(self) -> int:
        return len(self._streams)

    @property
    def settings(self) -> dict[str, Any]:
        """What a checkpoint or a blueprint records of how it was made."""
        prune_below, prune_after, prune_probability = self._prune
        return {
            "solver": "external_sampling",
            "seed": self._seed,
            "batch": self._batch,
            "discount_every": self._discount_every,
            "discount_until": self._discount_until,
            "prune_below": prune_below,
            "prune_after": prune_after,
            "prune_probability": prune_probability,
        }

    @property
    def bytes_needed(self) -> int:
        return int(self.table.nbytes)

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until the solver has done `iterations` in all (rounded up to whole batches) or for `seconds` from now."""
        if iterations is None and seconds is None:
            raise PokernetsError("external sampling runs for iterations, for seconds, or the first of both: give one")
        started = time.perf_counter()
        with ThreadPoolExecutor(self.threads) as pool:
            while (iterations is None or self.iterations < iterations) and (
                seconds is None or time.perf_counter() - started < seconds
            ):
                self._step(pool)

    def figures(self) -> dict[str, float]:
        """What converges: `mean_regret` in big blinds; in small games also `nash_conv` and value of player 0, chips."""
        figures = {"mean_regret_bb": self.mean_regret() / self.tree.rules.big_blind}
        if isinstance(self._cards, SmallGameBuckets) and self.tree.rules.num_players == 2:
            exact = evaluate_policy(self.tree, self._by_hand)
            figures |= {"nash_conv": exact.nash_conv, "game_value": exact.value}
        return figures

    def mean_regret(self) -> float:
        """Sum over infosets of max_a max(R(a), 0) per decision visited: chips that the best fixed action had gained."""
        per_iteration = self.decisions / max(self.iterations, 1)
        return self.regret_bound() / max(per_iteration, 1e-12)

    def regret_bound(self) -> float:
        """Sum over infosets of max_a max(R(a), 0) / T, chips per hand, T the discounted number of iterations.

        An upper bound on the average overall regret summed over players, hence on nash_conv, up to sampling noise.
        It is loose, and under imperfect recall a figure that falls and not a bound.
        """
        num_buckets = np.array(self.sampling.num_buckets, dtype=np.int32)
        total = mccfr.positive_regret(self.sampling.nodes, self.table, num_buckets)
        return float(total) / max(self.effective_iterations, 1.0)

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

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """All that a later run needs to continue: arrays and counters."""
        counters = {name: int(getattr(self, name)) for name in _COUNTERS}
        return {"table": self.table, "streams": self._streams}, counters

    def restore(self, arrays: Mapping[str, NDArray[Any]], counters: Mapping[str, int]) -> None:
        """Continue from `state()` of a solver made with the same arguments."""
        if arrays["table"].shape != self.table.shape or arrays["streams"].shape != self._streams.shape:
            raise PokernetsError(
                f"the checkpoint has a table of {arrays['table'].size:,} numbers and {len(arrays['streams'])} threads, "
                f"this run {self.table.size:,} and {self.threads}: continue with the same game, cards, bets and threads"
            )
        self.table[:] = arrays["table"]
        self._streams[:] = arrays["streams"]
        for name in _COUNTERS:
            setattr(self, name, counters[name])

    def _by_hand(self, node: int, board: tuple[int, ...]) -> NDArray[np.float32]:
        """[H, A] average strategy at a betting node, rows of blocked hands without meaning."""
        return self.average(node)[self._cards.buckets(board)]

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
        for job in jobs:
            visits, decisions = job.result()
            self.visits += visits
            self.decisions += decisions
        self.iterations += self._batch * self.threads
        due = self.iterations // self._period > self.periods
        if due and (self._discount_until is None or self.iterations <= self._discount_until):
            self.periods += 1
            self.table *= np.float32(self.periods / (self.periods + 1))

    def _traverse(self, thread: int, floor: float, probability: float) -> tuple[int, int]:
        tree, rng = self.sampling, self._streams[thread]
        deals = self._dealer.deal(rng, self._batch)
        return mccfr.external_sampling(
            tree.nodes, tree.committed, tree.folded, self.table, deals.buckets, deals.ranks, floor, probability,
            rng, *self._scratch[thread],
        )  # fmt: skip


def _scratch(size: int) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32], NDArray[np.float32]]:
    integers = [np.zeros(size, dtype=np.int32) for _ in range(3)]
    return integers[0], integers[1], integers[2], np.zeros(size, dtype=np.float32)
