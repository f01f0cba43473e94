"""Strength beside losses: a short match with the net as it is, every few epochs of its training."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import cast

import lightning
from lightning.pytorch import callbacks
from torch import nn

from poker.report.estimates import Estimate

Match = Callable[[Path], Mapping[str, Estimate]]
"""Plays with the net that lies there, and gives what its player won by line-up, mbb per hand."""


class StrengthMatch(callbacks.Callback):
    """Plays `match` before the first epoch and after every `every`-th; logs `strength/<line-up>` in mbb per hand, and
    the half-width of its 95% interval as `uncertainty/<line-up>`.

    `export`, which `models.training.fitting.fit` sets, writes a net as an artifact. The deals of all matches are the
    same. The net is trained as without this callback. Of several processes the first plays, the others wait.
    """

    export: Callable[[Path, nn.Module], object]

    def __init__(self, match: Match, every: int = 5) -> None:
        self._match, self._every = match, every

    def on_train_start(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        if trainer.current_epoch == 0:  # a mistake in the match's settings shows here
            self._play(trainer, pl_module)

    def on_train_epoch_end(self, trainer: lightning.Trainer, pl_module: lightning.LightningModule) -> None:
        if (trainer.current_epoch + 1) % self._every == 0:
            self._play(trainer, pl_module)

    def _play(self, trainer: lightning.Trainer, module: lightning.LightningModule) -> None:
        if trainer.is_global_zero:
            path = Path(trainer.default_root_dir) / "strength" / "net"
            self.export(path, cast(nn.Module, module.net))
            for name, won in self._match(path).items():
                name = name.replace(" ", "_")
                scalars = {f"strength/{name}": won.mean, f"uncertainty/{name}": won.half_width}
                for logger in trainer.loggers:
                    logger.log_metrics(scalars, step=trainer.global_step)
        trainer.strategy.barrier()
