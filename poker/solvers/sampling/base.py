"""The base of all sampling solvers: batches of deals, threads on shared tables, limits, exact resume and metrics.

With one thread the state after n batches depends only on the seed, and a resumed run equals an uninterrupted one byte
for byte. Several threads share the tables without locks. The quality is the same, but the bytes differ.
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
_COPY_SIZE = 1 << 20
_STEP_SECONDS = 0.02
"""Time that threads play before they wait for each other, at least one batch. A batch of UCT takes a millisecond, and
submitting batches one by one took a third of the time."""


class SamplingOptions(TypedDict, total=False):
    """Keyword arguments of `SamplingSolver`."""

    seed: Required[int]
    threads: int | None
    batch: int


class SamplingSolver(ABC):
    """A solver that plays random deals on a betting tree.

    An iteration is one deal. Only the `SamplingTree` of the betting tree is kept.

    Attributes:
        counters: names of the attributes that a checkpoint stores besides the arrays.
        sampling: the sampling tree.
        iterations: deals played so far.
        visits: nodes of the sampling tree visited so far.
    """

    counters: ClassVar[tuple[str, ...]] = ("iterations", "visits")
    """Attributes that a checkpoint stores besides the arrays."""

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
        """Prepare the solver.

        Args:
            tree: the betting tree of whole hands.
            cards: the buckets that `dealer` deals.
            seed: seed of all random numbers.
            threads: number of threads; None for all cores.
            batch: hands that each thread deals at once.

        Raises:
            PokernetsError: there are no threads or deals, or the tree has a depth limit.
        """
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
        """Number of threads."""
        return len(self._streams)

    @property
    @abstractmethod
    def tables(self) -> dict[str, NDArray[Any]]:
        """Everything learned, by name: arrays [entries] into which kernels write."""

    @property
    def settings(self) -> dict[str, Any]:
        """Settings that checkpoints and blueprints record, without the number of threads."""
        return dict(self._recorded)

    @abstractmethod
    def averages(self, nodes: NDArray[np.int32]) -> Singles:
        """Return the learned policy at several betting nodes.

        Args:
            nodes: int32 [K] betting nodes of one street and number of actions.

        Returns:
            float32 [K, B, A].
        """

    def average(self, node: int) -> Singles:
        """Return the learned policy at one betting node, float32 [B, A]."""
        return np.asarray(self.averages(np.array([node], dtype=np.int32))[0])

    @abstractmethod
    def _play(self, thread: int, done: int, deals: Deals, rng: NDArray[np.uint64]) -> tuple[int, ...]:
        """Play a batch after `done` iterations; return the increments of `visits` and the counters after it."""

    @property
    def bytes_needed(self) -> int:
        """Bytes of the tables and of the tree that kernels read."""
        return self.sampling.nbytes + sum(table.nbytes for table in self.tables.values())

    def run(self, *, iterations: int | None = None, seconds: float | None = None) -> None:
        """Run until a total number of iterations or for some time, whichever comes first.

        Args:
            iterations: total number of iterations, rounded up to whole batches of all threads; None for no limit.
            seconds: seconds from now; None for no limit.

        Raises:
            PokernetsError: neither limit is given.
        """
        if iterations is None and seconds is None:
            raise PokernetsError("a sampling solver needs a limit: iterations, seconds, or both")
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

    def metrics(self) -> dict[str, float]:
        """Return measures of convergence: exact ones in small games, else none."""
        return self._metrics(self.average)

    def state(self) -> tuple[dict[str, NDArray[Any]], dict[str, int]]:
        """Return everything that a later run needs to continue: arrays [entries] and counters."""
        return {**self.tables, "streams": self._streams}, {name: int(getattr(self, name)) for name in self.counters}

    def restore(self, arrays: Mapping[str, NDArray[Any]], counters: Mapping[str, int]) -> None:
        """Continue from the `state()` of a solver that was created with the same arguments.

        Args:
            arrays: arrays of the state, shaped [entries] as in this solver.
            counters: counters of the state.

        Raises:
            PokernetsError: the state has another number of threads, or an array has another shape or type.
        """
        tables = {**self.tables, "streams": self._streams}
        if (threads := len(arrays["streams"])) != self.threads:
            raise PokernetsError(
                f"the checkpoint was written by a run on {threads} threads, and this run has {self.threads}:"
                f" continue with solver.threads={threads}"
            )
        for name, array in tables.items():
            stored = arrays[name]
            if (stored.shape, stored.dtype) != (array.shape, array.dtype):
                raise PokernetsError(
                    f"the checkpoint's {name} have {stored.size:,} numbers ({stored.dtype}), this run's {array.size:,} "
                    f"({array.dtype}): continue with the same game, cards, bets and bits"
                )
        for name, array in tables.items():
            _copy_changed(arrays[name], array)
        for name in self.counters:
            setattr(self, name, counters[name])

    def _pause(self) -> int | None:
        """Return the next iteration at which all threads must wait for each other, or None."""
        return None

    def _step(self, pool: ThreadPoolExecutor, batches: int) -> None:
        """Play batches on every thread."""
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
    """Create a table of zeros that takes memory only where it is written.

    Tables below 1 GiB are ordinary arrays. Larger ones use pages of 4 KiB, except for the first `dense` numbers. Those
    use pages of 2 MiB, which are faster but are filled by a few scattered numbers.

    Args:
        size: number of entries.
        dtype: type of an entry.
        dense: number of entries at the start that use large pages.

    Returns:
        `dtype` [size].
    """
    itemsize = np.dtype(dtype).itemsize
    if size * itemsize < _SPARSE_BYTES:
        return np.zeros(size, dtype=dtype)
    memory = mmap.mmap(-1, size * itemsize, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    filled = dense * itemsize // _HUGE_PAGE * _HUGE_PAGE
    if filled and hasattr(mmap, "MADV_HUGEPAGE"):  # Linux
        memory.madvise(mmap.MADV_HUGEPAGE, 0, filled)
    return np.frombuffer(memory, dtype=dtype)


def _copy_changed(source: NDArray[Any], target: NDArray[Any]) -> None:
    """Copy `source` to `target` only where bits differ, so that untouched pages take no memory."""
    kind = np.dtype(f"u{target.itemsize}")
    new, old = np.ravel(source).view(kind), target.reshape(-1).view(kind)
    for start in range(0, len(new), _COPY_SIZE):
        current, incoming = old[start : start + _COPY_SIZE], new[start : start + _COPY_SIZE]
        changed = current != incoming
        current[changed] = incoming[changed]


def normalised(weights: NDArray[np.number], fallback: NDArray[np.number] | None = None) -> Singles:
    """Divide rows by their sums.

    Args:
        weights: [..., A] weights that are not negative.
        fallback: [..., A] weights for rows whose sum is 0; None for uniform rows.

    Returns:
        float32 [..., A] rows that sum to 1.
    """
    total = weights.sum(axis=-1, keepdims=True, dtype=np.float64)
    uniform = np.full(weights.shape, 1 / weights.shape[-1], dtype=np.float32)
    other = uniform if fallback is None else normalised(fallback)
    return np.where(total > 0, weights / np.where(total > 0, total, 1), other).astype(np.float32)
