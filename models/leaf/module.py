"""The Lightning module of the leaf net: steps, optimiser and logged metrics."""

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import huber_loss
from torchmetrics import R2Score

from models.leaf.data import LeafBatch
from models.training.module import Loss, NetModule
from poker.depth_limit import inputs
from poker.game.rules import STREET_NAMES
from poker.run.errors import PokernetsError, of_user_code


def loss_of_noise(deviation: Tensor, delta: float) -> Tensor:
    """Compute the mean Huber loss of normally distributed errors with mean 0.

    Args:
        deviation: [...] standard deviations of the errors.
        delta: threshold of the Huber loss.

    Returns:
        [...] expected losses.
    """
    border = delta / deviation.clamp_min(1e-6 * delta)
    density, beyond = torch.exp(-(border**2) / 2) * math.sqrt(2 / math.pi), torch.erfc(border / math.sqrt(2))
    quadratic = deviation**2 / 2 * (1 - beyond - border * density)
    return quadratic + delta * deviation * density - delta**2 / 2 * beyond


def check_outputs(net: nn.Module, outputs: int) -> None:
    """Check that a net maps the features of leaf states to the right number of values.

    Args:
        outputs: number of values K.

    Raises:
        PokernetsError: the net fails on [2, 34] features or returns another shape than [2, K].
    """
    try:
        with torch.no_grad():
            shape = str(list(net.eval()(torch.zeros(2, inputs.SIZE)).shape))
    except (AttributeError, RuntimeError, TypeError) as error:
        shape = of_user_code(error) or " ".join(str(error).split())
    if shape != str([2, outputs]):
        needed = f"a leaf net takes [n, {inputs.SIZE}] and returns [n, {outputs}]"
        raise PokernetsError(f"{needed}; for [2, {inputs.SIZE}] {type(net).__name__} gives: {shape}")
    net.train()


class LeafModule(NetModule):
    """Training of a net that predicts the values of K continuations.

    The data module must have `continuations` and `label_mean`. Training logs `loss`. Validation logs Huber losses
    (quadratic up to `huber_delta` pots, linear beyond): overall, per continuation, and per street and continuation. It
    also logs

    - `huber_of_mean`, the loss of the best constant prediction, the mean label;
    - `label_noise`, the loss of a perfect net, which is positive because labels are sampled (`loss_of_noise`);
    - R^2, overall and per continuation.
    """

    def __init__(
        self,
        net: nn.Module,
        loss: Loss,
        optimizer: Callable[..., torch.optim.Optimizer],
        scheduler: Callable[..., Any] | None = None,
        huber_delta: float = 1.0,
    ) -> None:
        """Prepare the training.

        Args:
            net: maps features [n, 34] to values [n, K] in pots.
            loss: mean loss, which training minimises.
            optimizer: creates the optimiser of the parameters.
            scheduler: creates the schedule of an optimiser; None for a constant rate.
            huber_delta: threshold of the logged Huber losses, in pots.
        """
        super().__init__(net, loss, optimizer, scheduler)
        self._delta, self.r2 = huber_delta, R2Score(multioutput="raw_values")

    def setup(self, stage: str) -> None:
        """Read the continuations and the mean label from the data, and check the net before training.

        Raises:
            PokernetsError: the net does not have one output per continuation.
        """
        data: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        self._names = tuple(data.continuations)
        self.label_mean: Tensor
        self.register_buffer("label_mean", data.label_mean, persistent=False)
        if stage == "fit":
            check_outputs(self.net, len(self._names))

    def forward(self, features: Tensor) -> Tensor:
        """Predict values [n, K] in pots from features [n, 34]."""
        predicted: Tensor = self.net(features)
        return predicted

    def training_step(self, batch: LeafBatch, index: int) -> Tensor:
        """Return the loss of a batch, with labels [n, K], and log it."""
        loss = self.loss_of(self(batch.features), batch.labels)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch: LeafBatch, index: int) -> None:
        """Log means over all batches; Lightning weights batches by their rows."""
        predicted = self(batch.features).float()
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
        """Return the Huber losses [n, K]."""
        return huber_loss(predicted, labels, delta=self._delta, reduction="none")

    def on_validation_epoch_end(self) -> None:
        """Log R^2 over all validation rows."""
        r2 = self.r2.compute()
        self.r2.reset()
        self.log("validation/r2", r2.mean())
        self.log_dict({f"validation/r2/{name}": r2[k] for k, name in enumerate(self._names)})
