"""Callbacks that Lightning lacks: exact resumption, and the export of the trained net."""

from collections.abc import Mapping, Sized
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import lightning
import numpy as np
import torch
from hydra.utils import get_object
from lightning.pytorch import callbacks
from lightning.pytorch.loggers import WandbLogger

from models.training.checkpoints import REMEDY
from models.training.export import export_net
from poker.run.errors import PokernetsError
from poker.run.progress import Console
from poker.store.artifacts import file_sha256, find_artifact
from poker.store.naming import importable, stable_name


def continues_itself(trainer: lightning.Trainer) -> bool:
    """Return whether the trainer starts from a checkpoint of its own run, not of another one."""
    saved = [each.dirpath for each in trainer.checkpoint_callbacks if isinstance(each, callbacks.ModelCheckpoint)]
    start = Path(trainer.ckpt_path or "/").resolve()
    return any(start.is_relative_to(Path(folder).resolve()) for folder in [trainer.default_root_dir, *saved] if folder)


class ModelCheckpoint(callbacks.ModelCheckpoint):
    """Lightning's checkpoints, which a run finds again after its folder was moved.

    Lightning would forget which epoch was best, and train on from the last one.
    """

    def on_load_checkpoint(self, trainer: Any, pl_module: Any, checkpoint: dict[str, Any]) -> None:
        """Change the paths of the run's own checkpoints to its present folder."""
        saved = checkpoint["callbacks"].get(self.state_key)
        if not saved or not continues_itself(trainer):
            return

        def here(path: str) -> str:
            inside = Path(path).is_relative_to(saved["dirpath"])
            return str(Path(self.dirpath or "", Path(path).relative_to(saved["dirpath"]))) if inside else path

        paths = {name: here(path) for name, path in saved.items() if name.endswith("_path")}
        best = {here(path): score for path, score in saved["best_k_models"].items()}
        saved.update(paths, best_k_models=best, dirpath=self.dirpath)


class EarlyStopping(callbacks.EarlyStopping):
    """Lightning's early stopping, which also ends a run that had stopped and is started again.

    The patience always comes from the settings, even if the checkpoint has another.
    """

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the state, but use the patience of the settings."""
        super().load_state_dict({**state_dict, "patience": self.patience})

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Stop at once if the run had already stopped."""
        trainer.should_stop = trainer.should_stop or self.wait_count >= max(1, self.patience)


class EpochSeed(callbacks.Callback):
    """A callback that seeds torch in every epoch and process, so that dropout is the same after an interruption."""

    def __init__(self, seed: int) -> None:
        """Store the seed.

        Args:
            seed: seed of the training.
        """
        self._seed = seed

    def on_train_epoch_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Seed torch from the seed, the epoch and the process."""
        seeds = np.random.SeedSequence((self._seed, trainer.current_epoch, trainer.global_rank))
        torch.manual_seed(int(seeds.generate_state(1, np.uint64)[0]))


def rows_of(batch: tuple[Sized, ...]) -> int:
    """Return the number of rows of a batch, for Lightning's `ThroughputMonitor`."""
    return len(batch[0])


