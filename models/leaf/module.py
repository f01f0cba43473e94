"""Training of the leaf net as Lightning sees it: steps, optimiser and what is logged."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import huber_loss
from torchmetrics import R2Score

from models.leaf.data import LeafBatch
from models.training.figures import add_scatter
from models.training.module import NetModule
from poker.game.rules import STREET_NAMES

SCATTER_ROWS = 20_000


def loss_of_noise(deviation: Tensor, delta: float) -> Tensor:
    """The mean Huber loss of normal errors of mean 0 with these standard deviations."""
    border = delta / deviation.clamp_min(1e-6 * delta)
    density, beyond = torch.exp(-(border**2) / 2) * math.sqrt(2 / math.pi), torch.erfc(border / math.sqrt(2))
    quadratic = deviation**2 / 2 * (1 - beyond - border * density)
    return quadratic + delta * deviation * density - delta**2 / 2 * beyond


class LeafModule(NetModule):
    """Values of named continuations [K], by Adam with a rate that falls from `learning_rate` to zero along a half
    cosine over the planned steps.

    The loss is quadratic up to `huber_delta` pots, linear beyond. Logged: in training per continuation, as means over
    the interval between two entries; in validation overall, per continuation and per street with continuation;
    `huber_of_mean`, the loss of the best constant `label_mean` [K]; `label_noise`, the loss that a perfect net would
    still be charged because labels are sampled (`loss_of_noise`); R^2; a scatter of some validation rows.
    """

    def __init__(
        self,
        net: nn.Module,
        huber_delta: float,
        learning_rate: float,
        label_mean: Tensor,
        continuations: Sequence[str],
    ) -> None:
        super().__init__()
        self.net = net
        self._names = tuple(continuations)
        self.label_mean: Tensor
        self.register_buffer("label_mean", label_mean)
        self.r2 = R2Score(multioutput="raw_values")
        self._delta, self.learning_rate = huber_delta, learning_rate
        self._points: list[tuple[Tensor, Tensor]] = []

    def forward(self, features: Tensor) -> Tensor:
        predicted: Tensor = self.net(features)
        return predicted

    def configure_optimizers(self) -> Any:
        fused = self.device.type in ("cpu", "cuda")
        optimiser = torch.optim.Adam(self.net.parameters(), lr=self.learning_rate, fused=fused)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=self.planned_steps)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def training_step(self, batch: LeafBatch, index: int) -> Tensor:
        predicted = self(batch.features)
        loss = huber_loss(predicted, batch.labels, delta=self._delta)
        losses = self.interval_mean(self._losses(predicted.detach(), batch.labels).mean(dim=0))
        if losses is not None:
            by_name = {f"train/huber/{name}": losses[k] for k, name in enumerate(self._names)}
            self.log_dict({"train/huber": losses.mean(), **by_name}, sync_dist=True)
        return loss

    def validation_step(self, batch: LeafBatch, index: int) -> None:
        predicted = self(batch.features).float()
        self._log_means(predicted, batch)
        stride = max(1, sum(self.trainer.num_val_batches) * len(predicted) // SCATTER_ROWS)
        self._points.append((predicted[::stride].cpu(), batch.labels[::stride].cpu()))

    def _log_means(self, predicted: Tensor, batch: LeafBatch) -> None:
        """Means over all batches, which Lightning weighs by their rows."""
        labels, rows = batch.labels, len(batch.labels)
        losses = self._losses(predicted, labels)
        baseline = self._losses(self.label_mean.expand_as(labels), labels)
        noise = loss_of_noise(batch.label_sem, self._delta)
        means = {"huber_of_mean": baseline.mean(), "label_noise": noise.mean()}
        means |= {f"huber/{name}": losses[:, k].mean() for k, name in enumerate(self._names)}
        self.log("validation/huber", losses.mean(), prog_bar=True, batch_size=rows, sync_dist=True)
        logged = [(means, rows)]
        for street in set(batch.street.tolist()):
            ended, of = losses[batch.street == street], f"huber/{STREET_NAMES[street]}"
            logged.append(({f"{of}/{name}": ended[:, k].mean() for k, name in enumerate(self._names)}, len(ended)))
        for values, count in logged:
            named = {f"validation/{name}": value for name, value in values.items()}
            self.log_dict(named, on_step=False, on_epoch=True, batch_size=count, sync_dist=True)
        self.r2.update(predicted, labels)

    def _losses(self, predicted: Tensor, labels: Tensor) -> Tensor:
        """Huber losses [n, K]."""
        return huber_loss(predicted, labels, delta=self._delta, reduction="none")

    def on_validation_epoch_end(self) -> None:
        r2 = self.r2.compute()
        self.r2.reset()
        self.log("validation/r2", r2.mean())
        self.log_dict({f"validation/r2/{name}": r2[k] for k, name in enumerate(self._names)})
        add_scatter(self, self._points, self._names)
