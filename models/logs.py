"""Loggers of training, whose folder is the run's, and what a training says of itself at its end."""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import lightning
from lightning.pytorch.loggers import Logger, TensorBoardLogger, WandbLogger
from lightning.pytorch.utilities import rank_zero_only
from rich.console import Console

Loggers = bool | Logger | partial[Logger] | Sequence[Logger | partial[Logger]]
"""Loggers as `lightning.Trainer` takes them; a partial logger gets its folder here."""


class CourseLogger(TensorBoardLogger):
    """TensorBoard with the loss first (`poker.report.scalars`) and without charts of a single point.

    Metrics are named `stage/name`; `monitor` is the loss in one stage. A resumed run writes every point at once.
    """

    def __init__(self, save_dir: str | Path, monitor: str) -> None:
        super().__init__(save_dir, name="tensorboard", version="", default_hp_metric=False)
        self._loss = monitor.rpartition("/")[2]
        self._goes_on = any(Path(self.log_dir).glob("events.out.tfevents.*"))
        self._first: dict[str, tuple[Any, int | None] | None] = {}
        """Points that wait for a second one; None once there was one."""

    @rank_zero_only
    def log_metrics(self, metrics: Mapping[str, Any], step: int | None = None) -> None:
        for tag, value in {self._tag(name): value for name, value in metrics.items()}.items():
            if tag not in self._first and not self._goes_on:
                self._first[tag] = (value, step)
                continue
            first, self._first[tag] = self._first.get(tag), None
            for known, when in (() if first is None else (first,)) + ((value, step),):
                super().log_metrics({tag: known}, when)

    def _tag(self, name: str) -> str:
        stage, _, metric = name.partition("/")
        if metric == self._loss:
            return f"loss/{stage}"
        return name if metric else f"training/{name}"


def console() -> Console:
    """Standard error, of the first of several processes alone."""
    return Console(stderr=True, quiet=os.environ.get("LOCAL_RANK", "0") != "0")


def in_folder(chosen: Loggers | None, directory: Path, monitor: str) -> bool | list[Logger]:
    """The `chosen` loggers, those without a folder in `directory`; None is TensorBoard."""
    if isinstance(chosen, bool):
        return chosen
    several = [partial(CourseLogger, monitor=monitor)] if chosen is None else chosen
    several = several if isinstance(several, Sequence) else [several]
    return [each(save_dir=directory) if isinstance(each, partial) else each for each in several]


def add_figures(module: lightning.LightningModule, draw: Callable[[], Mapping[str, Any]]) -> None:
    """Figures by name, drawn if the module has loggers that take figures."""
    boards = [each.experiment for each in module.loggers if isinstance(each, TensorBoardLogger)]
    for name, figure in draw().items() if boards else ():
        for board in boards:
            board.add_figure(name, figure, module.trainer.global_step)


def ending(trainer: lightning.Trainer, best_epoch: int) -> str:
    """The last epoch and the best one, counted from 1."""
    stopped = max((each.stopped_epoch for each in trainer.early_stopping_callbacks), default=0)
    last = f"stopped early at epoch {stopped + 1}" if stopped else f"trained to epoch {trainer.current_epoch}"
    return f"{last}, best {best_epoch + 1}"


def finish(loggers: Iterable[Logger]) -> None:
    """End the runs of those loggers that would else take what the next training of this process logs."""
    for each in loggers:
        if isinstance(each, WandbLogger):
            each.experiment.finish()
