"""The loop around every training here: checkpoints, exact resume, early stopping, logs, progress.

`fit` keeps all it needs in one directory: `checkpoints/last.ckpt` after every epoch (written whole or not at all),
the best epoch beside it, TensorBoard events. Called again after an interruption of any kind it goes on from the last
epoch and ends in the same weights, because batches are a function of (seed, epoch) and nothing else is random.
"""

import logging
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from lightning.pytorch.loggers import TensorBoardLogger

from models.progress import TrainingProgress
from poker.errors import PokernetsError


@dataclass(frozen=True)
class TrainerSettings:
    """`threads` None: as many as torch takes by itself. `patience`: epochs without a better validation loss."""

    max_epochs: int
    patience: int
    accelerator: str = "auto"
    threads: int | None = None
    log_every_steps: int = 50

    def config(self) -> dict[str, Any]:
        """What of this shapes the result."""
        return {name: value for name, value in asdict(self).items() if name in ("max_epochs", "patience")}


@dataclass(frozen=True)
class Fitted:
    """`weights`: state_dict of the epoch with the lowest validation loss, or of the last one; `epochs` in all."""

    weights: dict[str, torch.Tensor]
    epochs: int
    rows_per_second: float

    def part(self, name: str) -> dict[str, torch.Tensor]:
        """State of the module's attribute `name`."""
        start = f"{name}."
        return {key.removeprefix(start): value for key, value in self.weights.items() if key.startswith(start)}


class _Stopping(EarlyStopping):
    """Early stopping that stays stopped when a run that was killed after it is started again."""

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        trainer.should_stop = trainer.should_stop or self.stopped_epoch > 0


def fit(
    module: lightning.LightningModule,
    data: lightning.LightningDataModule,
    *,
    directory: Path,
    settings: TrainerSettings,
    monitor: str,
    batch_rows: int,
    best: bool = True,
) -> Fitted:
    """Train `module`, from the last checkpoint in `directory` where there is one, and return its weights.

    `best`: stop early and take the epoch with the lowest `monitor`; else all epochs are run and the last is taken.
    """
    quiet()
    if settings.threads is not None:
        torch.set_num_threads(settings.threads)
    checkpoints = ModelCheckpoint(
        dirpath=directory / "checkpoints",
        filename="{epoch}",
        monitor=monitor,
        save_last=True,
        save_on_train_epoch_end=True,
        enable_version_counter=False,
    )
    progress = TrainingProgress(batch_rows, monitor)
    trainer = lightning.Trainer(
        accelerator=settings.accelerator,
        devices=1,
        max_epochs=settings.max_epochs,
        callbacks=[checkpoints, progress, *([_Stopping(monitor, patience=settings.patience)] if best else [])],
        logger=TensorBoardLogger(directory, name="", version="tensorboard"),
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
        log_every_n_steps=settings.log_every_steps,
    )
    last = directory / "checkpoints" / "last.ckpt"
    trainer.fit(module, datamodule=data, ckpt_path=last if last.exists() else None, weights_only=True)
    if trainer.interrupted:
        raise KeyboardInterrupt
    loss = checkpoints.best_model_score
    if loss is None or not torch.isfinite(loss):
        raise PokernetsError(f"{monitor} is {loss}: training diverged; lower model.learning_rate (logs: {directory})")
    chosen = checkpoints.best_model_path if best else last
    weights = torch.load(chosen, weights_only=True, map_location="cpu")["state_dict"]
    return Fitted(weights, trainer.current_epoch, progress.rows_per_second)


def quiet() -> None:
    """Keep Lightning's tips and its advice on data loader workers (ours needs none) off the screen."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", module="lightning")
