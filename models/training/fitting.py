"""The loop around every training here: Lightning's trainer as configured, and an exact resume.

`fit` keeps all it needs in one directory: `checkpoints/last.ckpt` after every epoch (a damaged one is refused), the
best epoch beside it, TensorBoard events. Called again after an interruption of any kind it goes on from the last epoch
and ends in the same weights, because batches and what is drawn at random are functions of (seed, epoch).
"""

import inspect
import logging
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

import lightning
import numpy as np
import torch
from lightning.fabric.plugins import TorchCheckpointIO
from lightning.fabric.utilities.exceptions import MisconfigurationException
from lightning.pytorch import callbacks
from lightning.pytorch.loggers import WandbLogger
from lightning.pytorch.tuner.tuning import Tuner
from rich.console import Console
from torch import distributed, nn

from models.training.checkpoints import AtomicCheckpoints, read_checkpoint
from models.training.export import Architecture, describe, export_net
from models.training.shard_data import ShardData
from models.training.strength import StrengthMatch
from poker.report import Table
from poker.run.errors import PokernetsError
from poker.store.artifacts import file_sha256, find_artifact, fingerprint_of
from poker.store.naming import stable_name

TrainerSettings = partial[lightning.Trainer]
"""`_target_: lightning.Trainer` with `_partial_: true`; the directory and the logger are added here."""

Trained = tuple[lightning.Trainer, nn.Module, Mapping[str, Any]]
"""The trainer, the net that it trained, and the counts for its manifest."""

_OTHER_START = "give another ckpt_path"
_WITHOUT_EFFECT = ("accelerator", "callbacks", "logger", "profiler", "log_every_n_steps", "num_sanity_val_steps")


class EarlyStopping(callbacks.EarlyStopping):
    """Lightning's early stopping, which also stays stopped when a run that was killed after it is started again."""

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        own = Path(str(trainer.ckpt_path)).is_relative_to(trainer.default_root_dir)
        trainer.should_stop = trainer.should_stop or (own and self.stopped_epoch > 0)


class EpochSeed(callbacks.Callback):
    """Seeds torch anew in every epoch and process: dropout is the same after an interruption, and after other runs."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def on_train_epoch_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        seeds = np.random.SeedSequence((self._seed, trainer.current_epoch, trainer.global_rank))
        torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0]))


_ONLY_SHOWING = (
    callbacks.ProgressBar,
    callbacks.ModelSummary,
    callbacks.ThroughputMonitor,
    callbacks.LearningRateMonitor,
    callbacks.DeviceStatsMonitor,
    StrengthMatch,
)


def recipe(trainer: TrainerSettings) -> dict[str, Any]:
    """Settings and callbacks of a trainer that shape the result, as JSON values."""
    settings = {
        name: _plain(value)
        for name, value in trainer.keywords.items()
        if value is not None and name not in _WITHOUT_EFFECT and not name.startswith("enable_")
    }
    shaping = [callback for callback in trainer.keywords["callbacks"] if not isinstance(callback, _ONLY_SHOWING)]
    return {**settings, "callbacks": [_settings_of(callback) for callback in shaping]}


def _settings_of(callback: callbacks.Callback) -> dict[str, Any]:
    """A callback's class and non-default arguments, read from its attributes of the same name or with a `_` before."""
    kind, attributes, settings = type(callback), vars(callback), {}
    for name, parameter in inspect.signature(kind).parameters.items():
        value = attributes.get(name, attributes.get(f"_{name}"))
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
class TrainingOptions:
    """How a net is trained beside its own settings: Lightning's trainer, the `threads` of torch (None: as many as torch
    takes by itself), a checkpoint to begin with, whether Lightning looks for a learning rate first, and whether torch
    compiles the net."""

    trainer: TrainerSettings
    threads: int | None = None
    ckpt_path: str | None = None
    find_learning_rate: bool = False
    compile: bool = False

    @property
    def config(self) -> dict[str, Any]:
        """Settings that shape the result, for a `Goal`."""
        switches = {"find_learning_rate": self.find_learning_rate, "compile": self.compile}
        return {"trainer": recipe(self.trainer), **{name: True for name, on in switches.items() if on}}

    @property
    def made_from(self) -> dict[str, str]:
        """The checkpoint to begin with, for a `Goal`."""
        if self.ckpt_path is None:
            return {}
        file = Path(self.ckpt_path)
        read_checkpoint(file, _OTHER_START)
        return {"checkpoint": file_sha256(file)}


@dataclass(frozen=True)
class Goal:
    """Origin of an artifact of `kind`: `stamp` as for `export_net`, settings, fingerprints of the data."""

    kind: str
    stamp: Mapping[str, Any]
    config: Mapping[str, Any]
    made_from: Mapping[str, str] = field(default_factory=dict)


