"""Batches from shards: the rows of the disk, split by group, refused by name; and the figures that training reports."""

import os
import resource
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import lightning
import numpy as np
import pytest
import torch
from lightning import Trainer
from torch.utils.data import DataLoader

from models.leaf.data import LeafBatch, LeafColumns, LeafData, held_out
from models.leaf.module import LeafModule, loss_of_noise
from models.training.mlp import Mlp
from poker.depth_limit import inputs
from poker.depth_limit.shards import KIND, STAMP, columns_of, open_shards, write_shard
from poker.run.errors import PokernetsError
from poker.run.machine import allow_open_files
from poker.solvers.blueprint import CONTINUATIONS
from poker.store import shards
from poker.store.artifacts import CorruptArtifactError, MismatchedArtifactError, MissingArtifactError, write_artifact
from tests.devices import CUDA
from tests.models.shards import truth, write_leaf_states


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "leaf_states"
    write_leaf_states(path, rows=5000, shards=3)
    return path


def test_gathering_is_plain_indexing_of_the_shards_in_a_row(root: Path) -> None:
    columns = LeafColumns(str(root))
    rows = np.random.default_rng(0).permutation(len(columns))[:4000]
    for name in columns_of(4):
        np.testing.assert_array_equal(columns.take(name, rows), columns.all(name)[rows])


def test_many_shards_are_open_at_once(tmp_path: Path) -> None:
    write_leaf_states(tmp_path, rows=4, shards=20)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/dev/fd")) + 60, before[1]))
    try:
        columns = LeafColumns(str(tmp_path))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert len(columns) == 80
    with pytest.raises(PokernetsError, match=r"1,000,000,000 files .* fewer and larger shards"):
        allow_open_files(10**9)


def test_no_group_is_on_both_sides_of_the_split(root: Path) -> None:
    data = LeafData(str(root), batch_rows=256, validation_share=0.2)
    groups = LeafColumns(str(root)).all("group")
    train, validation = set(groups[data.train_rows]), set(groups[data.validation_rows])
    assert not train & validation
    assert len(data.train_rows) + len(data.validation_rows) == 15000
    # 400 groups, a fifth held out: standard deviation 8 groups.
    assert abs(len(validation) - 80) < 4 * 8


def test_the_split_depends_on_the_group_and_the_seed_alone() -> None:
    groups = np.arange(100_000, dtype=np.int32)
    part = held_out(groups, 0.05, seed=1)
    np.testing.assert_array_equal(part[::-1], held_out(groups[::-1], 0.05, seed=1))
    assert abs(part.mean() - 0.05) < 4 * np.sqrt(0.05 * 0.95 / 100_000)
    both = part & held_out(groups, 0.05, seed=2)
    assert abs(both.mean() - 0.0025) < 4 * np.sqrt(0.0025 / 100_000)


def test_training_seed_changes_batches_and_not_the_held_out_rows(root: Path) -> None:
    one, two = (LeafData(str(root), batch_rows=256, validation_share=0.2, seed=seed) for seed in (1, 2))
    np.testing.assert_array_equal(one.validation_rows, two.validation_rows)
    first, other = (next(iter(data.train_dataloader())).features for data in (one, two))
    assert not torch.equal(first, other)
    moved = LeafData(str(root), batch_rows=256, validation_share=0.2, seed=1, split_seed=1)
    assert not np.array_equal(one.validation_rows, moved.validation_rows)


def test_batches_have_matching_features_and_labels(root: Path) -> None:
    data = LeafData(str(root), batch_rows=512, validation_share=0.2)
    batches = list(data.train_dataloader())
    assert len(batches) == data.epoch_batches == len(data.train_dataloader()) == len(data.train_rows) // 512
    for batch in batches[:3]:
        assert batch.features.shape == (512, inputs.SIZE)
        error = batch.labels.numpy() - truth(batch.features.numpy())
        assert abs(error.std() - 0.05) < 0.005
    seen = sum(len(batch.street) for batch in data.val_dataloader())
    assert seen == len(data.validation_rows)


