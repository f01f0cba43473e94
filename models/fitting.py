"""The loop around every training here: Lightning's trainer as configured, and an exact resume.

`fit` keeps all it needs in one directory: `checkpoints/last.ckpt` after every epoch (written whole or not at all where
temporary files are on the same file system; a damaged one is refused), the best epoch beside it, TensorBoard events.
Called again after an interruption of any kind it goes on from the last epoch and ends in the same weights, because
batches and what is drawn at random are functions of (seed, epoch).
"""

import inspect
import logging
import pickle
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import lightning
import numpy as np
import torch
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch import callbacks
from lightning.pytorch.loggers import TensorBoardLogger
from lightning.pytorch.utilities import rank_zero_only
from rich.console import Console
from rich.progress import Progress
from torch import nn

from models.export import Architecture, describe, export_net
from poker.artifacts import CorruptArtifactError, find_artifact, fingerprint_of
from poker.errors import PokernetsError
from poker.naming import stable_name
from poker.progress import progress_bars

TrainerSettings = partial[lightning.Trainer]
"""`_target_: lightning.Trainer` with `_partial_: true`; the directory and the logger are added here."""

Trained = tuple[lightning.Trainer, nn.Module, Mapping[str, Any]]
"""The trainer, the net that it trained, and the counts for its manifest."""

_WITHOUT_EFFECT = ("accelerator", "callbacks", "logger", "profiler", "log_every_n_steps", "num_sanity_val_steps")


class EarlyStopping(callbacks.EarlyStopping):
    """Lightning's early stopping, which also stays stopped when a run that was killed after it is started again."""

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        trainer.should_stop = trainer.should_stop or self.stopped_epoch > 0


class EpochSeed(callbacks.Callback):
    """Seeds torch anew in every epoch and process: dropout is the same after an interruption, and after other runs."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def on_train_epoch_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        seeds = np.random.SeedSequence((self._seed, trainer.current_epoch, trainer.global_rank))
        torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0]))


class ProgressInLogs(callbacks.Callback):
    """Prints a line now and then with the epochs so far, the time left and the losses, where stderr is no terminal and
    Lightning's bars would show nothing until the end."""

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


_ONLY_SHOWING = (
    callbacks.ProgressBar,
    ProgressInLogs,
    callbacks.ModelSummary,
    callbacks.ThroughputMonitor,
    callbacks.LearningRateMonitor,
    callbacks.DeviceStatsMonitor,
)


class CourseLogger(TensorBoardLogger):
    """TensorBoard with the loss first (`poker.report.scalars`) and without charts of a single point.

    Metrics are named `stage/name`; `loss` is the name of the loss. A resumed run writes every point at once.
    """

    def __init__(self, directory: Path, loss: str) -> None:
        super().__init__(directory, name="tensorboard", version="", default_hp_metric=False)
        self._loss = loss
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


def recipe(trainer: TrainerSettings) -> dict[str, Any]:
    """Settings and callbacks of a trainer that shape the result, as JSON values."""
    found = {
        name: _plain(value)
        for name, value in trainer.keywords.items()
        if value is not None and name not in _WITHOUT_EFFECT and not name.startswith("enable_")
    }
    shaping = [each for each in trainer.keywords["callbacks"] if not isinstance(each, _ONLY_SHOWING)]
    return {**found, "callbacks": [_settings_of(each) for each in shaping]}


def _settings_of(callback: callbacks.Callback) -> dict[str, Any]:
    """A callback's class and non-default arguments, read from its attributes of the same name or with a `_` before."""
    kind, known, settings = type(callback), vars(callback), {}
    for name, parameter in inspect.signature(kind).parameters.items():
        value = known.get(name, known.get(f"_{name}"))
        shapes = not isinstance(callback, callbacks.ModelCheckpoint) or name in ("monitor", "mode")
        if shapes and value is not None and value != parameter.default:
            settings[name] = _plain(value)
    return {"class": stable_name(kind), **settings}


