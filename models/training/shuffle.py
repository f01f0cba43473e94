"""The order in which training visits rows that lie in many shards on disk.

In a pass over n rows, blocks of consecutive rows are drawn in random order from all shards. They fill a pool of many
blocks, whose rows are permuted and divided into whole batches. The disk is therefore read in blocks, memory contains
one pool, and the rows of a batch come from many blocks. Every pass has its own order, which depends only on the seed
and the number of the pass.
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
    """The position of a trainer.

    Attributes:
        epoch: the current epoch.
        rank: number of this process.
        world: number of processes.
    """

    epoch: int = 0
    rank: int = 0
    world: int = 1

    @classmethod
    def of(cls, data: lightning.LightningDataModule) -> "Position":
        """Return the position of the trainer of a data module; the start if it has no trainer."""
        trainer = data.trainer
        return cls() if trainer is None else cls(trainer.current_epoch, trainer.global_rank, trainer.world_size)


@dataclass(frozen=True)
class BlockShuffle:
    """An endless stream of shuffled batches.

    Rows that do not fill a batch at the end of a pool are omitted from that pass; other passes omit other rows.

    Attributes:
        rows: int64 [n] global row numbers in disk order.
        batch_rows: rows per batch.
        seed: seed of the order.
        block_rows: consecutive rows that are read together.
        pool_rows: rows that are permuted together.

    Raises:
        ValueError: a batch is empty or larger than all rows.
    """

    rows: NDArray[np.int64]
    batch_rows: int
    seed: int
    block_rows: int = BLOCK_ROWS
    pool_rows: int = POOL_ROWS

    def __post_init__(self) -> None:
        """Check the size of a batch."""
        if not 0 < self.batch_rows <= len(self.rows):
            raise ValueError(f"batches of {self.batch_rows} out of {len(self.rows)} rows")

    @property
    def batches_per_pass(self) -> int:
        """Number of whole batches in one pass."""
        full, rest = divmod(len(self.rows), self._pool)
        return full * (self._pool // self.batch_rows) + rest // self.batch_rows

    @property
    def _pool(self) -> int:
        """Rows in a full pool: whole blocks, and at least one batch."""
        blocks = max(self.pool_rows // self.block_rows, -(-self.batch_rows // self.block_rows))
        return blocks * self.block_rows

    def epoch(self, position: Position, batches: int) -> Iterator[NDArray[np.int64]]:
        """Iterate over the batches of one process in one epoch.

        Args:
            position: epoch and process; each process takes every `world`-th batch.
            batches: batches of all processes in an epoch.

        Yields:
            int64 [b, batch_rows] rows of b batches.
        """
        start = position.epoch * batches
        at, end = start, start + batches // position.world * position.world
        while at < end:
            number, offset = divmod(at, self.batches_per_pass)
            index, skipped = divmod(offset, self._pool // self.batch_rows)
            whole = self._shuffled(number, index)[skipped : skipped + end - at]
            yield whole[(position.rank - (at - start)) % position.world :: position.world]
            at += len(whole)

    def _shuffled(self, number: int, index: int) -> NDArray[np.int64]:
        """Return the whole batches [b, batch_rows] of one pool of pass `number`."""
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
    """A loader of one epoch of shuffled batches.

    It reads the epoch from the trainer when iteration starts, so a resumed run continues exactly.

    Attributes:
        data: the data module whose trainer is queried.
        shuffle: the order of the rows.
        batches: batches of all processes in an epoch.
        take: function from row numbers [b, batch_rows] to b batches.
    """

    data: lightning.LightningDataModule
    shuffle: BlockShuffle
    batches: int
    take: Callable[[NDArray[np.int64]], Iterable[AnyBatch]]

    def __len__(self) -> int:
        """Return the number of batches of this process in an epoch."""
        return self.batches // Position.of(self.data).world

    def __iter__(self) -> Iterator[AnyBatch]:
        """Iterate over the batches of the current epoch."""
        for rows in self.shuffle.epoch(Position.of(self.data), self.batches):
            yield from self.take(rows)


@dataclass(frozen=True, eq=False)
class OrderedLoader(Generic[AnyBatch]):
    """A loader of all rows once, in order.

    Attributes:
        rows: int64 [n] row numbers.
        batch_rows: rows per batch.
        take: function from row numbers [n] to a batch.
        position: the process, which reads every `world`-th row.
    """

    rows: NDArray[np.int64]
    batch_rows: int
    take: Callable[[NDArray[np.int64]], AnyBatch]
    position: Position

    def __len__(self) -> int:
        """Return the number of batches of this process."""
        return math.ceil(len(self._own) / self.batch_rows)

    def __iter__(self) -> Iterator[AnyBatch]:
        """Iterate over the batches of this process."""
        for at in range(0, len(self._own), self.batch_rows):
            yield self.take(self._own[at : at + self.batch_rows])

    @property
    def _own(self) -> NDArray[np.int64]:
        return self.rows[self.position.rank :: self.position.world]
