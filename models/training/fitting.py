"""The loop around every training here: Lightning's trainer as configured, and an exact resume.

`fit` keeps all it needs in one directory: `checkpoints/last.ckpt` after every epoch (a damaged one is refused), the
best epoch beside it, TensorBoard events. Called again after an interruption of any kind it goes on from the last epoch
and ends in the same weights, because batches and what is drawn at random are functions of (seed, epoch).
"""

import inspect
import logging
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
from torch import distributed, nn

from models.training.checkpoints import AtomicCheckpoints, read_checkpoint
from models.training.export import Architecture, describe, export_net
from models.training.module import resumes_itself
from poker.run.errors import PokernetsError
from poker.run.progress import Console
from poker.store.artifacts import CorruptArtifactError, file_sha256, find_artifact, fingerprint_of
from poker.store.naming import stable_name

TrainerSettings = partial[lightning.Trainer]
"""`_target_: lightning.Trainer` with `_partial_: true`; the directory and the logger are added here."""

Trained = tuple[lightning.Trainer, nn.Module, Mapping[str, Any]]
"""The trainer, the net that it trained, and the counts for its manifest."""

_OTHER_START = "give another ckpt_path"
_WITHOUT_EFFECT = (
    "accelerator",
    "callbacks",
    "logger",
    "profiler",
    "log_every_n_steps",
    "num_sanity_val_steps",
    "fast_dev_run",
)


class EarlyStopping(callbacks.EarlyStopping):
    """Lightning's early stopping with this run's patience, whatever checkpoint it starts from. A run that was killed
    after it had stopped stays stopped when it is started again."""

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        super().load_state_dict({**state_dict, "patience": self.patience})

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        if not resumes_itself(trainer):
            self.stopped_epoch = self.wait_count = 0
        trainer.should_stop = trainer.should_stop or self.stopped_epoch > 0


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
        tried = bool(self.trainer.keywords.get("fast_dev_run"))
        switches = {"find_learning_rate": self.find_learning_rate, "compile": self.compile, "fast_dev_run": tried}
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
    """The folder of one training, and its settings for the loggers."""

    directory: Path
    hyperparameters: Mapping[str, Any]


def keep_or_train(
    train: Callable[[TrainingRun], Trained], net: Architecture, goal: Goal, output: str, runs: str
) -> Mapping[str, Any]:
    """Counts of the net at `output`, which is trained unless it is there already.

    `train` gets a directory under `runs` that is named after the net and the goal: a run is only continued by itself.
    """
    config = {"net": describe(net), **goal.config}
    trial = config.get("fast_dev_run")  # trains even if the net is there
    existing = (
        None if trial else find_artifact(output, goal.kind, config={**config, **goal.stamp}, made_from=goal.made_from)
    )
    if existing is not None:
        console().print(f"{output} is made already, from these data and settings", soft_wrap=True, markup=False)
        return existing.counts
    identity = fingerprint_of({"config": config, "made_from": goal.made_from, "stamp": goal.stamp})[:12]
    directory = Path(runs) / f"{goal.kind}-{identity}"
    console().print(f"training; tensorboard --logdir {directory}", soft_wrap=True, markup=False)
    with multiply_by_onednn():
        trainer, trained, counts = train(TrainingRun(directory, config))
    for logger in trainer.loggers:
        if isinstance(logger, WandbLogger):
            logger.experiment.finish()  # which would else take what the next training of this process logs
    _end_processes(trainer)
    if trainer.is_global_zero and not trial:
        origin: dict[str, Any] = {"stamp": goal.stamp, "config": config, "made_from": goal.made_from}
        export_net(output, goal.kind, net, trained, **origin, counts=counts)
    return counts


def _end_processes(trainer: lightning.Trainer) -> None:
    """Leave the group of processes, so that the next training of a sweep can start its own."""
    if distributed.is_initialized():
        distributed.destroy_process_group()
        if getattr(trainer.strategy.launcher, "procs", None):  # then Lightning took this process into the group
            for name in ("LOCAL_RANK", "NODE_RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT"):
                os.environ.pop(name, None)


def seed_everything(seed: int) -> None:
    """Seed the generators from which nets draw their first weights, whatever ran before in this process."""
    lightning.seed_everything(seed % 2**32, verbose=False)


