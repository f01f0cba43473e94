"""The base of the Lightning modules: a net, its loss, and its optimiser with a schedule over the planned steps."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import lightning
import torch
from lightning.pytorch.plugins.precision import MixedPrecision
from torch import Tensor, nn

from models.training.callbacks import Export
from models.training.checkpoints import REMEDY
from poker.run.errors import PokernetsError, described

Loss = Callable[[Tensor, Tensor], Tensor]
"""Mean loss of predictions and labels, such as `torch.nn.HuberLoss`."""


class NetModule(lightning.LightningModule):
    """Training of a net; subclasses define the steps and the metrics.

    Args:
        net: maps a batch to predictions; only the net is exported.
        loss: mean loss, which training minimises.
        optimizer: creates the optimiser of the parameters, such as `torch.optim.Adam` with settings (`_partial_:
            true`).
        scheduler: creates the schedule of an optimiser, which advances every training step. Settings that are None
            become the number of planned steps. None for a constant rate.
    """

    def __init__(
        self,
        net: nn.Module,
        loss: Loss,
        optimizer: Callable[..., torch.optim.Optimizer],
        scheduler: Callable[..., Any] | None = None,
    ) -> None:
        """Store the net, the loss and the factories."""
        super().__init__()
        self.net, self.loss = net, loss
        self._optimizer, self._scheduler = optimizer, scheduler

    def parameter_groups(self) -> Iterable[Any]:
        """Return the parameters for the optimiser; subclasses may divide them into groups."""
        return self.net.parameters()

    def loss_of(self, predictions: Tensor, labels: Tensor) -> Tensor:
        """Compute the mean loss.

        Args:
            predictions: [B, outputs] predictions of the net.
            labels: [B, outputs] labels.

        Returns:
            [] the loss.

        Raises:
            PokernetsError: the loss refuses its settings, or is not a single number.
        """
        try:
            loss = self.loss(predictions, labels)
        except (RuntimeError, ValueError) as error:
            raise PokernetsError(f"model.loss: {described(error)}") from error
        if loss.dim():
            raise PokernetsError(f"model.loss must return one number, not {list(loss.shape)}; set its reduction")
        return loss

    def configure_optimizers(self) -> Any:
        """Create the optimiser and the schedule over the planned steps.

        A fused optimiser is replaced by the same one without fused steps where Lightning cannot clip its gradients.

        Raises:
            PokernetsError: the settings of the optimiser or the scheduler are invalid.
        """
        steps = self.trainer.estimated_stepping_batches
        unset = [name for name, value in getattr(self._scheduler, "keywords", {}).items() if value is None]
        if unset and not 0 < steps < math.inf:
            remedy = "set trainer.max_epochs or max_steps, and at least one batch, or model.scheduler=null"
            raise PokernetsError(f"model.scheduler needs the number of steps, which is {steps}: {remedy}")
        clips = self.trainer.gradient_clip_val and isinstance(self.trainer.precision_plugin, MixedPrecision)
        is_fused = getattr(self._optimizer, "keywords", {}).get("fused")
        try:
            optimizer = self._optimizer(self.parameter_groups(), **({"fused": False} if clips and is_fused else {}))
            if self._scheduler is None:
                return optimizer
            scheduler = self._scheduler(optimizer, **dict.fromkeys(unset, steps))
        except (TypeError, ValueError) as error:
            raise PokernetsError(f"model.optimizer or model.scheduler: {error}") from error
        if (last := getattr(scheduler, "total_steps", steps)) < steps:
            raise PokernetsError(
                f"model.scheduler.total_steps={last} is below the {steps} planned steps; set it to null"
            )
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Refuse a checkpoint with other settings or a longer training, and use the planned steps of this training.

        Raises:
            PokernetsError: the checkpoint has other settings, or more epochs or steps than this training.
        """
        for limit, trained in (("max_epochs", checkpoint["epoch"] + 1), ("max_steps", checkpoint["global_step"])):
            most = getattr(self.trainer, limit)
            if self.trainer.training and most not in (None, -1) and trained > most:
                raise PokernetsError(f"the checkpoint is at {trained}, beyond trainer.{limit}={most}: {REMEDY}")
        for callback in self.trainer.callbacks:  # type: ignore[attr-defined]
            if isinstance(callback, Export) and self.trainer.training:
                callback.check_start(checkpoint)
        for schedule in checkpoint.get("lr_schedulers", ()):
            for name in schedule.keys() - {"last_epoch", "_step_count", "_last_lr"}:
                del schedule[name]

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Scale up the gradient of an epoch's last step if it accumulates fewer batches than Lightning divides by."""
        window = self.trainer.accumulate_grad_batches
        batches = self.trainer.fit_loop.batch_idx % window + 1
        if batches < window:
            for parameter in self.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(window / batches)
