"""Progress of training in a log, where Lightning's bars show nothing until the end."""

from typing import Any

import lightning
from lightning.pytorch import callbacks
from rich.console import Console
from rich.progress import Progress

from poker.progress import progress_bars


class ProgressInLogs(callbacks.Callback):
    """Prints a line now and then with the epochs so far, the time left and the losses, where stderr is no terminal."""

    def __init__(self, metrics_format: str) -> None:
        self._format = metrics_format
        self._lines: Progress | None = None

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        console = Console(stderr=True)
        if trainer.is_global_zero and not console.is_terminal:
            self._lines = progress_bars("epochs", console)
            total = max(trainer.max_epochs or 0, 0)
            self._lines.add_task("training", total=total, completed=trainer.current_epoch, found="")
            self._lines.start()

    def on_train_batch_end(
        self, trainer: lightning.Trainer, pl_module: lightning.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        self._update(trainer, trainer.current_epoch + (batch_idx + 1) / trainer.num_training_batches)

    def on_train_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        self._update(trainer, trainer.current_epoch)
        self._stop()

    def on_exception(
        self, trainer: lightning.Trainer, pl_module: lightning.LightningModule, exception: BaseException
    ) -> None:
        self._stop()

    def _update(self, trainer: lightning.Trainer, epochs: float) -> None:
        if self._lines is not None:
            metrics = trainer.progress_bar_metrics.items()
            told = [f"{name} {value:{self._format}}" for name, value in metrics if isinstance(value, float)]
            self._lines.update(self._lines.task_ids[0], completed=epochs, found="  ".join(told))

    def _stop(self) -> None:
        if self._lines is not None:
            self._lines.stop()
            self._lines = None