@contextmanager
def multiply_by_onednn() -> Iterator[None]:
    """Let oneDNN multiply float32 on a CPU inside the block: with AMX it rounds to bfloat16, else it is exact.

    It is faster than torch's own BLAS, which takes AVX2 on AMD. Steps of the leaf net are 1.8 (batches of 512) to 2.2
    times (4096) as fast on a Zen 5 core. By turns they are 1.0 to 1.1 times as fast on a Zen 4 core, and 1.1 (512) and
    1.5 times (4096) on a busy Xeon with AMX. `make bench` measures it on the machine at hand.
    """
    products = torch.backends.mkldnn.matmul  # type: ignore[attr-defined]
    before, products.fp32_precision = products.fp32_precision, "bf16"
    try:
        yield
    finally:
        products.fp32_precision = before


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
    if options.threads is not None:
        torch.set_num_threads(options.threads)
    made, checkpoints = _made(options.trainer, run)
    last = Path(str(checkpoints.dirpath)) / "last.ckpt"
    start, remedy = (
        last if last.exists() else options.ckpt_path,
        f"remove {run.directory}, and it trains from the start",
    )
    if start is not None:
        _check_start(made, module, Path(start), remedy if last.exists() else _OTHER_START)
    if options.compile:
        cast(nn.Module, module.net).compile()
    if options.find_learning_rate and options.ckpt_path is not None:
        raise PokernetsError("find_learning_rate=true looks for the rate of a new training: leave out ckpt_path")
    if options.find_learning_rate and start is None:
        _find_learning_rate(made, module, data)
    try:
        made.fit(module, datamodule=data, ckpt_path=start, weights_only=True)
    except SystemExit:  # by which Lightning leaves after Ctrl+C
        if not made.interrupted:
            raise
    except MisconfigurationException as error:
        raise _of_trainer(error) from error
    if made.interrupted:
        raise KeyboardInterrupt
    if made.fast_dev_run:  # type: ignore[attr-defined]
        console().print("trainer.fast_dev_run: the net is tried on a few batches, and not exported")
        return made
    loss = checkpoints.best_model_score
    if loss is None:
        raise PokernetsError(
            "no epoch was trained and measured, so there is no net to export: raise trainer.max_epochs"
        )
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
        raise _of_trainer(error) from error
    if "bf16" in made.precision and "bf16" not in str(precision := trainer.keywords["precision"]):
        raise PokernetsError(f"trainer.precision={precision} needs a GPU: set it to bf16-mixed or 32-true on a CPU")
    if type(made.strategy.checkpoint_io) is TorchCheckpointIO:
        made.strategy.checkpoint_io = AtomicCheckpoints()
    for part in made.loggers:
        part.log_hyperparams(dict(run.hyperparameters))
    checkpoints = made.checkpoint_callback
    assert isinstance(checkpoints, callbacks.ModelCheckpoint)
    checkpoints.dirpath = str(run.directory / "checkpoints")
    return made, checkpoints


def _of_trainer(error: Exception) -> PokernetsError:
    return PokernetsError(f"trainer: {' '.join(str(error).split())}")


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


def _check_start(made: lightning.Trainer, module: lightning.LightningModule, file: Path, remedy: str) -> None:
    checkpoint = read_checkpoint(file, remedy)
    try:
        made.fit_loop.load_state_dict(checkpoint["loops"]["fit_loop"])
    except (AttributeError, KeyError, TypeError) as error:
        raise CorruptArtifactError(f"the checkpoint {file} cannot be read: {remedy}") from error
    try:
        module.load_state_dict(checkpoint["state_dict"])
    except (RuntimeError, KeyError) as error:
        raise PokernetsError(f"the checkpoint {file} is of another net: {remedy}") from error


def validation_metrics(trainer: lightning.Trainer, module: lightning.LightningModule, loader: Any) -> dict[str, float]:
    """Metrics of the trained `module` on all rows of `loader`, named without `validation/`; loggers do not get them."""
    loggers, trainer.loggers = trainer.loggers, []
    trainer.limit_val_batches = 1 if trainer.fast_dev_run else 1.0  # type: ignore[attr-defined]
    [logged] = trainer.validate(module, dataloaders=loader, verbose=False)
    trainer.loggers = loggers
    return {name.removeprefix("validation/"): round(value, 7) for name, value in logged.items()}


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
