"""Training of the leaf net as Lightning sees it: steps, optimiser and what is logged."""

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
    """The mean Huber loss of normal errors of mean 0 with these standard deviations."""
    border = delta / deviation.clamp_min(1e-6 * delta)
    density, beyond = torch.exp(-(border**2) / 2) * math.sqrt(2 / math.pi), torch.erfc(border / math.sqrt(2))
    quadratic = deviation**2 / 2 * (1 - beyond - border * density)
    return quadratic + delta * deviation * density - delta**2 / 2 * beyond


def check_outputs(net: nn.Module, outputs: int) -> None:
    """Raise PokernetsError unless a net takes the features of leaf states and gives so many values."""
    try:
        with torch.no_grad():
            shape = str(list(net.eval()(torch.zeros(2, inputs.SIZE)).shape))
    except (AttributeError, RuntimeError, TypeError) as error:
        shape = of_user_code(error) or " ".join(str(error).split())
    if shape != str([2, outputs]):
        needed = f"a leaf net takes [n, {inputs.SIZE}] and gives [n, {outputs}]"
        raise PokernetsError(f"{needed}; for [2, {inputs.SIZE}] {type(net).__name__} gives: {shape}")
    net.train()


class LeafModule(NetModule):
    """Training of a net that gives the values of K continuations; its data have the `continuations` and `label_mean`.

    Logged: in training `loss`; in validation Huber losses (quadratic up to `huber_delta` pots, linear beyond) overall,
    per continuation and per street with continuation; `huber_of_mean`, the loss of the best constant, the mean label;
    `label_noise`, the loss that a perfect net would still be charged because labels are sampled (`loss_of_noise`);
    R^2.
    """

    def __init__(
        self,
        net: nn.Module,
        loss: Loss,
        optimizer: Callable[..., torch.optim.Optimizer],
        scheduler: Callable[..., Any] | None = None,
        huber_delta: float = 1.0,
    ) -> None:
        super().__init__(net, loss, optimizer, scheduler)
        self._delta, self.r2 = huber_delta, R2Score(multioutput="raw_values")

    def setup(self, stage: str) -> None:
        data: Any = self.trainer.datamodule  # type: ignore[attr-defined]
        self._names = tuple(data.continuations)
        self.label_mean: Tensor
        self.register_buffer("label_mean", data.label_mean, persistent=False)
        if stage == "fit":
            check_outputs(self.net, len(self._names))

    def forward(self, features: Tensor) -> Tensor:
        predicted: Tensor = self.net(features)
        return predicted

    def training_step(self, batch: LeafBatch, index: int) -> Tensor:
        loss = self.loss(self(batch.features), batch.labels)
        self.log("train/loss", loss)
        return loss

    def validation_step(self, batch: LeafBatch, index: int) -> None:
        """Log means over all batches, which Lightning weighs by their rows."""
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
        """Huber losses [n, K]."""
        return huber_loss(predicted, labels, delta=self._delta, reduction="none")

    def on_validation_epoch_end(self) -> None:
        r2 = self.r2.compute()
        self.r2.reset()
        self.log("validation/r2", r2.mean())
        self.log_dict({f"validation/r2/{name}": r2[k] for k, name in enumerate(self._names)})
