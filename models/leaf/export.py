"""Export of a trained leaf net."""

from collections.abc import Mapping
from typing import Any

import lightning

from models.training.callbacks import Export
from models.training.inference import LEAF_NET, leaf_stamp


class LeafNetExport(Export):
    """The callback that writes a leaf net; agents with the continuations of its data can load it."""

    kind = LEAF_NET

    def stamp(self, data: Any) -> Mapping[str, Any]:
        """Return the hash of the inputs, the meaning of the outputs and the continuations."""
        return leaf_stamp(data.continuations)

    def counts(self, trainer: lightning.Trainer, module: Any, metrics: dict[str, float]) -> dict[str, Any]:
        """Return the counts of the data, the number of epochs and the validation metrics."""
        data: Any = trainer.datamodule  # type: ignore[attr-defined]
        return {**data.counts, "epochs": trainer.current_epoch, "validation": metrics}
