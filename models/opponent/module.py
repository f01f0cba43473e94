"""The Lightning module of opponent nets, and scores of predicted probabilities."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot
from torchmetrics import MetricCollection
from torchmetrics.classification import MulticlassAccuracy, MulticlassCalibrationError

from models.opponent.nets import ActionNet, OpponentBatch
from models.training.module import Loss, NetModule
from poker.kernels.types import I64, Floats
from poker.run.errors import PokernetsError

DECAYED_FROM_DIMENSIONS = 2
"""Parameters with at least this many dimensions have weight decay."""


def log_losses(probs: Tensor, action: Tensor) -> Tensor:
    """Compute -ln of the probability of the observed action.

    Args:
        probs: [n, C] probabilities.
        action: int64 [n] classes.

    Returns:
        [n] losses.
    """
    return -probs.gather(1, action[:, None])[:, 0].clamp_min(1e-12).log()


def proper_scores(probs: Tensor, action: Tensor) -> dict[str, Tensor]:
    """Compute the mean log-loss and the Brier score, the mean squared distance to the observed action.

    Args:
        probs: [n, C] probabilities.
        action: int64 [n] classes.
    """
    brier = (probs - one_hot(action, probs.shape[1])).square().sum(dim=1)
    return {"log_loss": log_losses(probs, action).mean(), "brier": brier.mean()}


def shares_of(classes: int) -> MetricCollection:
    """Return metrics for accuracy and expected calibration error (15 bins of the largest probability).

    Args:
        classes: number of classes C.
    """
    return MetricCollection(
        {
            "accuracy": MulticlassAccuracy(classes, average="micro"),
            "calibration": MulticlassCalibrationError(classes, n_bins=15, norm="l1"),
        }
    )


def score(probs: Tensor | Floats, action: Tensor | I64) -> dict[str, float]:
    """Compute all scores of predictions, as means over decisions.

    Args:
        probs: [n, C] probabilities.
        action: int64 [n] classes.
    """
    probs, action = torch.as_tensor(probs), torch.as_tensor(action)
    scores = {**proper_scores(probs, action), **shares_of(probs.shape[1])(probs, action)}
    return {"rows": len(action), **{name: float(value) for name, value in scores.items()}}


class OpponentModule(NetModule):
    """Training of an `ActionNet`; the loss is the mean over the members of an ensemble.

    Matrices have weight decay, biases have none. Training logs the loss. After each epoch the test part gives accuracy,
    log-loss, Brier score, calibration error and `log_loss_of_mean`, the log-loss of the best constant prediction.
    """

    net: ActionNet

    def __init__(
        self,
        net: nn.Module,
        loss: Loss,
        optimizer: Callable[..., torch.optim.Optimizer],
        scheduler: Callable[..., Any] | None = None,
    ) -> None:
        """Prepare the training.

        Args:
            net: the `ActionNet` to train.
            loss: mean loss, which training minimises.
            optimizer: creates the optimiser of the parameters.
            scheduler: creates the schedule of an optimiser; None for a constant rate.

        Raises:
            PokernetsError: the net is not an `ActionNet`.
        """
        super().__init__(net, loss, optimizer, scheduler)
        if not isinstance(net, ActionNet):
            raise PokernetsError(
                f"{type(net).__name__} does not predict actions: choose another net, or derive it from ActionNet"
            )

    def setup(self, stage: str) -> None:
        """Read the action frequencies from the data and check the net.

        Raises:
            PokernetsError: the net has another number of classes than the rows.
        """
        data: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        shares = torch.from_numpy(data.rows.class_shares())
        self.class_shares: Tensor
        self.register_buffer("class_shares", shares, persistent=False)
        self.shares = shares_of(len(shares))
        with torch.no_grad():
            classes = self.net.eval()(next(iter(data.val_dataloader()))).shape[1]
        if classes != len(shares):
            problem = f"the rows have {len(shares)} classes of actions and the net gives {classes}"
            raise PokernetsError(f"{problem}: set net.classes={len(shares)}")
        self.net.train()

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return matrices with weight decay and biases without."""
        parameters = list(self.net.parameters())
        matrices = [parameter for parameter in parameters if parameter.dim() >= DECAYED_FROM_DIMENSIONS]
        others = [parameter for parameter in parameters if parameter.dim() < DECAYED_FROM_DIMENSIONS]
        return [{"params": matrices}, {"params": others, "weight_decay": 0.0}]

    def forward(self, batch: OpponentBatch) -> Tensor:
        """Return the logits [n, C] of a batch."""
        logits: Tensor = self.net(batch)
        return logits

    def training_step(self, batch: OpponentBatch, index: int) -> Tensor:
        """Return the mean loss of the ensemble's members, from logits [n, C], and log it."""
        losses = [self.loss_of(logits, batch.action) for logits in self.net.member_logits(batch)]
        loss = torch.stack(losses).mean()
        self.log("train/log_loss", loss)
        return loss

    def validation_step(self, batch: OpponentBatch, index: int) -> None:
        """Log the scores of a batch."""
        probs = self(batch).softmax(dim=1).float()
        constant = log_losses(self.class_shares.expand_as(probs), batch.action).mean()
        for name, value in {**proper_scores(probs, batch.action), "log_loss_of_mean": constant}.items():
            prog_bar = name == "log_loss"
            self.log(f"validation/{name}", value, prog_bar=prog_bar, batch_size=len(probs), sync_dist=True)
        self.shares.update(probs, batch.action)

    def on_validation_epoch_end(self) -> None:
        """Log accuracy and calibration error over all test rows."""
        self.log_dict({f"validation/{name}": value for name, value in self.shares.compute().items()})
        self.shares.reset()
