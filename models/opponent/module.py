"""Training of an opponent net as Lightning sees it, and how good predicted probabilities are."""

from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassCalibrationError, MulticlassConfusionMatrix

from models.opponent.nets import ActionNet, OpponentBatch, SmallNet
from models.training.figures import add_figures, connections, reliability
from models.training.module import NetModule
from poker.opponents.inputs.limit import NAMES
from poker.opponents.inputs.no_limit import SIZE_NAMES
from poker.opponents.model import CLASS_NAMES, NUM_CLASSES

DECAYED_FROM_DIMENSIONS = 2
"""Weights of matrices decay, biases do not."""


def log_losses(probs: Tensor, action: Tensor) -> Tensor:
    """[n] -ln of the probability of what happened; probabilities [n, C], classes [n]."""
    return -probs.gather(1, action[:, None])[:, 0].clamp_min(1e-12).log()


def proper_scores(probs: Tensor, action: Tensor) -> dict[str, Tensor]:
    """Mean log-loss, and Brier score: mean squared distance to what happened."""
    brier = (probs - one_hot(action, probs.shape[1])).square().sum(dim=1)
    return {"log_loss": log_losses(probs, action).mean(), "brier": brier.mean()}


def shares(classes: int) -> MetricCollection:
    """Accuracy and expected calibration error (15 bins of the most probable class's probability)."""
    return MetricCollection(
        {
            "accuracy": MulticlassAccuracy(classes, average="micro"),
            "calibration": MulticlassCalibrationError(classes, n_bins=15, norm="l1"),
        }
    )


def score(probs: Tensor | NDArray[np.float64], action: Tensor | NDArray[np.int64]) -> dict[str, float]:
    """Scores of probabilities, as means over decisions."""
    probs, action = torch.as_tensor(probs), torch.as_tensor(action)
    scores = {**proper_scores(probs, action), **shares(probs.shape[1])(probs, action)}
    return {"rows": len(action), **{name: float(value) for name, value in scores.items()}}


def class_names(classes: int) -> list[str]:
    """[C] names of classes; in no-limit raises have their sizes."""
    if classes == NUM_CLASSES:
        return [*CLASS_NAMES]
    return [*CLASS_NAMES[:-1], *(f"{CLASS_NAMES[-1]} {size}" for size in SIZE_NAMES)]


class OpponentModule(NetModule):
    """AdamW with a rate that rises and falls once over the planned steps; the loss is the log-loss.

    Logged: in training the loss, as its mean over the interval between two entries; after each epoch, on the part that
    is not trained on, accuracy, log-loss, Brier score, calibration error and `log_loss_of_mean`, the log-loss of the
    best constant `class_shares` [C]. After the last: confusion matrix and reliability as images; for the small net its
    connection strengths.
    """

    net: ActionNet

    def __init__(self, net: ActionNet, learning_rate: float, weight_decay: float, class_shares: Tensor) -> None:
        super().__init__()
        self.net = net
        self.class_shares: Tensor
        self.register_buffer("class_shares", class_shares, persistent=False)
        self.shares = shares(len(class_shares))
        self.learning_rate, self._decay = learning_rate, weight_decay
        self._seen: list[tuple[Tensor, Tensor]] = []

    def configure_optimizers(self) -> Any:
        parameters = list(self.net.parameters())
        matrices = [parameter for parameter in parameters if parameter.dim() >= DECAYED_FROM_DIMENSIONS]
        others = [parameter for parameter in parameters if parameter.dim() < DECAYED_FROM_DIMENSIONS]
        groups = [{"params": matrices, "weight_decay": self._decay}, {"params": others, "weight_decay": 0.0}]
        optimiser = torch.optim.AdamW(groups, lr=self.learning_rate, fused=self.device.type in ("cpu", "cuda"))
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, self.learning_rate, total_steps=self.planned_steps)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def forward(self, batch: OpponentBatch) -> Tensor:
        logits: Tensor = self.net(batch)
        return logits

    def training_step(self, batch: OpponentBatch, index: int) -> Tensor:
        loss = self.net.loss(batch)
        if (mean := self.interval_mean(loss)) is not None:
            self.log("train/log_loss", mean, sync_dist=True)
        return loss

    def validation_step(self, batch: OpponentBatch, index: int) -> None:
        probs = self(batch).softmax(dim=1).float()
        constant = log_losses(self.class_shares.expand_as(probs), batch.action).mean()
        for name, value in {**proper_scores(probs, batch.action), "log_loss_of_mean": constant}.items():
            prog_bar = name == "log_loss"
            self.log(f"validation/{name}", value, prog_bar=prog_bar, batch_size=len(probs), sync_dist=True)
        self.shares.update(probs, batch.action)
        self._seen.append((probs.cpu(), batch.action.cpu()))

    def on_validation_epoch_end(self) -> None:
        self.log_dict({f"validation/{name}": value for name, value in self.shares.compute().items()})
        self.shares.reset()
        probs, action = (torch.cat(part) for part in zip(*self._seen, strict=True))
        self._seen.clear()
        if self.trainer.current_epoch + 1 == self.trainer.max_epochs:
            add_figures(self, partial(self._figures, probs, action))

    def _figures(self, probs: Tensor, action: Tensor) -> dict[str, Any]:
        rows = action.bincount(minlength=probs.shape[1]).tolist()
        names = [f"{name} ({count:,})" for name, count in zip(class_names(len(rows)), rows, strict=True)]
        confusion = MulticlassConfusionMatrix(len(names), normalize="true")
        confusion.update(probs, action)
        drawn = {
            "validation/confusion": confusion.plot(labels=names)[0],
            "validation/reliability": reliability(probs.numpy(), action.numpy(), names),
        }
        if isinstance(self.net, SmallNet):
            first, second = (layer.weight.detach().cpu().numpy() for layer in (self.net.first, self.net.second))
            drawn["validation/connections"] = connections(first, second, NAMES, class_names(len(rows)))
        return drawn