class Export(callbacks.Callback):
    """The base of callbacks that write `module.net` as an artifact when it is validated after training.

    Before training begins, a net at `output` with other settings or data is refused. A checkpoint of another net,
    module, seed or data is refused too. Subclasses define `kind`, `stamp` and `counts`.

    Args:
        output: directory of the artifact.
        monitor: the metric that shows whether training diverged.
        settings: settings of the training, for the manifest and the loggers.
    """

    kind: ClassVar[str]

    def __init__(self, output: str, monitor: str, settings: Mapping[str, Any]) -> None:
        """Store the settings with stable class names."""
        self._output, self._monitor, self._settings = output, monitor, _stable_names(settings)

    def stamp(self, data: Any) -> Mapping[str, Any]:
        """Return the settings that must be equal when the net is loaded (`load_net`).

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError

    def counts(self, trainer: lightning.Trainer, module: Any, metrics: dict[str, float]) -> dict[str, Any]:
        """Return the counts of the manifest, with the `metrics` of the validation.

        Raises:
            NotImplementedError: the subclass does not define it.
        """
        raise NotImplementedError

    def setup(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule, stage: str) -> None:
        """Record the configuration and the fingerprints of the data before training."""
        if stage == "fit":
            data: Any = trainer.datamodule  # type: ignore[attr-defined]
            self._config, self._made_from = {**self._settings, "data": data.config}, dict(data.made_from)

    def on_fit_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Log the settings, and refuse an output with other settings.

        Raises:
            MismatchedArtifactError: the artifact at `output` has other settings or data.
            PokernetsError: the training has no validation.
        """
        if trainer.ckpt_path is not None and not continues_itself(trainer):
            self._made_from["checkpoint"] = file_sha256(Path(trainer.ckpt_path))
        for logger in trainer.loggers:
            logger.log_hyperparams(self._config)
        if trainer.limit_val_batches == 0:
            raise PokernetsError("trainer.limit_val_batches=0: the exported net needs a validation; use 1 or more")
        if not trainer.fast_dev_run:  # type: ignore[attr-defined]
            config = {**self._config, **self.stamp(trainer.datamodule)}  # type: ignore[attr-defined]
            find_artifact(self._output, self.kind, config=config, made_from=self._made_from)

    def state_dict(self) -> dict[str, Any]:
        """Return the settings that a checkpoint must share with the run that resumes it."""
        origin = {name: value for name, value in self._made_from.items() if name != "checkpoint"}
        return {**{name: self._config[name] for name in ("net", "model", "seed", "data")}, "made_from": origin}

    def check_start(self, checkpoint: Mapping[str, Any]) -> None:
        """Refuse a checkpoint of another net, module, seed or data, before its weights are loaded.

        Raises:
            PokernetsError: the checkpoint has other settings.
        """
        own, saved = self.state_dict(), checkpoint.get("callbacks", {}).get(self.state_key)
        if saved and (others := [name for name, value in own.items() if saved.get(name) != value]):
            names = ", ".join(others).replace("made_from", "data")
            raise PokernetsError(f"the checkpoint was written with different settings ({names}): {REMEDY}")

    def on_validation_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        """Write the net after the validation that follows training.

        Raises:
            PokernetsError: the monitored metric is unknown or not finite.
        """
        if self._monitor not in trainer.callback_metrics:
            names = ", ".join(sorted(trainer.callback_metrics))
            raise PokernetsError(f"metric={self._monitor} is not logged; choose one of {names}")
        if trainer.state.fn != "validate":
            return
        loss = trainer.callback_metrics[self._monitor]
        if not loss.isfinite():
            raise PokernetsError(f"{self._monitor} is {loss}: training diverged; lower model.optimizer.lr")
        console = Console(stderr=True, quiet=not trainer.is_global_zero)
        if trainer.fast_dev_run:  # type: ignore[attr-defined]
            console.print("trainer.fast_dev_run: a test on a few batches; the net is not exported")
        elif trainer.is_global_zero:
            metrics = {
                name.removeprefix("validation/"): round(float(value), 7)
                for name, value in trainer.callback_metrics.items()
                if name.startswith("validation/")
            }
            settings = self._settings["net"]
            arguments = {name: value for name, value in settings.items() if not name.startswith("_")}
            export_net(
                self._output,
                self.kind,
                partial(get_object(importable(settings["_target_"])), **arguments),
                pl_module.net,  # type: ignore[arg-type]
                stamp=self.stamp(trainer.datamodule),  # type: ignore[attr-defined]
                config=self._config,
                made_from=self._made_from,
                counts=self.counts(trainer, pl_module, metrics),
            )
            console.print(f"exported to {self._output}", soft_wrap=True, markup=False)
        for logger in trainer.loggers:
            if isinstance(logger, WandbLogger):
                logger.experiment.finish()  # otherwise it would log the next training of a sweep


def _stable_names(node: Any) -> Any:
    """Return settings in which each `_target_` has the stable name that manifests store."""
    if isinstance(node, Mapping):
        return {
            name: stable_name(get_object(value)) if name == "_target_" else _stable_names(value)
            for name, value in node.items()
        }
    return [_stable_names(value) for value in node] if isinstance(node, list | tuple) else node