@pytest.mark.parametrize("device", ["cpu", CUDA])
def test_rows_on_the_device_make_the_same_batches(root: Path, device: str) -> None:
    settings: dict[str, Any] = {"batch_rows": 512, "validation_share": 0.2}
    data, on_device = LeafData(str(root), **settings), LeafData(str(root), **settings, on_device=True)
    assert on_device.config == data.config
    trainer = SimpleNamespace(current_epoch=1, global_rank=1, world_size=2)
    trainer.strategy = SimpleNamespace(root_device=torch.device(device))
    data.trainer = on_device.trainer = cast(Trainer, trainer)
    loaders = [(each.train_dataloader(), each.val_dataloader()) for each in (data, on_device)]
    for loader, other in zip(*loaders, strict=True):
        count = 0
        for batch, same in zip(loader, other, strict=True):
            count += 1
            for column, equal in zip(batch, same, strict=True):
                assert column.dtype == equal.dtype
                torch.testing.assert_close(column, equal.cpu(), rtol=0, atol=0)
        assert count == len(other)


def test_epochs_follow_each_other_in_one_stream(root: Path) -> None:
    def firsts(epoch_rows: int, epochs: range) -> list[float]:
        data = LeafData(str(root), batch_rows=512, epoch_rows=epoch_rows, validation_share=0.2)
        seen = []
        for epoch in epochs:
            data.trainer = cast(Trainer, SimpleNamespace(current_epoch=epoch, global_rank=0, world_size=1))
            seen += [float(batch.features[0, 0]) for batch in data.train_dataloader()]
        return seen

    whole = firsts(12 * 512, range(1))
    assert len(set(whole)) > 6
    assert firsts(3 * 512, range(4)) == whole


