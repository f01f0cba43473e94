"""Loggers of training, whose folder is the run's, and the line at its end."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import torch
from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger
from rich.console import Console
from torch import Tensor

Loggers = bool | Logger | partial[Logger] | Sequence[Logger | partial[Logger]]
"""Loggers as `lightning.Trainer` takes them; a partial logger gets its folder here."""


def console() -> Console:
    """Standard error, of the first of several processes alone."""
    return Console(stderr=True, quiet=os.environ.get("LOCAL_RANK", "0") != "0")


def in_folder(loggers: Loggers | None, directory: Path) -> bool | list[Logger] | None:
    """The `loggers`, those without a folder in `directory`."""
    if loggers is None or isinstance(loggers, bool):
        return loggers
    several = loggers if isinstance(loggers, Sequence) else [loggers]
    return [logger(save_dir=directory) if isinstance(logger, partial) else logger for logger in several]


def add_figures(module: lightning.LightningModule, draw: Callable[[], Mapping[str, Any]]) -> None:
    """Figures by name, drawn if the module has loggers that take figures."""
    boards = [logger.experiment for logger in module.loggers if isinstance(logger, TensorBoardLogger)]
    for name, figure in draw().items() if boards else ():
        for board in boards:
            board.add_figure(name, figure, module.trainer.global_step)


def add_scatter(module: lightning.LightningModule, points: list[tuple[Tensor, Tensor]], names: Sequence[str]) -> None:
    """A scatter of the `points` of an epoch, predictions and labels [n, K]; the list is emptied."""
    predicted, labels = (torch.cat(part).numpy() for part in zip(*points, strict=True))
    points.clear()

    def draw() -> dict[str, Any]:
        from models.figures import scatter  # noqa: PLC0415 (matplotlib only where a picture is drawn)

        return {"validation/scatter": scatter(predicted, labels, names)}

    add_figures(module, draw)


def ending(trainer: lightning.Trainer, best_epoch: int) -> str:
    """The last epoch and the best one, counted from 1."""
    stopped = max((callback.stopped_epoch for callback in trainer.early_stopping_callbacks), default=0)
    last = f"stopped early at epoch {stopped + 1}" if stopped else f"trained to epoch {trainer.current_epoch}"
    return f"{last}, best {best_epoch + 1}"


def finish(loggers: Iterable[Logger]) -> None:
    """End the runs of those loggers that would else take what the next training of this process logs."""
    for logger in loggers:
        if isinstance(logger, WandbLogger):
            logger.experiment.finish()
