"""Training of the leaf net as Lightning sees it: steps, optimiser and what is logged."""

from typing import Any

import lightning
import torch
from lightning.pytorch.loggers import TensorBoardLogger
from torch import Tensor

from models.figures import scatter
from models.leaf_data import LeafBatch
from models.losses import HuberLoss
from models.mlp import Mlp
from models.regression import RegressionSums
from poker.features.leaf import CONTINUATIONS

STREET_NAMES = ("preflop", "flop", "turn", "river")


class LeafModule(lightning.LightningModule):
    """Adam with a rate that falls from `learning_rate` to zero along a half cosine over the planned steps.

    Logged: Huber loss of training per continuation; of validation in all, per continuation and per street with
    continuation; `huber_of_mean`, the loss of the best constant; `label_noise`, the loss that a perfect net would
    still be charged because labels are sampled (from their standard errors); R^2; the learning rate; a scatter.
    """

    def __init__(self, net: Mlp, loss: HuberLoss, learning_rate: float, label_mean: Tensor, pictures: bool) -> None:
        super().__init__()
        self.net = net
        self.loss = loss
        self.learning_rate = learning_rate
        self.label_mean: Tensor
        self.register_buffer("label_mean", label_mean)
        self._pictures = pictures
        self._sums = RegressionSums(loss, label_mean, 0)

    def forward(self, features: Tensor) -> Tensor:
        predicted: Tensor = self.net(features)
        return predicted

    def configure_optimizers(self) -> Any:
        fused = self.device.type in ("cpu", "cuda")
        optimiser = torch.optim.Adam(self.net.parameters(), lr=self.learning_rate, fused=fused)
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=steps)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, batch: LeafBatch, index: int) -> Tensor:
        predicted = self.net(batch.features)
        loss: Tensor = self.loss(predicted, batch.labels)
        if self.trainer.global_step % self.trainer.log_every_n_steps == 0:  # type: ignore[attr-defined]
            each = self.loss.elementwise(predicted.detach(), batch.labels).mean(dim=0).tolist()
            self.log("train/huber", sum(each) / len(each))
            self.log_dict({f"train/huber/{name}": each[k] for k, name in enumerate(CONTINUATIONS)})
            self.log("train/learning_rate", self.trainer.optimizers[0].param_groups[0]["lr"])
        return loss

    def on_validation_epoch_start(self) -> None:
        rows = self.trainer.val_dataloaders.rows  # type: ignore[union-attr]
        self._sums = RegressionSums(self.loss, self.label_mean.cpu(), rows)

    def validation_step(self, batch: LeafBatch, index: int) -> None:
        self._sums.add(self.net(batch.features), batch.labels, batch.label_sem, batch.street)

    def on_validation_epoch_end(self) -> None:
        self._log_figures(figures_of(self._sums))

    def _log_figures(self, figures: dict[str, float]) -> None:
        self.log("validation/huber", figures.pop("huber"), prog_bar=True)
        self.log_dict({f"validation/{name}": value for name, value in figures.items()})
        if self._pictures and isinstance(self.logger, TensorBoardLogger):
            predicted, labels = (torch.cat(part).numpy() for part in zip(*self._sums.points, strict=True))
            image = scatter(predicted, labels, CONTINUATIONS, "pots")
            self.logger.experiment.add_image("validation/scatter", image, self.trainer.global_step, dataformats="HWC")


def figures_of(sums: RegressionSums) -> dict[str, float]:
    """What `LeafModule` says it logs of a validation pass, by name."""
    found = {
        "huber": sums.mean("huber"),
        "huber_of_mean": sums.mean("huber_of_mean"),
        "label_noise": sums.mean("noise"),
        "r2": float(sums.r_squared().mean()),
    }
    for k, name in enumerate(CONTINUATIONS):
        found[f"huber/{name}"] = float(sums.per_output("huber")[k])
        found[f"r2/{name}"] = float(sums.r_squared()[k])
    for street, each in sums.per_street("huber").items():
        for k, name in enumerate(CONTINUATIONS):
            found[f"huber/{STREET_NAMES[street]}/{name}"] = float(each[k])
    return found
