"""The base of both Lightning modules: what they log in training, and how they go on from another run's checkpoint."""

from pathlib import Path
from typing import Any

import lightning
import torch
from torch import Tensor, nn


def resumes_itself(trainer: lightning.Trainer) -> bool:
    """Whether the trainer started from a checkpoint of its own run, or from none."""
    return trainer.ckpt_path is None or Path(str(trainer.ckpt_path)).is_relative_to(trainer.default_root_dir)


class NetModule(lightning.LightningModule):
    """Training of a `net` as Lightning sees it; subclasses define the steps, the metrics and the optimiser."""

    net: nn.Module

    def __init__(self) -> None:
        super().__init__()
        self._entry, self._sum, self._batches = -1, Tensor(), 0

    def interval_mean(self, losses: Tensor) -> Tensor | None:
        """Average the training losses between two log entries.

        Args:
            losses: [...] losses of the current batch.

        Returns:
            [...] mean over the batches since the last entry, at the steps that Lightning writes; None at others.
        """
        steps, interval = self.trainer.global_step, max(1, self.trainer.log_every_n_steps)  # type: ignore[attr-defined]
        if steps // interval != self._entry:
            self._entry, self._sum, self._batches = steps // interval, losses.new_zeros(losses.shape), 0
        self._sum += losses.detach()
        self._batches += 1
        return self._sum / self._batches if (steps + 1) % interval == 0 else None

    @property
    def planned_steps(self) -> int:
        """Steps of the whole training: the steps taken so far and the steps of the remaining epochs."""
        planned, trainer = int(self.trainer.estimated_stepping_batches), self.trainer
        if not trainer.global_step:
            return planned
        return trainer.global_step + round(planned * (1 - trainer.current_epoch / (trainer.max_epochs or 1)))

    def on_train_start(self) -> None:
        """Replace the rates of another run's checkpoint by this run's, at the step that the checkpoint has reached."""
        if resumes_itself(self.trainer):
            return
        own: Any = self.configure_optimizers()
        optimiser, schedule = own["optimizer"], own["lr_scheduler"]["scheduler"]
        optimiser.step()  # changes nothing without gradients; torch warns of schedules that step before it
        for _ in range(self.trainer.global_step):
            schedule.step()
        self.trainer.lr_scheduler_configs[0].scheduler.load_state_dict(schedule.state_dict())
        for group, own_group in zip(self.trainer.optimizers[0].param_groups, optimiser.param_groups, strict=True):
            group.update({name: value for name, value in own_group.items() if name != "params"})

    def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
        """Enlarge the gradient of an epoch's last batches if they are fewer than Lightning divides their losses by."""
        window = self.trainer.accumulate_grad_batches
        batches = self.trainer.fit_loop.batch_idx % window + 1
        if batches < window:
            for parameter in self.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(window / batches)
