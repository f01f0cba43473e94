"""Sweeps: a separate output folder for each job, and a table of all jobs at the end."""

import re
import sys
from typing import Any

from hydra.core.hydra_config import HydraConfig
from hydra.core.utils import JobReturn, JobStatus
from hydra.experimental.callback import Callback
from hydra.types import RunMode
from omegaconf import DictConfig


def is_sweep() -> bool:
    """Return whether the current task is one job of several (`--multirun`)."""
    return HydraConfig.initialized() and HydraConfig.get().mode is RunMode.MULTIRUN


def in_own_folder(config: DictConfig) -> DictConfig:
    """Return the configuration, where a sweep's job gets `outputs` and `runs` folders named after its overrides."""
    if is_sweep():
        folder = re.sub(r"[^\w.+-]+", "_", HydraConfig.get().job.override_dirname)
        config.outputs, config.runs = f"{config.outputs}/{folder}", f"{config.runs}/{folder}"
    return config


class SweepTable(Callback):
    """A Hydra callback that prints a line for each job of a sweep: its result, if that is a number, and its overrides.

    Hydra ends a sweep in which a job failed with that job's error, so after a failure the table is printed after every
    job.
    """

    def __init__(self) -> None:
        """Start with the heading."""
        self._rows, self._failed = [f"{'result':>12}  settings"], False

    def on_job_end(self, config: DictConfig, job_return: JobReturn, **kwargs: Any) -> None:
        """Store the result of a job."""
        completed = job_return.status is JobStatus.COMPLETED
        result = job_return.return_value if completed else "failed"
        text = f"{result:.6g}" if isinstance(result, float) else str(result or "")
        self._rows.append(f"{text:>12}  {' '.join(job_return.overrides or ())}")
        self._failed = self._failed or not completed
        if self._failed and is_sweep():
            self.on_multirun_end(config)

    def on_multirun_end(self, config: DictConfig, **kwargs: Any) -> None:
        """Print the lines in the order in which the jobs ran."""
        print("\n".join(self._rows), file=sys.stderr)
