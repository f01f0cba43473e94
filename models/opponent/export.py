"""Export of a trained opponent net."""

from collections.abc import Mapping
from typing import Any

import lightning
import torch

from models.opponent.inference import OPPONENT_NET, SHARES, STAMP
from models.opponent.module import OpponentModule
from models.opponent.record import training_counts
from models.opponent.shares import shares_of_weights
from models.training.callbacks import Export
from poker.opponents.inputs.history import by_class


class OpponentNetExport(Export):
    """The callback that writes an opponent net with the record of its training.

    For a net that uses a player's past it also stores how to weight the net against the player's own counts.
    """

    kind = OPPONENT_NET

    def stamp(self, data: Any) -> Mapping[str, Any]:
        """Return the hashes of the inputs."""
        return STAMP

    def counts(self, trainer: lightning.Trainer, module: OpponentModule, metrics: dict[str, float]) -> dict[str, Any]:
        """Return the numbers of rows, the test metrics and the record of the training."""
        data: Any = trainer.datamodule  # type: ignore[attr-defined]
        rows = data.rows
        counts = {"train_rows": len(rows.train_rows), "test": {"rows": len(rows.test_rows), **metrics}}
        counts |= training_counts(rows)
        if data.base is not None:
            batches = (trainer.strategy.batch_to_device(batch) for batch in data.ordered(rows.train_rows))
            prior = torch.cat([module(batch).softmax(dim=1).cpu() for batch in batches]).double().numpy()
            counts[SHARES] = shares_of_weights(by_class(prior), rows, rows.train_rows).tolist()
        return counts
