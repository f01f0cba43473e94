"""Leaf states as batches of the leaf net's training."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.training.shard_data import ShardColumns, ShardData
from poker.depth_limit.shards import columns_of, open_shards
from poker.run.errors import PokernetsError


class LeafBatch(NamedTuple):
    """n rows: features [n, 34], labels and their standard errors [n, K] in pots, street [n]."""

    features: Tensor
    labels: Tensor
    label_sem: Tensor
    street: Tensor


class LeafColumns(ShardColumns[LeafBatch]):
    """The columns of leaf states. `continuations` [K] are the names of what labels are for; `made_from` has the
    fingerprint of their blueprint too."""

    def __init__(self, root: str) -> None:
        shards = open_shards(root)
        self.continuations: tuple[str, ...] = tuple(shards[0].config["continuations"])
        super().__init__(root, shards, columns_of(len(self.continuations)), LeafBatch)
        self.made_from |= {role: source for role, source in shards[0].made_from.items() if role == "blueprint"}
        self.summary = self.summary.replace(" shards", f" shards, {len(self.continuations)} continuations", 1)


class LeafData(ShardData[LeafBatch]):
    """Batches of the leaf states at `path`. `streets` and `seats` keep only states whose ended round, or own seat, is
    among them."""

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
        columns = LeafColumns(path)
        super().__init__(
            path,
            columns,
            selected(columns, path, streets, seats),
            batch_rows=batch_rows,
            epoch_rows=epoch_rows,
            validation_share=validation_share,
            seed=seed,
            split_seed=split_seed,
            on_device=on_device,
        )
        self.config |= {"streets": streets and list(streets), "seats": seats and list(seats)}
        self.continuations = columns.continuations

    def label_mean(self) -> Tensor:
        """[K] mean training label: the best constant prediction in squares, the one that a net has to beat."""
        mean = np.zeros(len(self.continuations))
        for at in range(0, len(self.train_rows), 1 << 20):
            mean += self._columns.take("labels", self.train_rows[at : at + (1 << 20)]).sum(axis=0, dtype=np.float64)
        return torch.from_numpy(mean / len(self.train_rows)).float()


def selected(
    columns: LeafColumns, path: str, streets: Sequence[int] | None, seats: Sequence[int] | None
) -> NDArray[np.int64]:
    """Rows whose ended round is among `streets` and whose own seat is among `seats`; None keeps all."""
    keep = np.ones(len(columns), dtype=bool)
    for column, wanted in (("street", streets), ("seat", seats)):
        if wanted is not None:
            keep &= np.isin(columns.all(column), wanted)
    if not keep.any():
        raise PokernetsError(
            f"{path}: no row has street in {streets} and seat in {seats}; change data.streets or data.seats"
        )
    return np.flatnonzero(keep)
