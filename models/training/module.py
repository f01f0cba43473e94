"""The base of the Lightning modules: a net, its loss, and its optimiser with a schedule over the planned steps."""

from collections.abc import Callable, Iterable
from typing import Any

import lightning
import torch
from torch import Tensor, nn

from models.training.callbacks import Export
from poker.run.errors import PokernetsError

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

    def configure_optimizers(self) -> Any:
        """Create the optimiser and the schedule over the planned steps.

        Raises:
            PokernetsError: the settings of the optimiser or the scheduler are invalid.
        """
        try:
            optimizer = self._optimizer(self.parameter_groups())
            if self._scheduler is None:
                return optimizer
            settings = getattr(self._scheduler, "keywords", {})
            steps = int(self.trainer.estimated_stepping_batches)
            planned = {name: steps for name, value in settings.items() if value is None}
            scheduler = self._scheduler(optimizer, **planned)
        except (TypeError, ValueError) as error:
            raise PokernetsError(f"model.optimizer or model.scheduler: {error}") from error
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step"}}

    def on_load_checkpoint(self, checkpoint: dict[str, Any]) -> None:
        """Refuse a checkpoint with other settings, and use the planned steps of this training.

        Raises:
            PokernetsError: the checkpoint has other settings.
        """
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
