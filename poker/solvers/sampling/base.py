"""Base of all sampling solvers: deals in batches, threads on shared tables, limits, exact resume, metrics.

With one thread the state after n batches is a function of the seed, and a resumed run equals an uninterrupted one byte
for byte. More threads share the tables without locks: same quality, not the same bytes.
"""

import mmap
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar, Required, TypedDict

import numpy as np
from numpy.typing import NDArray

from poker.abstraction.buckets import Buckets
from poker.abstraction.dealers import Dealer
from poker.kernels.rng import streams
from poker.kernels.sampling.nodes import Deals
from poker.kernels.types import Singles
from poker.run.errors import PokernetsError
from poker.run.machine import cores
from poker.solvers.sampling.tree import SamplingTree, sampling_tree
from poker.solvers.small_games import exact_metrics
from poker.tree import BettingTree

_SPARSE_BYTES = 1 << 30
_HUGE_PAGE = 1 << 21
_COPIED = 1 << 20
_STEP_SECONDS = 0.02
"""Threads play so long, or one batch if that takes longer, before they wait for one another. A batch of UCT takes a
millisecond: handed over one by one, batches spent a third of their time on that."""


class SamplingOptions(TypedDict, total=False):
    """Keyword arguments of `SamplingSolver`."""

    seed: Required[int]
    threads: int | None
    batch: int


