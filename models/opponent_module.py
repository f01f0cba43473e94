"""Training of an opponent net as Lightning sees it."""

from typing import Any

import lightning
import numpy as np
import torch
from lightning.pytorch.loggers import TensorBoardLogger
from torch import Tensor

from models import figures
from models.classification import confusion, score
from models.opponent_data import OpponentBatch
from models.opponent_nets import OpponentNetModule, SmallNet
from poker.features.opponent import NAMES
from poker.opponents.predictor import CLASS_NAMES

DECAYED_FROM_DIMENSIONS = 2
"""Weights of matrices decay, biases do not."""


class OpponentModule(lightning.LightningModule):
    """AdamW with a rate that rises and falls once over the planned steps; the loss is the log-loss.

    After each epoch, on the test part: accuracy, log-loss, Brier score and calibration error. After the last: confusion
    matrix and reliability as images; for the small net its connection strengths.
    """

    def __init__(self, net: OpponentNetModule, learning_rate: float, weight_decay: float) -> None:
        super().__init__()
        self.net = net
        self._rate, self._decay = learning_rate, weight_decay
        self._seen: list[tuple[Tensor, Tensor]] = []

    def configure_optimizers(self) -> Any:
        parameters = list(self.net.parameters())
        matrices = [parameter for parameter in parameters if parameter.dim() >= DECAYED_FROM_DIMENSIONS]
        others = [parameter for parameter in parameters if parameter.dim() < DECAYED_FROM_DIMENSIONS]
        groups = [{"params": matrices, "weight_decay": self._decay}, {"params": others, "weight_decay": 0.0}]
        optimiser = torch.optim.AdamW(groups, lr=self._rate, fused=self.device.type in ("cpu", "cuda"))
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, self._rate, total_steps=steps)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, batch: OpponentBatch, index: int) -> Tensor:
        loss = self.net.loss(batch)
        if self.trainer.global_step % self.trainer.log_every_n_steps == 0:  # type: ignore[attr-defined]
            self.log("train/log_loss", loss.detach())
        return loss

    def on_validation_epoch_start(self) -> None:
        self._seen = []

    def validation_step(self, batch: OpponentBatch, index: int) -> None:
        self._seen.append((self.net(batch).softmax(dim=1).cpu(), batch.action.cpu()))

    def on_validation_epoch_end(self) -> None:
        probs, action = (torch.cat(part).numpy() for part in zip(*self._seen, strict=True))
        found = score(probs.astype(np.float64), action)
        self.log("test/log_loss", found.log_loss)
        self.log_dict({f"test/{name}": getattr(found, name) for name in ("accuracy", "brier", "calibration")})
        last = self.trainer.current_epoch + 1 == self.trainer.max_epochs
        if last and isinstance(self.logger, TensorBoardLogger):
            images = {
                "confusion": figures.confusion(confusion(probs, action), CLASS_NAMES),
                "reliability": figures.reliability(probs, action, CLASS_NAMES),
            }
            if isinstance(self.net, SmallNet):
                first, second = (layer.weight.detach().cpu().numpy() for layer in (self.net.first, self.net.second))
                images["connections"] = figures.connections(first, second, NAMES, CLASS_NAMES)
            for name, image in images.items():
                self.logger.experiment.add_image(f"test/{name}", image, self.trainer.global_step, dataformats="HWC")
