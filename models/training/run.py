"""Settings and folder of one training run, and the behaviour of torch and Lightning in it."""

import logging
import warnings
from pathlib import Path
from typing import Any

import torch
from lightning import seed_everything
from omegaconf import DictConfig, OmegaConf

from poker.store.artifacts import fingerprint_of

_DISPLAY_CALLBACKS = {"progress", "throughput", "rate"}
"""Callbacks in conf/callbacks/default.yaml that do not change the result."""
_DISPLAY = {
    "_target_",
    "accelerator",
    "default_root_dir",
    "enable_model_summary",
    "enable_progress_bar",
    "fast_dev_run",
    "log_every_n_steps",
    "num_sanity_val_steps",
    "plugins",
    "profiler",
}
"""Options of the trainer that do not change the result."""


def settings_of(config: DictConfig) -> dict[str, Any]:
    """Return the settings of a training that change its result, as plain values for manifests and loggers."""
    plain: Any = OmegaConf.to_container(config, resolve=True)
    trainer = {name: value for name, value in plain["trainer"].items() if value is not None and name not in _DISPLAY}
    callbacks = {name: settings for name, settings in plain["callbacks"].items() if name not in _DISPLAY_CALLBACKS}
    checkpoint = callbacks.pop("checkpoint", {})
    return {
        "seed": plain["seed"],
        "net": plain["net"],
        "model": {name: value for name, value in plain["model"].items() if name != "net"},
        "trainer": trainer,
        "callbacks": {**callbacks, "checkpoint": {name: checkpoint.get(name) for name in ("monitor", "mode")}},
        **({"compile": True} if plain["compile"] else {}),
    }


def run_folder(config: DictConfig) -> str:
    """Return the folder of checkpoints and logs, named after a hash of the settings.

    A run can therefore only be resumed with its own settings.
    """
    plain: Any = OmegaConf.to_container(config, resolve=True)
    start = {"data": plain["data"], "ckpt_path": plain["ckpt_path"], "fast_dev_run": plain["trainer"]["fast_dev_run"]}
    name = Path(config.export.output).name if config.export else "run"
    return str(Path(config.runs) / f"{name}-{fingerprint_of({**settings_of(config), **start})[:12]}")


def fastest_precision(accelerator: str) -> str:
    """Return the fastest precision of training on this machine.

    On a CPU with AMX and with batches of 4,096, a leaf net trains two to three times as fast in bfloat16. GPUs gain
    nothing, because the nets are small (docs/results/gpu).

    Args:
        accelerator: the trainer's `accelerator`.
    """
    on_cpu = accelerator == "cpu" or (accelerator == "auto" and not torch.accelerator.is_available())
    return "bf16-mixed" if on_cpu and torch.cpu.get_capabilities().get("avx512_bf16") else "32-true"


def prepare(threads: int, seed: int) -> None:
    """Prepare torch and Lightning for a training.

    Args:
        threads: threads of torch.
        seed: seed of the generators of Python, numpy and torch.
    """
    quiet()
    torch.set_num_threads(threads)
    seed_everything(seed % 2**32, workers=True, verbose=False)


def quiet() -> None:
    """Hide Lightning's tips and its advice on data loader workers, which our loaders do not need."""
    for name in ("lightning", "lightning.pytorch", "lightning.fabric"):
        logging.getLogger(name).setLevel(logging.ERROR)
    logging.getLogger("lightning.pytorch.profilers").setLevel(logging.INFO)
    warnings.filterwarnings("ignore", module="lightning")
