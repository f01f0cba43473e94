"""Training batches of leaf states, shuffled and split by group."""

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.training.shuffle import POOL_ROWS, BlockShuffle, OrderedLoader, Position, ShuffledLoader
from poker.depth_limit.shards import KIND, columns_of, open_shards
from poker.run.errors import PokernetsError
from poker.run.machine import allow_open_files
from poker.solve.torch.device import room
from poker.store.artifacts import fingerprint_of
from poker.store.shards import shard_path


class LeafBatch(NamedTuple):
    """A batch of n leaf states.

    Attributes:
        features: float32 [n, 34] inputs of the net.
        labels: float32 [n, K] values in pots.
        label_sem: float32 [n, K] standard errors of the labels, in pots.
        street: [n] the street that has ended.
    """

    features: Tensor
    labels: Tensor
    label_sem: Tensor
    street: Tensor


RowBatches = Callable[[NDArray[np.int64]], Iterator[LeafBatch]]
"""Function from row numbers [b, n] to b batches of n rows."""


class LeafColumns:
    """The columns of all shards under one global row numbering, read from memory maps.

    Attributes:
        continuations: [K] names of the continuations that labels belong to.
        made_from: fingerprints of the shards and of their blueprint, for the manifest of a net trained on them.
        starts: [shards + 1] first global row of each shard, and the number of rows.
        summary: description of the rows for people.
    """

    def __init__(self, root: str) -> None:
        """Open all shards in a directory.

        Args:
            root: the directory.

        Raises:
            ArtifactError: shards are missing, damaged or inconsistent.
        """
        shards = open_shards(root)
        self.continuations: tuple[str, ...] = tuple(shards[0].config["continuations"])
        self.made_from = {KIND: fingerprint_of([shard.fingerprint for shard in shards])}
        self.made_from |= {role: source for role, source in shards[0].made_from.items() if role == "blueprint"}
        self._types = columns_of(len(self.continuations))
        allow_open_files(len(self._types) * len(shards))  # a memory map keeps its file open
        self._columns = {name: [shard.arrays[name] for shard in shards] for name in self._types}
        self.starts = np.concatenate([[0], np.cumsum([len(group) for group in self._columns["group"]])])
        holes = [place for place, shard in enumerate(shards) if shard.path != shard_path(root, place)]
        self.summary = f"{len(self):,} rows of {len(shards)} shards, {len(self.continuations)} continuations" + (
            f"; {shard_path(root, holes[0]).name} is missing: job={KIND} was interrupted" if holes else ""
        )

    def __len__(self) -> int:
        """Return the number of rows."""
        return int(self.starts[-1])

    def all(self, name: str) -> NDArray[Any]:
        """Return one whole column [rows, ...] in memory."""
        return np.concatenate(self._columns[name])

    def take(self, name: str, rows: NDArray[np.int64]) -> NDArray[Any]:
        """Read some rows of a column; the disk is read in ascending order.

        Args:
            name: the column.
            rows: int64 [n] global row numbers.

        Returns:
            [n, ...] values in the order of `rows`.
        """
        dtype, shape, *_ = self._types[name]
        order = np.argsort(rows)
        ascending = rows[order]
        bounds = np.searchsorted(ascending, self.starts)
        out = np.empty((len(rows), *shape), dtype=dtype)
        for shard, array in enumerate(self._columns[name]):
            part = slice(bounds[shard], bounds[shard + 1])
            out[order[part]] = array[ascending[part] - self.starts[shard]]
        return out

    def batches(self, rows: NDArray[np.int64]) -> Iterator[LeafBatch]:
        """Iterate over batches whose rows are read from disk together.

        Args:
            rows: int64 [b, n] global row numbers of b batches.

        Yields:
            Batches of n rows, in float32.
        """
        pool = [self.take(name, rows.ravel()) for name in LeafBatch._fields]
        for at in range(0, rows.size, rows.shape[1]):
            yield LeafBatch(*(_floats(torch.from_numpy(column[at : at + rows.shape[1]])) for column in pool))

    def selected(self, path: str, streets: Sequence[int] | None, seats: Sequence[int] | None) -> NDArray[np.int64]:
        """Select rows by street and seat.

        Args:
            path: path of the data, for the message.
            streets: streets that have ended; None for all.
            seats: own seats; None for all.

        Returns:
            int64 [n] global row numbers.

        Raises:
            PokernetsError: no row matches.
        """
        keep = np.ones(len(self), dtype=bool)
        for column, values in (("street", streets), ("seat", seats)):
            if values is not None:
                keep &= np.isin(self.all(column), values)
        if not keep.any():
            raise PokernetsError(
                f"{path}: no row has street in {streets} and seat in {seats}; change data.streets or data.seats"
            )
        return np.flatnonzero(keep)


