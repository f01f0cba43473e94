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
    """Training of `net` by `loss`; subclasses define the steps and the metrics.

    Args:
        net: takes what a batch has; it alone is exported.
        loss: mean loss, which training minimises.
        optimizer: makes the optimiser of parameters, as `torch.optim.Adam` and its settings (`_partial_: true`).
        scheduler: makes the schedule of an optimiser, which advances every training step. Settings that are None
            become the number of planned steps. None: a constant rate.
    """

    def __init__(
        self,
        net: nn.Module,
        loss: Loss,
        optimizer: Callable[..., torch.optim.Optimizer],
        scheduler: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__()
        self.net, self.loss = net, loss
        self._optimizer, self._scheduler = optimizer, scheduler

    def parameter_groups(self) -> Iterable[Any]:
        """Parameters that the optimiser is given."""
        return self.net.parameters()

    def configure_optimizers(self) -> Any:
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
        """Refuse a checkpoint of other settings, and keep the planned steps of this training."""
        for callback in self.trainer.callbacks:  # type: ignore[attr-defined]
            if isinstance(callback, Export) and self.trainer.training:
                callback.check_start(checkpoint)
        for schedule in checkpoint.get("lr_schedulers", ()):
            for name in schedule.keys() - {"last_epoch", "_step_count", "_last_lr"}:
                del schedule[name]

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Enlarge the gradient of an epoch's last batches if they are fewer than Lightning divides their losses by."""
        window = self.trainer.accumulate_grad_batches
        batches = self.trainer.fit_loop.batch_idx % window + 1
        if batches < window:
            for parameter in self.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(window / batches)
