"""Loggers of training, whose folder is the run's, and the line at its end."""

import os
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path

import lightning
from lightning.pytorch.loggers import Logger, WandbLogger
from rich.console import Console

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
