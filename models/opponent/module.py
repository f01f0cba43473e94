"""Training of an opponent net as Lightning sees it, and how good predicted probabilities are."""

from functools import partial
from typing import Any

import lightning
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import one_hot
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassCalibrationError, MulticlassConfusionMatrix

from models.opponent.nets import CLASSES, ActionNet, OpponentBatch, SmallNet
from models.training.figures import add_figures, connections, reliability
from poker.opponents.inputs.limit import NAMES
from poker.opponents.model import CLASS_NAMES

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
    """[C] names of classes; in no-limit raises are numbered by size."""
    return [*CLASS_NAMES, *(f"{CLASS_NAMES[-1]} {size}" for size in range(2, classes - 1))]


class OpponentModule(lightning.LightningModule):
    """AdamW with a rate that rises and falls once over the planned steps; the loss is the log-loss.

    After each epoch, on the part that is not trained on: accuracy, log-loss, Brier score and calibration error. After
    the last: confusion matrix and reliability as images; for the small net its connection strengths.
    """

    def __init__(self, net: ActionNet, learning_rate: float, weight_decay: float, classes: int = CLASSES) -> None:
        super().__init__()
        self.net = net
        self.shares = shares(classes)
        self.learning_rate, self._decay = learning_rate, weight_decay
        self._seen: list[tuple[Tensor, Tensor]] = []

    def configure_optimizers(self) -> Any:
        parameters = list(self.net.parameters())
        matrices = [parameter for parameter in parameters if parameter.dim() >= DECAYED_FROM_DIMENSIONS]
        others = [parameter for parameter in parameters if parameter.dim() < DECAYED_FROM_DIMENSIONS]
        groups = [{"params": matrices, "weight_decay": self._decay}, {"params": others, "weight_decay": 0.0}]
        optimiser = torch.optim.AdamW(groups, lr=self.learning_rate, fused=self.device.type in ("cpu", "cuda"))
        steps = int(self.trainer.estimated_stepping_batches)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, self.learning_rate, total_steps=steps)
        return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}

    def forward(self, batch: OpponentBatch) -> Tensor:
        logits: Tensor = self.net(batch)
        return logits

    def training_step(self, batch: OpponentBatch, index: int) -> Tensor:
        loss = self.net.loss(batch)
        if self.trainer.global_step % self.trainer.log_every_n_steps == 0:  # type: ignore[attr-defined]
            self.log("train/log_loss", loss.detach())
        return loss

    def validation_step(self, batch: OpponentBatch, index: int) -> None:
        self._seen.append(self._measured("validation", batch))

    def test_step(self, batch: OpponentBatch, index: int) -> None:
        self._measured("test", batch)

    def _measured(self, stage: str, batch: OpponentBatch) -> tuple[Tensor, Tensor]:
        """Log the scores of a batch; its probabilities and classes."""
        probs = self(batch).softmax(dim=1).float()
        for name, value in proper_scores(probs, batch.action).items():
            prog_bar = name == "log_loss"
            self.log(f"{stage}/{name}", value, prog_bar=prog_bar, batch_size=len(probs), sync_dist=True)
        self.shares.update(probs, batch.action)
        return probs.cpu(), batch.action.cpu()

    def _log_shares(self, stage: str) -> None:
        self.log_dict({f"{stage}/{name}": value for name, value in self.shares.compute().items()})
        self.shares.reset()

    def on_validation_epoch_end(self) -> None:
        self._log_shares("validation")
        probs, action = (torch.cat(part) for part in zip(*self._seen, strict=True))
        self._seen.clear()
        if self.trainer.current_epoch + 1 == self.trainer.max_epochs:
            add_figures(self, partial(self._figures, probs, action))

    def on_test_epoch_end(self) -> None:
        self._log_shares("test")

    def _figures(self, probs: Tensor, action: Tensor) -> dict[str, Any]:
        names = class_names(probs.shape[1])
        confusion = MulticlassConfusionMatrix(len(names), normalize="true")
        confusion.update(probs, action)
        drawn = {
            "validation/confusion": confusion.plot(labels=names)[0],
            "validation/reliability": reliability(probs.numpy(), action.numpy(), names),
        }
        if isinstance(self.net, SmallNet):
            first, second = (layer.weight.detach().cpu().numpy() for layer in (self.net.first, self.net.second))
            drawn["validation/connections"] = connections(first, second, NAMES, names)
        return drawn
