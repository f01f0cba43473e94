"""The export of a trained leaf net."""

from collections.abc import Mapping
from typing import Any

import lightning

from models.training.callbacks import Export
from models.training.inference import LEAF_NET, leaf_stamp


class LeafNetExport(Export):
    """Writes a leaf net, which is loaded by agents whose continuations are those of its data."""

    kind = LEAF_NET

    def stamp(self, data: Any) -> Mapping[str, Any]:
        return leaf_stamp(data.continuations)

    def counts(self, trainer: lightning.Trainer, module: Any, metrics: dict[str, float]) -> dict[str, Any]:
        data: Any = trainer.datamodule  # type: ignore[attr-defined]
        return {**data.counts, "epochs": trainer.current_epoch, "validation": metrics}