class TrainingRun(NamedTuple):
    """The folder of one training, its settings for the loggers, and what writes its net as an artifact at any time."""

    directory: Path
    hyperparameters: Mapping[str, Any]
    export: Callable[..., object]


def keep_or_train(
    train: Callable[[TrainingRun], Trained], net: Architecture, goal: Goal, output: str, runs: str
) -> Mapping[str, Any]:
    """Counts of the net at `output`, which is trained unless it is there already.

    `train` gets a directory under `runs` that is named after the net and the goal: a run is only continued by itself.
    """
    config = {"net": describe(net), **goal.config}
    there = find_artifact(output, goal.kind, config={**config, **goal.stamp}, made_from=goal.made_from)
    if there is not None:
        console().print(f"{output} is made already, from these data and settings", soft_wrap=True, markup=False)
        return there.counts
    identity = fingerprint_of({"config": config, "made_from": goal.made_from, "stamp": goal.stamp})[:12]
    directory = Path(runs) / f"{goal.kind}-{identity}"
    console().print(f"training; tensorboard --logdir {directory}", soft_wrap=True, markup=False)
    origin: dict[str, Any] = {"stamp": goal.stamp, "config": config, "made_from": goal.made_from}

    def export(path: str | Path, made: nn.Module, **counts: Any) -> None:
        export_net(path, goal.kind, net, made, **origin, counts=counts)

    trainer, made, counts = train(TrainingRun(directory, config, export))
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger.experiment.finish()  # which would else take what the next training of this process logs
    _end_processes(trainer)
    if trainer.is_global_zero:
        export(output, made, **counts)
    return counts


def train_on_shards(
    module: Callable[[], lightning.LightningModule],
    data: ShardData[Any],
    *,
    net: Architecture,
    goal: Goal,
    counts: Mapping[str, Any],
    table: Callable[[dict[str, float]], Table],
    options: TrainingOptions,
    output: str,
    runs: str,
) -> float:
    """Train a `module`, whose `net` is exported to `output`, on the rows of `data`; returns the Huber loss of its best
    epoch. What is there is kept. `goal` and `counts` leave out what `data` and `options` say; `table` shows losses."""

    def train(run: TrainingRun) -> Trained:
        console().print(data.summary, soft_wrap=True, markup=False)
        made = module()
        trainer = fit(made, data, run=run, options=options)
        losses = {"rows": len(data.validation_rows), **metrics_of_test(trainer, made, data.val_dataloader())}
        if trainer.is_global_zero:
            table(losses).print(console())
        rows = {"training_rows": len(data.train_rows), "epochs": trainer.current_epoch}
        return trainer, cast(nn.Module, made.net), {**rows, **counts, "validation": losses}

    config = {"data": data.config, **goal.config, **options.config}
    whole = replace(goal, config=config, made_from={**data.made_from, **goal.made_from, **options.made_from})
    return float(keep_or_train(train, net, whole, output, runs)["validation"]["huber"])


def _end_processes(trainer: lightning.Trainer) -> None:
    """Leave the group of processes, so that the next training of a sweep can start its own."""
    if distributed.is_initialized():
        distributed.destroy_process_group()
        if getattr(trainer.strategy.launcher, "procs", None):  # then Lightning took this process into the group
            for name in ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
                os.environ.pop(name, None)


def multiply_by_onednn() -> None:
    """Let oneDNN multiply float32 on a CPU: it rounds with AMX, and else is exact and faster than torch's own BLAS,
    which takes AVX2 on AMD. Steps of the leaf net are 1.8 (batches of 512) to 2.2 times (4096) as fast on a Zen 5 core.
    By turns they are 1.0 to 1.1 times as fast on a Zen 4 core, and 1.1 (512) and 1.5 times (4096) on a busy Xeon with
    AMX. `make bench` measures it on the machine at hand."""
    torch.backends.mkldnn.matmul.fp32_precision = "bf16"  # type: ignore[attr-defined]