def _plain(value: Any) -> Any:
    """A JSON value, or the name of a value that is none."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, int | float | str) else getattr(value, "__qualname__", type(value).__name__)


@dataclass(frozen=True)
class Goal:
    """Origin of an artifact of `kind`: `stamp` as for `export_net`, settings, fingerprints of the data."""

    kind: str
    stamp: Mapping[str, Any]
    config: Mapping[str, Any]
    made_from: Mapping[str, str]


def keep_or_train(
    train: Callable[[Path], Trained], net: Architecture, goal: Goal, output: str, runs: str
) -> Mapping[str, Any]:
    """Counts of the net at `output`, which is trained unless it is there already.

    `train` gets a directory under `runs` that is named after the net and the goal: a run is only continued by itself.
    """
    config = {"net": describe(net), **goal.config}
    console = Console(stderr=True)
    found = find_artifact(output, goal.kind, config={**config, **goal.stamp}, made_from=goal.made_from)
    if found is not None:
        console.print(f"{output} is made already, from these data and settings", soft_wrap=True, markup=False)
        return found.counts
    identity = fingerprint_of({"config": config, "made_from": goal.made_from, "stamp": goal.stamp})[:12]
    directory = Path(runs) / f"{goal.kind}-{identity}"
    console.print(f"training; tensorboard --logdir {directory}", soft_wrap=True, markup=False)
    trainer, made, counts = train(directory)
    if trainer.is_global_zero:
        made_from = goal.made_from
        export_net(output, goal.kind, net, made, stamp=goal.stamp, config=config, made_from=made_from, counts=counts)
    return counts


def fit(
    module: lightning.LightningModule,
    data: lightning.LightningDataModule,
    *,
    directory: Path,
    trainer: TrainerSettings,
    threads: int | None,
    best: bool = True,
) -> lightning.Trainer:
    """Train `module`, from the last checkpoint in `directory` where there is one, and return the trainer.

    `best`: `module` ends with the weights of the epoch that is best by the checkpoint's monitor, else the last ones.
    `threads` of torch; None takes as many as torch does by itself.
    """
    quiet()
    if threads is not None:
        torch.set_num_threads(threads)
    logger = trainer.keywords.get("logger")
    if logger is None:
        monitors = [each.monitor for each in trainer.keywords.get("callbacks", ()) if hasattr(each, "monitor")]
        logger = CourseLogger(directory, loss=monitors[0].rpartition("/")[2] if monitors else "loss")
    try:
        made = trainer(logger=logger, default_root_dir=directory)
    except (MisconfigurationException, TypeError, ValueError) as error:
        raise PokernetsError(f"trainer: {' '.join(str(error).split())}") from error
    checkpoints = made.checkpoint_callback
    assert isinstance(checkpoints, callbacks.ModelCheckpoint)
    checkpoints.dirpath = str(directory / "checkpoints")
    last = directory / "checkpoints" / "last.ckpt"
    if last.exists():
        _read_checkpoint(last, directory)
    made.fit(module, datamodule=data, ckpt_path=last if last.exists() else None, weights_only=True)
    if made.interrupted:
        raise KeyboardInterrupt
    loss = checkpoints.best_model_score
    if loss is None:
        raise PokernetsError("no epoch was measured and checkpointed, so there is no net to export")
    if not torch.isfinite(loss):
        raise PokernetsError(
            f"{checkpoints.monitor} is {loss}: training diverged; lower model.learning_rate (logs: {directory})"
        )
    chosen = Path(checkpoints.best_model_path) if best else last
    module.load_state_dict(_read_checkpoint(chosen, directory)["state_dict"])
    return made


def cosine_adam(
    module: lightning.LightningModule, net: nn.Module, learning_rate: float, weight_decay: float = 0.0
) -> Any:
    """Adam with a rate that falls from `learning_rate` to zero along a half cosine over the planned steps; weights
    decay apart from the gradient."""
    fused = module.device.type in ("cpu", "cuda")
    decay: dict[str, Any] = {"weight_decay": weight_decay, "decoupled_weight_decay": True} if weight_decay else {}
    optimiser = torch.optim.Adam(net.parameters(), lr=learning_rate, fused=fused, **decay)
    steps = int(module.trainer.estimated_stepping_batches)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, T_max=steps)
    return {"optimizer": optimiser, "lr_scheduler": {"scheduler": schedule, "interval": "step"}}


def _read_checkpoint(file: Path, directory: Path) -> dict[str, Any]:
    try:
        checkpoint: dict[str, Any] = torch.load(file, weights_only=True, map_location="cpu")
    except (OSError, EOFError, RuntimeError, pickle.UnpicklingError) as error:
        raise CorruptArtifactError(
            f"the checkpoint {file} cannot be read: remove {directory}, and it trains from the start"
        ) from error
    return checkpoint


def metrics_of_test(trainer: lightning.Trainer, module: lightning.LightningModule, loader: Any) -> dict[str, float]:
    """Metrics that `Trainer.test` logs, named without `test/`."""
    (logged,) = trainer.test(module, dataloaders=loader, verbose=False)
    return {name.removeprefix("test/"): round(value, 7) for name, value in logged.items()}


def rows_of(batch: tuple[torch.Tensor, ...]) -> int:
    """Rows of a batch, for the throughput monitor."""
    return len(batch[0])


def quiet() -> None:
    """Keep Lightning's tips and its advice on data loader workers (ours needs none) off the screen."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)
    warnings.filterwarnings("ignore", module="lightning")
