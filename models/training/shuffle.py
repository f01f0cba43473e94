"""The order in which training visits rows that lie in many shards on disk.

A pass over n rows: blocks of consecutive rows are drawn in random order from all shards, a pool of many blocks is
filled, its rows are permuted, and whole batches are cut from it. So disk is read in blocks, memory holds one pool,
and a batch mixes rows of as many blocks as it has rows. Every pass has its own order, a pure function of (seed, pass).
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import lightning
import numpy as np
from numpy.typing import NDArray

BLOCK_ROWS = 64
POOL_ROWS = 1 << 19

AnyBatch = TypeVar("AnyBatch")


class Position(NamedTuple):
    """Position of a trainer: the epoch, and which of `world` processes this is."""

    epoch: int = 0
    rank: int = 0
    world: int = 1

    @classmethod
    def of(cls, data: lightning.LightningDataModule) -> "Position":
        trainer = data.trainer
        return cls() if trainer is None else cls(trainer.current_epoch, trainer.global_rank, trainer.world_size)


@dataclass(frozen=True)
class BlockShuffle:
    """An endless stream of batches of `batch_rows` out of `rows` [n] (global row numbers in disk order).

    Rows that do not fill a batch at the end of a pool are left out of that pass; another pass leaves out other rows.
    """

    rows: NDArray[np.int64]
    batch_rows: int
    seed: int
    block_rows: int = BLOCK_ROWS
    pool_rows: int = POOL_ROWS

    def __post_init__(self) -> None:
        if not 0 < self.batch_rows <= len(self.rows):
            raise ValueError(f"batches of {self.batch_rows} out of {len(self.rows)} rows")

    @property
    def batches_per_pass(self) -> int:
        """Whole batches in one pass."""
        full, rest = divmod(len(self.rows), self._pool)
        return full * (self._pool // self.batch_rows) + rest // self.batch_rows

    @property
    def _pool(self) -> int:
        """Rows in a full pool: whole blocks, and at least a batch."""
        blocks = max(self.pool_rows // self.block_rows, -(-self.batch_rows // self.block_rows))
        return blocks * self.block_rows

    def epoch(self, position: Position, batches: int) -> Iterator[NDArray[np.int64]]:
        """Rows [b, batch_rows] for this process, from the `batches` of all in an epoch: it takes every `world`-th."""
        start = position.epoch * batches
        at, end = start, start + batches // position.world * position.world
        while at < end:
            number, offset = divmod(at, self.batches_per_pass)
            index, skipped = divmod(offset, self._pool // self.batch_rows)
            whole = self._shuffled(number, index)[skipped : skipped + end - at]
            yield whole[(position.rank - (at - start)) % position.world :: position.world]
            at += len(whole)

    def _shuffled(self, number: int, index: int) -> NDArray[np.int64]:
        """The whole batches [b, batch_rows] of one pool of pass `number`."""
        generator = np.random.default_rng(np.random.SeedSequence((self.seed, number)))
        starts = generator.permutation(-(-len(self.rows) // self.block_rows)) * self.block_rows
        # The one short block goes last, so that every pool but the last is full.
        short = starts == (len(self.rows) // self.block_rows) * self.block_rows
        starts = np.concatenate([starts[~short], starts[short]])
        per_pool = self._pool // self.block_rows
        chosen = starts[index * per_pool : (index + 1) * per_pool, None] + np.arange(self.block_rows)
        order = np.random.default_rng(np.random.SeedSequence((self.seed, number, index)))
        rows = order.permutation(self.rows[chosen[chosen < len(self.rows)]])
        return rows[: len(rows) // self.batch_rows * self.batch_rows].reshape(-1, self.batch_rows)


@dataclass(frozen=True, eq=False)
class ShuffledLoader(Generic[AnyBatch]):
    """One epoch of the `batches` of all processes; `take` makes b of them of rows [b, batch_rows].

    The trainer of `data` is asked for the epoch when iteration starts: a resumed run goes on exactly.
    """

    data: lightning.LightningDataModule
    shuffle: BlockShuffle
    batches: int
    take: Callable[[NDArray[np.int64]], Iterable[AnyBatch]]

    def __len__(self) -> int:
        return self.batches // Position.of(self.data).world

    def __iter__(self) -> Iterator[AnyBatch]:
        for rows in self.shuffle.epoch(Position.of(self.data), self.batches):
            yield from self.take(rows)


@dataclass(frozen=True, eq=False)
class OrderedLoader(Generic[AnyBatch]):
    """All rows once, in their order, `batch_rows` at a time; `position` says which of them are this process's."""

    rows: NDArray[np.int64]
    batch_rows: int
    take: Callable[[NDArray[np.int64]], AnyBatch]
    position: Position

    def __len__(self) -> int:
        return math.ceil(len(self._own) / self.batch_rows)

    def __iter__(self) -> Iterator[AnyBatch]:
        for at in range(0, len(self._own), self.batch_rows):
            yield self.take(self._own[at : at + self.batch_rows])

    @property
    def _own(self) -> NDArray[np.int64]:
        return self.rows[self.position.rank :: self.position.world]