class DeviceColumns:
    """The columns of all rows in the memory of one device, so that a batch transfers only row numbers."""

    def __init__(self, columns: LeafColumns, device: torch.device) -> None:
        """Copy all columns to a device.

        Args:
            columns: the rows.

        Raises:
            PokernetsError: the device has too little memory.
        """
        arrays = [columns.all(name) for name in LeafBatch._fields]
        needed, free = sum(array.nbytes for array in arrays), room(device)
        if device.type == "cuda" and needed > free:
            raise PokernetsError(
                f"data.on_device=true: the rows take {needed / 2**30:.1f} GiB, {device} has room for "
                f"{free / 2**30:.1f} GiB; use data.on_device=false"
            )
        self._columns = [torch.from_numpy(array).to(device) for array in arrays]
        self._device = device

    def batches(self, rows: NDArray[np.int64]) -> Iterator[LeafBatch]:
        """Iterate over batches on the device.

        Args:
            rows: int64 [b, n] global row numbers of b batches.

        Yields:
            The same batches of n rows as `LeafColumns.batches`.
        """
        for chosen in torch.from_numpy(rows).to(self._device):
            yield LeafBatch(*(_floats(column[chosen]) for column in self._columns))


class LeafData(lightning.LightningDataModule):
    """The data module of the leaf net; it splits leaf states by group and shuffles them.

    Groups, not rows, are drawn into the validation part. The draw hashes `split_seed` and the group's number, so
    trainings with different `seed` are measured on the same states. An epoch sets only how often there is validation
    and a checkpoint, because rows come from an endless shuffled stream. `POOL_ROWS` rows are read at a time.

    Attributes:
        continuations: [K] names of the continuations.
        label_mean: float32 [K] mean training label.
        config: settings of the data, for the manifest.
        made_from: fingerprints of the shards and of their blueprint.
    """

    VALIDATION_BATCH: ClassVar = 8192

    def __init__(
        self,
        path: str,
        batch_rows: int = 4096,
        epoch_rows: int | None = None,
        validation_share: float = 0.05,
        seed: int = 0,
        split_seed: int = 0,
        streets: Sequence[int] | None = None,
        seats: Sequence[int] | None = None,
        on_device: bool = False,
    ) -> None:
        """Select rows and split them.

        Args:
            path: directory of the shards.
            batch_rows: rows per batch.
            epoch_rows: rows per epoch; None for a whole pass.
            validation_share: share of the groups that is used for validation, 0 to 1.
            seed: seed of the order of the rows.
            split_seed: seed of the split by group.
            streets: use only states whose round on one of these streets has ended; None for all.
            seats: use only states with one of these own seats; None for all.
            on_device: store all rows in the memory of the trainer's device, or of each of several devices. The batches
                are the same.

        Raises:
            PokernetsError: a setting is out of range, or too few rows remain.
            ArtifactError: shards are missing, damaged or inconsistent.
        """
        super().__init__()
        if not 0 < validation_share < 1 or min(batch_rows, 1 if epoch_rows is None else epoch_rows) < 1:
            raise PokernetsError(
                f"data.validation_share must be between 0 and 1 (it is {validation_share}), and data.batch_rows and"
                f" data.epoch_rows must be positive (they are {batch_rows} and {epoch_rows})"
            )
        self._columns = columns = LeafColumns(path)
        chosen = columns.selected(path, streets, seats)
        sizes = {"batch_rows": batch_rows, "epoch_rows": epoch_rows, "validation_share": validation_share}
        self.config: dict[str, Any] = {**sizes, "seed": seed, "split_seed": split_seed}
        self.config |= {"streets": streets and list(streets), "seats": seats and list(seats)}
        self._on_device, self.continuations = on_device, columns.continuations
        self.made_from, self.summary = columns.made_from, columns.summary
        in_validation = held_out(columns.all("group")[chosen], validation_share, split_seed)
        self.train_rows: NDArray[np.int64] = chosen[~in_validation]
        self.validation_rows: NDArray[np.int64] = chosen[in_validation]
        if not len(self.train_rows) or not len(self.validation_rows):
            raise PokernetsError(
                f"{path}: {len(chosen)} rows leave {len(self.train_rows)} to train on and {len(self.validation_rows)} "
                f"to validate; make more leaf states or change data.validation_share (now {validation_share})"
            )
        self._shuffle = BlockShuffle(self.train_rows, min(batch_rows, len(self.train_rows)), seed, pool_rows=POOL_ROWS)
        self.epoch_batches = self._shuffle.batches_per_pass
        if epoch_rows is not None:
            self.epoch_batches = max(1, epoch_rows // self._shuffle.batch_rows)

    @property
    def counts(self) -> dict[str, Any]:
        """Counts for the manifest of a net."""
        rows = {"training_rows": len(self.train_rows), "validation_rows": len(self.validation_rows)}
        return {**rows, "label_mean": self.label_mean.tolist()}

    def train_dataloader(self) -> ShuffledLoader[LeafBatch]:
        """Return the shuffled training batches of the current epoch."""
        return ShuffledLoader(self, self._shuffle, self.epoch_batches, self._batches)

    def val_dataloader(self) -> OrderedLoader[LeafBatch]:
        """Return the validation batches."""

        def take(rows: NDArray[np.int64]) -> LeafBatch:
            return next(self._batches(rows[None]))

        return OrderedLoader(self.validation_rows, self.VALIDATION_BATCH, take, Position.of(self))

    @cached_property
    def _batches(self) -> RowBatches:
        if not self._on_device:
            return self._columns.batches
        device = torch.device("cpu") if self.trainer is None else self.trainer.strategy.root_device
        return DeviceColumns(self._columns, device).batches

    @cached_property
    def label_mean(self) -> Tensor:
        """float32 [K] mean training label: the best constant prediction under squared loss, a baseline for nets."""
        mean = np.zeros(len(self.continuations))
        for at in range(0, len(self.train_rows), 1 << 20):
            mean += self._columns.take("labels", self.train_rows[at : at + (1 << 20)]).sum(axis=0, dtype=np.float64)
        return torch.from_numpy(mean / len(self.train_rows)).float()


def held_out(groups: NDArray[np.int32], share: float, seed: int) -> NDArray[np.bool_]:
    """Decide by a hash which groups are held out for validation (splitmix64 finaliser).

    Args:
        groups: int32 [n] group of each row.
        share: share of the groups to hold out, 0 to 1.
        seed: seed of the hash.

    Returns:
        bool [n] whether each row's group is held out.
    """
    offset = np.random.SeedSequence(seed).generate_state(1, np.uint64)[0]
    mixed = groups.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + offset
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    below: NDArray[np.bool_] = mixed < np.uint64(int(share * 2.0**64))
    return below


def _floats(tensor: Tensor) -> Tensor:
    return tensor.float() if tensor.is_floating_point() else tensor