class SamplingSolver(ABC):
    """A solver that plays random deals on a betting tree. `cards` must be what `dealer` deals from. The tree is kept
    as a `SamplingTree` only.

    An iteration is one deal; `visits` counts nodes of the sampling tree. `threads` None takes all cores; each deals
    `batch` hands at once and plays them.
    """

    counters: ClassVar[tuple[str, ...]] = ("iterations", "visits")
    """Attributes that a checkpoint carries besides the arrays."""

    def __init__(
        self,
        tree: BettingTree,
        cards: Buckets,
        dealer: Dealer,
        *,
        seed: int,
        threads: int | None = 1,
        batch: int = 1000,
    ) -> None:
        count = cores() if threads is None else threads
        if min(count, batch) < 1:
            raise PokernetsError("a sampling solver needs threads and batch of at least 1")
        self.rules = tree.rules
        self.sampling: SamplingTree = sampling_tree(tree, cards.num_buckets)
        self.iterations = 0
        self.visits = 0
        self._metrics = exact_metrics(tree, cards)
        self._dealer = dealer
        self._batch = batch
        self._recorded: dict[str, Any] = {"seed": seed, "batch": batch}
        self._streams = streams(seed, count)

    @property
    def threads(self) -> int:
        return len(self._streams)

    @property
    @abstractmethod
    def tables(self) -> dict[str, NDArray[Any]]:
        """Everything learned, by name; kernels write into these arrays."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that a checkpoint or a blueprint records; threads are left out."""
        return dict(self._recorded)

    @abstractmethod
    def averages(self, nodes: NDArray[np.int32]) -> Singles:
        """[K, B, A] the policy learned, at betting nodes [K] of one street and number of actions."""

    def average(self, node: int) -> Singles:
        """[B, A] the policy learned, at betting node `node`."""
        return np.asarray(self.averages(np.array([node], dtype=np.int32))[0])

    @abstractmethod
    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[np.uint64]) -> tuple[int, ...]:
        """Play a batch after `done` iterations; returns what adds to `visits` and to the counters after it."""

    @property
    def bytes_needed(self) -> int:
        """Tables and the tree that kernels read."""
        return self.sampling.nbytes + sum(table.nbytes for table in self.tables.values())

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until the solver has done `iterations` in all (rounded up to whole batches of all threads) or for
        `seconds` from now."""
        if iterations is None and seconds is None:
            raise PokernetsError("a sampling solver runs for iterations, for seconds, or the first of both: give one")
        started, batches = time.perf_counter(), 1
        with ThreadPoolExecutor(self.threads) as pool:
            while (iterations is None or self.iterations < iterations) and (
                seconds is None or time.perf_counter() - started < seconds
            ):
                ends = [end - self.iterations for end in (iterations, self._pause()) if end is not None]
                if ends:
                    batches = min(batches, -(-min(ends) // (self._batch * self.threads)))
                began = time.perf_counter()
                self._step(pool, batches)
                if time.perf_counter() - began < _STEP_SECONDS:
                    batches *= 2

    def reseed(self, seed: np.random.SeedSequence) -> None:
        """Go on with other random numbers."""
        self._streams = streams(seed, self.threads)

    def metrics(self) -> dict[str, float]:
        """Measures of convergence: in small two-player games the exact ones, else none."""
        return self._metrics(self.average)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """All that a later run needs to continue: arrays and counters."""
        return {**self.tables, "streams": self._streams}, {name: int(getattr(self, name)) for name in self.counters}

    def restore(self, arrays: Mapping[str, NDArray[Any]], counters: Mapping[str, int]) -> None:
        """Continue from `state()` of a solver made with the same arguments."""
        mine = {**self.tables, "streams": self._streams}
        if (threads := len(arrays["streams"])) != self.threads:
            raise PokernetsError(
                f"the checkpoint is of a run on {threads} threads, and this one has {self.threads}: continue with "
                f"solver.threads={threads}"
            )
        for name, array in mine.items():
            stored = arrays[name]
            if (stored.shape, stored.dtype) != (array.shape, array.dtype):
                raise PokernetsError(
                    f"the checkpoint's {name} have {stored.size:,} numbers ({stored.dtype}), this run's {array.size:,} "
                    f"({array.dtype}): continue with the same game, cards, bets and bits"
                )
        for name, array in mine.items():
            _copy_written(arrays[name], array)
        for name in self.counters:
            setattr(self, name, counters[name])

    def _pause(self) -> int | None:
        """The next iteration at which all threads have to wait for each other; None where there is none."""
        return None

    def _step(self, pool: ThreadPoolExecutor, batches: int) -> None:
        """Batches on every thread."""
        for job in [pool.submit(self._play_batches, thread, batches) for thread in range(self.threads)]:
            for name, amount in zip(self.counters[1:], job.result(), strict=False):
                setattr(self, name, getattr(self, name) + amount)
        self.iterations += self._batch * self.threads * batches

    def _play_batches(self, thread: int, batches: int) -> tuple[int, ...]:
        rng, played = self._streams[thread], []
        for batch in range(batches):
            done = self.iterations + self._batch * self.threads * batch
            played.append(self._play(thread, done, self._dealer.deal(rng, self._batch), rng))
        return tuple(map(sum, zip(*played, strict=True)))


def zeros(size: int, dtype: type[np.generic] | np.dtype[Any], dense: int = 0) -> NDArray[Any]:
    """A table of zeros. A large one takes memory only where it is written, in pages of 4 KiB. The first `dense` numbers
    are in pages of 2 MiB, as in all arrays of numpy: faster, but a few scattered numbers fill them all."""
    itemsize = np.dtype(dtype).itemsize
    if size * itemsize < _SPARSE_BYTES:
        return np.zeros(size, dtype=dtype)
    memory = mmap.mmap(-1, size * itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    filled = dense * itemsize // _HUGE_PAGE * _HUGE_PAGE
    if filled and hasattr(mmap, "MADV_HUGEPAGE"):  # Linux
        memory.madvise(mmap.MADV_HUGEPAGE, 0, filled)
    return np.frombuffer(memory, dtype=dtype)


def _copy_written(source: NDArray[Any], target: NDArray[Any]) -> None:
    """target[:] = source, without writing where it holds the same bits already, which may be pages that take no memory
    yet."""
    kind = np.dtype(f"u{target.itemsize}")
    new, old = np.ravel(source).view(kind), target.reshape(-1).view(kind)
    for start in range(0, len(new), _COPIED):
        ours, theirs = old[start : start + _COPIED], new[start : start + _COPIED]
        changed = ours != theirs
        ours[changed] = theirs[changed]


def normalised(weights: NDArray[np.number], fallback: NDArray[np.number] | None = None) -> Singles:
    """[..., A] rows divided by their sums; rows of zeros take the normalised row of `fallback`, or are uniform."""
    total = weights.sum(axis=-1, keepdims=True, dtype=np.float64)
    uniform = np.full(weights.shape, 1 / weights.shape[-1], dtype=np.float32)
    other = uniform if fallback is None else normalised(fallback)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), other).astype(np.float32)