def fit(
    module: lightning.LightningModule,
    data: lightning.LightningDataModule,
    *,
    run: TrainingRun,
    options: TrainingOptions,
    best: bool = True,
) -> lightning.Trainer:
    """Train `module`, from the last checkpoint of `run` where there is one, and return the trainer.

    `best`: `module` ends with the weights of the epoch that is best by the checkpoint's monitor, else the last ones.
    """
    quiet()
    multiply_by_onednn()
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    made, checkpoints = _made(options.trainer, run)
    last = Path(str(checkpoints.dirpath)) / "last.ckpt"
    start, remedy = (
        last if last.exists() else options.ckpt_path,
        f"remove {run.directory}, and it trains from the start",
    )
    if start is not None:
        _check_start(module, Path(start), remedy if last.exists() else _OTHER_START)
    if options.compile:
        cast(nn.Module, module.net).compile()
    if options.find_learning_rate and start is None:
        _find_learning_rate(made, module, data)
    try:
        made.fit(module, datamodule=data, ckpt_path=start, weights_only=True)
    except SystemExit:  # by which Lightning leaves after Ctrl+C
        if not made.interrupted:
            raise
    if made.interrupted:
        raise KeyboardInterrupt
    loss = checkpoints.best_model_score
    if loss is None:
        raise PokernetsError("no epoch was measured and checkpointed, so there is no net to export")
    if not torch.isfinite(loss):
        raise PokernetsError(
            f"{checkpoints.monitor} is {loss}: training diverged; lower model.learning_rate (logs: {run.directory})"
        )
    best_one = read_checkpoint(Path(checkpoints.best_model_path), remedy)
    stopped = max((callback.stopped_epoch for callback in made.early_stopping_callbacks), default=0)
    end = f"stopped early at epoch {stopped + 1}" if stopped else f"trained to epoch {made.current_epoch}"
    console().print(f"{end}, best {best_one['epoch'] + 1}", markup=False, highlight=False)
    module.load_state_dict((best_one if best else read_checkpoint(last, remedy))["state_dict"])
    return made


def _made(trainer: TrainerSettings, run: TrainingRun) -> tuple[lightning.Trainer, callbacks.ModelCheckpoint]:
    """The trainer of a run, whose loggers know the settings, and what writes its checkpoints."""
    logger = trainer.keywords.get("logger")
    if not isinstance(logger, bool | None):  # partial loggers get their folder here
        several = logger if isinstance(logger, Sequence) else [logger]
        logger = [part(save_dir=run.directory) if isinstance(part, partial) else part for part in several]
    try:
        made = trainer(logger=logger, default_root_dir=run.directory)
    except (MisconfigurationException, TypeError, ValueError) as error:
        raise PokernetsError(f"trainer: {' '.join(str(error).split())}") from error
    if type(made.strategy.checkpoint_io) is TorchCheckpointIO:
        made.strategy.checkpoint_io = AtomicCheckpoints()
    for part in made.loggers:
        part.log_hyperparams(dict(run.hyperparameters))
    checkpoints = made.checkpoint_callback
    assert isinstance(checkpoints, callbacks.ModelCheckpoint)
    for callback in trainer.keywords["callbacks"]:
        if isinstance(callback, StrengthMatch):
            callback.export = run.export
    checkpoints.dirpath = str(run.directory / "checkpoints")
    return made, checkpoints


def _find_learning_rate(
    trainer: lightning.Trainer, module: lightning.LightningModule, data: lightning.LightningDataModule
) -> None:
    """Set `learning_rate` to where the smoothed loss falls fastest by the logarithm of the rate.

    Lightning's own suggestion takes the slope by the rate itself, which is steepest at the smallest rates.
    """
    finder = Tuner(trainer).lr_find(module, datamodule=data, min_lr=1e-6, max_lr=1.0, update_attr=False)
    rates, losses = (np.array(finder.results[name])[10:-1] for name in ("lr", "loss")) if finder else ((), ())
    if len(rates) < 2:
        raise PokernetsError("find_learning_rate=true needs more batches: raise trainer.max_epochs or data.epoch_rows")
    rate = float(rates[np.gradient(losses, np.log(rates)).argmin()])
    setattr(module, "learning_rate", rate)  # noqa: B010
    console().print(f"learning rate found: {rate:.2g}", highlight=False)


def _check_start(module: lightning.LightningModule, file: Path, remedy: str) -> None:
    try:
        module.load_state_dict(read_checkpoint(file, remedy)["state_dict"])
    except (RuntimeError, KeyError) as error:
        raise PokernetsError(f"the checkpoint {file} is of another net: {remedy}") from error


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


def metrics_of_test(trainer: lightning.Trainer, module: lightning.LightningModule, loader: Any) -> dict[str, float]:
    """Metrics that `Trainer.test` logs, named without `test/`."""
    (logged,) = trainer.test(module, dataloaders=loader, verbose=False)
    return {name.removeprefix("test/"): round(value, 7) for name, value in logged.items()}


def rows_of(batch: tuple[torch.Tensor, ...]) -> int:
    """Rows of a batch, for the throughput monitor."""
    return len(batch[0])


def console() -> Console:
    """Standard error, of the first of several processes alone."""
    return Console(stderr=True, quiet=os.environ.get("LOCAL_RANK", "0") != "0")


def quiet() -> None:
    """Keep Lightning's tips, its advice on data loader workers (ours needs none) and the news that a class of actions
    never happened off the screen."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)
    warnings.filterwarnings("ignore", module="lightning")
    warnings.filterwarnings("ignore", "\\d+ NaN values found in confusion matrix")
