"""A loss, a schedule, a data module, a module and a callback for the training of leaf nets."""

from typing import Any

import lightning
import torch

from models.leaf.data import LeafBatch, LeafData
from models.leaf.module import LeafModule


class AbsoluteLoss(torch.nn.Module):
    def forward(self, predicted: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        return (predicted - labels).abs().mean()


def falling(optimizer: torch.optim.Optimizer, total_steps: int, **_: Any) -> torch.optim.lr_scheduler.LRScheduler:
    return torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, total_steps)


class Relabelled(LeafData):
    """Leaf states whose labels are clipped."""

    def __init__(self, *, most: float, **settings: Any) -> None:
        super().__init__(**settings)
        self.most, self.config = most, {**self.config, "most": most}

    def on_after_batch_transfer(self, batch: LeafBatch, dataloader_idx: int) -> LeafBatch:
        return batch._replace(labels=batch.labels.clamp(-self.most, self.most))


class Noisy(LeafModule):
    """Training on features with noise."""

    def __init__(self, *, noise: float, **settings: Any) -> None:
        super().__init__(**settings)
        self.noise = noise

    def training_step(self, batch: LeafBatch, index: int) -> torch.Tensor:
        noise = self.noise * torch.randn_like(batch.features)
        return super().training_step(batch._replace(features=batch.features + noise), index)


class Average(lightning.Callback):
    """Prints the mean weight after each epoch."""

    def on_train_epoch_end(self, trainer: lightning.Trainer, module: lightning.LightningModule) -> None:
        print("mean weight", sum(weight.mean().item() for weight in module.parameters()))
