"""What a training run shows while it goes: a rich bar with rows/s, time left and the validation loss."""

import time
from typing import Any

import lightning
from lightning.pytorch.callbacks import Callback
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

SHOW_SECONDS = 0.25


class TrainingProgress(Callback):
    """One bar over all planned epochs; `rows_per_second` counts training alone, without validation. Also logged.

    `monitor` is the logged figure that is shown beside it.
    """

    def __init__(self, batch_rows: int, monitor: str, console: Console | None = None) -> None:
        self.rows_per_second = 0.0
        self._batch_rows = batch_rows
        self._monitor = monitor
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            TextColumn("{task.fields[figures]}"),
            console=console or Console(stderr=True),
            refresh_per_second=4,
        )
        self._task: TaskID | None = None
        self._started = 0.0
        self._shown = 0.0
        self._batches = 0

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        self._progress.start()
        total = int(trainer.estimated_stepping_batches)
        self._task = self._progress.add_task("train", total=total, completed=trainer.global_step, figures="")

    def on_train_epoch_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        self._started = time.perf_counter()
        self._batches = 0

    def on_train_batch_end(
        self, trainer: lightning.Trainer, pl_module: lightning.LightningModule, *step: Any, **more: Any
    ) -> None:
        self._batches += 1
        if time.perf_counter() - self._shown > SHOW_SECONDS:
            self._update(trainer)

    def on_train_epoch_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        pl_module.log("train/rows_per_second", self.rows_per_second)

    def on_validation_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        if self._batches:
            self._update(trainer)

    def on_fit_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        self._progress.stop()

    def on_exception(
        self, trainer: lightning.Trainer, pl_module: lightning.LightningModule, exception: BaseException
    ) -> None:
        self._progress.stop()

    def _update(self, trainer: lightning.Trainer) -> None:
        self._shown = time.perf_counter()
        self.rows_per_second = self._batches * self._batch_rows / max(self._shown - self._started, 1e-9)
        if self._task is None:
            return
        value = trainer.callback_metrics.get(self._monitor)
        shown = "" if value is None else f", {self._monitor} {float(value):.5f}"
        self._progress.update(
            self._task,
            completed=trainer.global_step,
            figures=f"{self.rows_per_second / 1e3:,.0f} k rows/s{shown}",
        )