def test_processes_share_an_epoch_and_the_validation_part(root: Path) -> None:
    data = LeafData(str(root), batch_rows=512, validation_share=0.2)
    whole = [float(batch.features[0, 0]) for batch in data.train_dataloader()]
    parts, rows = [], 0
    for rank in range(2):
        data.trainer = cast(Trainer, SimpleNamespace(current_epoch=0, global_rank=rank, world_size=2))
        parts.append([float(batch.features[0, 0]) for batch in data.train_dataloader()])
        assert len(parts[rank]) == len(data.train_dataloader()) == len(whole) // 2
        rows += sum(len(batch.street) for batch in data.val_dataloader())
    assert [first for pair in zip(*parts, strict=True) for first in pair] == whole[: len(whole) // 2 * 2]
    assert rows == len(data.validation_rows)


def test_streets_and_seats_select(root: Path) -> None:
    data = LeafData(str(root), batch_rows=256, validation_share=0.2, streets=[1], seats=[0])
    columns = LeafColumns(str(root))
    for rows in (data.train_rows, data.validation_rows):
        assert (columns.take("street", rows) == 1).all()
        assert (columns.take("seat", rows) == 0).all()
    with pytest.raises(PokernetsError, match=r"no row has street in \[3\]"):
        LeafData(str(root), streets=[3])


def test_label_mean_is_that_of_the_training_rows(root: Path) -> None:
    data = LeafData(str(root), validation_share=0.2)
    wanted = LeafColumns(str(root)).all("labels")[data.train_rows].astype(np.float64).mean(axis=0)
    np.testing.assert_allclose(data.label_mean.numpy(), wanted, atol=1e-6)


def test_data_summary_counts_rows_and_names_the_first_missing_shard(tmp_path: Path) -> None:
    write_leaf_states(tmp_path, rows=1000, shards=4)
    assert LeafData(str(tmp_path), batch_rows=64).summary == "4,000 rows of 4 shards, 4 continuations"
    shutil.rmtree(tmp_path / "shard-00001")
    summary = LeafData(str(tmp_path), batch_rows=64).summary
    assert summary.startswith("3,000 rows of 3 shards, 4 continuations; shard-00001 is missing")


def test_missing_truncated_and_foreign_shards_are_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(MissingArtifactError, match="python -m data_gen job=leaf_states"):
        LeafData(str(tmp_path / "nowhere"))
    write_leaf_states(tmp_path, rows=600)
    file = tmp_path / "shard-00001" / "labels.npy"
    sound = file.read_bytes()
    file.write_bytes(sound[:-100])
    with pytest.raises(CorruptArtifactError, match=r"shard-00001/labels\.npy has \d+ bytes, its manifest says"):
        LeafData(str(tmp_path))
    file.write_bytes(sound[:-1] + bytes([sound[-1] ^ 1]))
    with pytest.raises(CorruptArtifactError, match=r"labels\.npy does not match the SHA-256"):
        LeafData(str(tmp_path))
    assert len(list(tmp_path.iterdir())) == 2


def test_shards_of_other_features_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(STAMP, "feature_hash", shards.hash_of(("other", *inputs.NAMES[1:]), inputs.VERSION))
    write_leaf_states(tmp_path, rows=600)
    monkeypatch.undo()
    with pytest.raises(MismatchedArtifactError, match="feature_hash"):
        LeafData(str(tmp_path))


def test_shards_that_do_not_name_their_continuations_are_refused(tmp_path: Path) -> None:
    write_leaf_states(tmp_path, 100, shards=1)
    [shard] = open_shards(tmp_path)
    config = {name: value for name, value in shard.config.items() if name != "continuations"}
    write_artifact(shard.path, KIND, config=config, arrays=dict(shard.arrays), counts=dict(shard.counts))
    with pytest.raises(
        MismatchedArtifactError,
        match=r"shard-00000 does not name its continuations. Move .*shard-00000 away and make it with",
    ):
        open_shards(tmp_path)


@pytest.mark.parametrize("differing", [{"config": {"game": "other"}}, {"made_from": {"blueprint": "other"}}])
def test_shards_of_different_making_are_refused(tmp_path: Path, differing: dict[str, Any]) -> None:
    write_leaf_states(tmp_path, 100)
    for index, shard in enumerate(open_shards(tmp_path)):
        config = {**shard.config, "shard": index}
        write_artifact(shard.path, KIND, config=config, arrays=dict(shard.arrays), counts=dict(shard.counts))
    *_, shard = open_shards(tmp_path)
    config = {**shard.config, **differing.pop("config", {})}
    write_artifact(shard.path, KIND, config=config, arrays=dict(shard.arrays), counts=dict(shard.counts), **differing)
    with pytest.raises(MismatchedArtifactError, match=r"shard-00001 was made with (game|made_from.blueprint)='other'"):
        open_shards(tmp_path)


def test_writing_a_wrong_column_is_refused(tmp_path: Path) -> None:
    columns = {name: np.zeros((5, *shape)) for name, (_, shape, *_) in columns_of(4).items()}
    wrong = {**columns, "labels": np.zeros((5, 3))}
    with pytest.raises(ValueError, match="'labels' has shape"):
        write_shard(tmp_path / "a", wrong, config={}, continuations=CONTINUATIONS)
    with pytest.raises(ValueError, match="a shard has the columns"):
        write_shard(tmp_path / "a", {**columns, "extra": np.zeros(5)}, config={}, continuations=CONTINUATIONS)


@pytest.mark.parametrize("changes", [{"validation_share": 0.0}, {"validation_share": 1.0}, {"batch_rows": 0}])
def test_senseless_settings_are_refused(root: Path, changes: dict[str, Any]) -> None:
    with pytest.raises(PokernetsError, match=r"data\.validation_share"):
        LeafData(str(root), **changes)


def test_a_split_that_leaves_nothing_is_refused(tmp_path: Path) -> None:
    write_leaf_states(tmp_path, rows=50, shards=1, groups=1)
    with pytest.raises(PokernetsError, match="make more leaf states"):
        LeafData(str(tmp_path))


def test_labels_are_for_the_continuations_that_the_shards_name(tmp_path: Path) -> None:
    rows: dict[str, Any] = {name: np.ones((64, *shape)) for name, (_, shape, *_) in columns_of(2).items()}
    rows["group"], names = np.arange(64), ("blueprint", "response_1")
    for index in range(2):
        write_shard(shards.shard_path(tmp_path, index), rows, config={}, continuations=names)
    data = LeafData(str(tmp_path), batch_rows=8, validation_share=0.3)
    assert data.continuations == names
    assert data.label_mean.tolist() == [1.0, 1.0]
    assert next(iter(data.val_dataloader())).labels.shape[1] == 2
    four = {name: np.ones((5, *shape)) for name, (_, shape, *_) in columns_of(4).items()}
    write_shard(shards.shard_path(tmp_path, 2), four, config={}, continuations=CONTINUATIONS)
    with pytest.raises(MismatchedArtifactError, match="store data sets in separate folders"):
        LeafData(str(tmp_path))


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


def test_metrics_do_not_depend_on_the_batches(columns: dict[str, np.ndarray], tmp_path: Path) -> None:
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
