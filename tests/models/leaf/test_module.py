"""Figures that Lightning gathers batch by batch, against numpy on all rows at once."""

from functools import partial
from pathlib import Path
from typing import Any, cast

import lightning
import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from models.leaf.data import LeafBatch, LeafData
from models.leaf.module import LeafModule, loss_of_noise
from models.training.mlp import Mlp
from poker.depth_limit import inputs
from poker.solvers.blueprint import CONTINUATIONS
from tests.devices import CUDA
from tests.models.shards import write_leaf_states

ROWS = 3000


@pytest.fixture(scope="module")
def columns() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(2)
    labels = generator.normal(scale=2, size=(ROWS, 4))
    return {
        "labels": labels,
        "predicted": labels + generator.normal(scale=[0.1, 0.5, 1, 2], size=(ROWS, 4)),
        "sem": generator.random((ROWS, 4)),
        "street": generator.integers(0, 2, ROWS),
    }


def approx(value: float) -> object:
    return pytest.approx(value, rel=1e-5)


def huber(error: np.ndarray, delta: float) -> np.ndarray:
    size = np.abs(error)
    loss: np.ndarray = np.where(size < delta, size**2 / 2, delta * (size - delta / 2))
    return loss


def module_of(net: torch.nn.Module, delta: float = 1.0, kind: type[LeafModule] = LeafModule) -> LeafModule:
    schedule: Any = partial(cast(Any, torch.optim.lr_scheduler.CosineAnnealingLR), T_max=None)
    return kind(net, torch.nn.HuberLoss(delta=delta), partial(torch.optim.Adam, lr=5e-3), schedule, delta)


def validated(learner: lightning.Trainer, module: LeafModule, data: Any) -> dict[str, float]:
    [metrics] = learner.validate(module, datamodule=data, verbose=False)
    return {name.removeprefix("validation/"): value for name, value in metrics.items()}


class Batches(lightning.LightningDataModule):
    """Given batches, for validation."""

    continuations = CONTINUATIONS

    def __init__(self, batches: list[LeafBatch], label_mean: torch.Tensor) -> None:
        super().__init__()
        self.batches, self.label_mean = batches, label_mean

    def val_dataloader(self) -> Any:
        return DataLoader(cast(Any, self.batches), batch_size=None)


def trainer(folder: Path, accelerator: str = "cpu", **settings: Any) -> lightning.Trainer:
    silent: dict[str, Any] = dict.fromkeys(
        ("enable_progress_bar", "enable_model_summary", "enable_checkpointing", "logger"), False
    )
    return lightning.Trainer(accelerator=accelerator, default_root_dir=folder, **silent, **settings)


@pytest.mark.parametrize("deviation", [0.0, 0.1, 0.7, 4.0])
def test_noise_of_labels_is_charged_as_normal_errors_are(deviation: float) -> None:
    errors = np.random.default_rng(3).normal(scale=deviation, size=1_000_000)
    expected = huber(errors, 0.7).mean()
    assert loss_of_noise(torch.tensor(deviation), 0.7).item() == pytest.approx(expected, rel=5e-3, abs=1e-12)


def test_metrics_are_those_of_all_rows_at_once(columns: dict[str, np.ndarray], tmp_path: Path) -> None:
    """The net answers its four inputs, which are the predictions."""
    mean = columns["labels"].mean(axis=0)
    tensors = {name: torch.from_numpy(column).float() for name, column in columns.items()}
    whole = LeafBatch(tensors["predicted"], tensors["labels"], tensors["sem"], torch.from_numpy(columns["street"]))
    batches = [LeafBatch(*parts) for parts in zip(*(torch.split(column, 700) for column in whole), strict=True)]
    data = Batches(batches, torch.from_numpy(mean).float())
    metrics = validated(trainer(tmp_path), module_of(torch.nn.Identity(), 0.7), data)

    error = columns["predicted"] - columns["labels"]
    assert metrics["huber"] == approx(huber(error, 0.7).mean())
    assert metrics["huber_of_mean"] == approx(huber(columns["labels"] - mean, 0.7).mean())
    assert metrics["label_noise"] == approx(loss_of_noise(tensors["sem"], 0.7).mean().item())
    for k, name in enumerate(CONTINUATIONS):
        assert metrics[f"huber/{name}"] == approx(huber(error[:, k], 0.7).mean())
        assert metrics[f"r2/{name}"] == approx(1 - (error[:, k] ** 2).mean() / columns["labels"][:, k].var())
        for street, street_name in ((0, "preflop"), (1, "flop")):
            rows = columns["street"] == street
            assert metrics[f"huber/{street_name}/{name}"] == approx(huber(error[rows, k], 0.7).mean())
    assert not any("turn" in name for name in metrics)


@pytest.mark.parametrize("device", ["cpu", CUDA])
def test_bfloat16_learns_as_well(tmp_path: Path, device: str) -> None:
    """`trainer.precision=bf16-mixed`: the validation loss is that of float32 to 1%."""
    write_leaf_states(tmp_path, rows=10_000)
    losses = []
    for precision in ("32-true", "bf16-mixed"):
        data = LeafData(str(tmp_path), batch_rows=512, epoch_rows=150_000, validation_share=0.2)
        net = Mlp(inputs.SIZE, [64, 32], 4)
        module = module_of(net)
        learner = trainer(tmp_path, accelerator=device, max_epochs=1, precision=precision)
        learner.fit(module, datamodule=data)
        assert all(weight.dtype == torch.float32 for weight in net.parameters())
        losses.append(validated(learner, module, data))
    first, second = (metrics["huber"] for metrics in losses)
    assert first != second
    assert second == pytest.approx(first, rel=0.01)
    assert second < 0.5 * losses[1]["huber_of_mean"]


@pytest.mark.parametrize("limit", [1.0, 5])
def test_short_windows_of_accumulated_gradients_count_as_whole_ones(tmp_path: Path, limit: float) -> None:
    """Each step has the gradient of the mean loss over the batches of its window."""
    write_leaf_states(tmp_path, rows=2000)
    data, windows = LeafData(str(tmp_path), batch_rows=256, validation_share=0.2), []

    class Checked(LeafModule):
        batches: list[LeafBatch]

        def on_train_epoch_start(self) -> None:
            self.batches = []

        def training_step(self, batch: LeafBatch, index: int) -> torch.Tensor:
            self.batches.append(batch)
            return super().training_step(batch, index)

        def on_before_optimizer_step(self, optimizer: torch.optim.Optimizer) -> None:
            super().on_before_optimizer_step(optimizer)
            losses = [super(Checked, self).training_step(batch, 0) for batch in self.batches]
            expected = torch.autograd.grad(torch.stack(losses).mean(), list(self.net.parameters()))
            for parameter, gradient in zip(self.net.parameters(), expected, strict=True):
                torch.testing.assert_close(parameter.grad, gradient)
            windows.append(len(self.batches))
            self.batches = []

    module = module_of(Mlp(inputs.SIZE, [8], 4), kind=Checked)
    settings: dict[str, Any] = {"max_epochs": 2, "accumulate_grad_batches": 4, "limit_train_batches": limit}
    trainer(tmp_path, limit_val_batches=0, **settings).fit(module, datamodule=data)
    epoch = [4, 4, 4] if limit == 1.0 else [4, 1]
    assert windows == 2 * epoch
