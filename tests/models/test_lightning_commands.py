"""What a user of Lightning types: loggers, checkpoints, limits, the rate finder, early stopping, W&B."""

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from torch import nn

from models.leaf.module import LeafModule
from models.training.export import load_net
from models.training.inference import LEAF_NET, leaf_stamp
from poker.run.atomic import MANIFEST
from poker.run.errors import PokernetsError
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import open_artifact
from tests.commands import Done, run_here
from tests.models.shards import write_leaf_states

Train = Callable[..., Done]


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """`train.py model=leaf` on few rows, in this process."""
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=4000, shards=1)
    places = (f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs")
    small = ("model.data.epoch_rows=4096", "trainer.accelerator=cpu", "trainer.max_epochs=2")

    def run(*arguments: str, status: int = 0, hidden: str | None = "[8]") -> Done:
        given = [argument.partition("=")[0] for argument in arguments]
        settings = [each for each in small if each.partition("=")[0] not in given]
        if hidden is not None and "model.net.hidden" not in given:
            settings.append(f"model.net.hidden={hidden}")
        done = run_here("train", "model=leaf", *places, *settings, *arguments)
        assert done.returncode == status, done.stderr
        return done

    return run


def run_folder(tmp_path: Path, number: int = 0) -> Path:
    return sorted((tmp_path / "runs").glob("leaf_net-*"), key=lambda folder: folder.stat().st_mtime)[number]


def metrics(folder: Path) -> list[dict[str, str]]:
    """Rows of the CSV logs below a folder."""
    files = sorted(folder.rglob("metrics.csv"), key=lambda file: file.stat().st_mtime)
    return [row for file in files for row in csv.DictReader(file.read_text().splitlines())]


def column(folder: Path, name: str) -> dict[int, float]:
    """Logged values by step."""
    return {int(row["step"]): float(row[name]) for row in metrics(folder) if row.get(name)}


def error_of(done: Done) -> str:
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.stderr.strip().endswith(line)
    return line


def test_settings_are_hyperparameters_of_every_logger(train: Train, tmp_path: Path) -> None:
    train("logger=[tensorboard,csv]", "model.learning_rate=0.005")
    for name in ("tensorboard", "csv/version_0"):
        logged = yaml.safe_load((run_folder(tmp_path) / name / "hparams.yaml").read_text())
        assert (logged["learning_rate"], logged["net"]["hidden"], logged["data"]["batch_rows"]) == (0.005, [8], 512)
    [first, second] = metrics(tmp_path)
    assert float(second["validation/huber"]) < float(first["validation/huber"])
    assert not any(name.startswith("test/") for name in first)  # these rows choose the epoch


def test_training_losses_are_means_over_the_interval(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    losses: list[float] = []
    step = LeafModule.training_step

    def recorded(*arguments: Any) -> Any:
        losses.append(float(loss := step(*arguments)))
        return loss

    monkeypatch.setattr(LeafModule, "training_step", recorded)
    train("logger=csv", "trainer.log_every_n_steps=3")
    assert len(losses) == 16
    expected = {3 * at + 2: np.mean(losses[3 * at : 3 * at + 3]) for at in range(5)}
    assert column(tmp_path, "train/huber") == pytest.approx(expected, rel=1e-5)
    by_name = [column(tmp_path, f"train/huber/{name}") for name in CONTINUATIONS]
    assert np.mean([[*each.values()] for each in by_name], axis=0) == pytest.approx([*expected.values()], rel=1e-5)


def test_a_csv_log_keeps_the_epochs_before_an_interruption(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupt(module: LeafModule) -> None:
        if module.current_epoch == 1:
            raise PokernetsError("interrupted")

    with monkeypatch.context() as patched:
        patched.setattr(LeafModule, "on_train_epoch_start", interrupt)
        train("logger=csv", "trainer.max_epochs=3", status=2)
    train("logger=csv", "trainer.max_epochs=3")
    assert [*column(tmp_path, "validation/huber")] == [7, 15, 23]


def test_the_seed_decides_about_nets_that_draw_from_torch(train: Train, tmp_path: Path) -> None:
    linear = "{_target_: torch.nn.Linear, _partial_: true, in_features: 34, out_features: 4}"
    (tmp_path / "conf" / "net").mkdir(parents=True)
    (tmp_path / "conf" / "net" / "linear.yaml").write_text(f"# @package _global_\nmodel: {{net: {linear}}}\n")
    settings = ("net=linear", f"hydra.searchpath=[{tmp_path}/conf]", "model.data.epoch_rows=512")
    nets = []
    for number, seed in enumerate((1, 1, 2)):
        torch.rand(5)
        train(*settings, f"seed={seed}", "model.data.seed=1", f"outputs={tmp_path}/{number}", hidden=None)
        net = load_net(
            tmp_path / str(number) / "leaf_net",
            LEAF_NET,
            stamp=leaf_stamp(CONTINUATIONS),
            architectures=["torch.nn.modules.linear.Linear"],
        )
        nets.append(net.state_dict()["weight"])
    assert torch.equal(nets[0], nets[1])
    assert not torch.equal(nets[0], nets[2])


def test_fast_dev_run_tries_a_net_and_exports_none(train: Train, tmp_path: Path) -> None:
    train()
    made = (tmp_path / "made" / "leaf_net" / MANIFEST).read_bytes()
    assert "tried on a few batches" in train("trainer.fast_dev_run=true", "model.learning_rate=0.1").stderr
    assert (tmp_path / "made" / "leaf_net" / MANIFEST).read_bytes() == made


def test_half_precision_on_a_cpu_is_refused(train: Train) -> None:
    assert "trainer.precision=16-mixed needs a GPU" in error_of(train("trainer.precision=16-mixed", status=2))


def test_one_logger_is_chosen_by_its_name(train: Train, tmp_path: Path) -> None:
    train("logger=csv")
    assert not (run_folder(tmp_path) / "tensorboard").exists()


def test_wandb_by_its_group_and_by_its_class(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    train("logger=wandb", "loggers.wandb.offline=true")
    assert list(run_folder(tmp_path).glob("wandb/offline-run-*"))
    own = f"trainer.logger={{_target_: lightning.pytorch.loggers.WandbLogger, offline: true, save_dir: {tmp_path}}}"
    train(own, "outputs=" + str(tmp_path / "own"), "model.learning_rate=0.001")
    assert list(tmp_path.glob("wandb/offline-run-*"))


def test_batches_are_limited_and_the_best_checkpoints_are_kept(train: Train, tmp_path: Path) -> None:
    train("trainer.limit_train_batches=2", "trainer.max_epochs=4", "callbacks.checkpoint.save_top_k=3")
    folder = run_folder(tmp_path) / "checkpoints"
    assert len(list(folder.glob("epoch=*.ckpt"))) == 3
    assert open_artifact(tmp_path / "made" / "leaf_net", LEAF_NET).config["trainer"]["limit_train_batches"] == 2


def test_a_run_goes_on_from_a_checkpoint_of_another(train: Train, tmp_path: Path) -> None:
    train()
    [last] = (tmp_path / "runs").glob("*/checkpoints/last.ckpt")
    done = train(f"ckpt_path={last}", "trainer.max_epochs=3", f"outputs={tmp_path}/longer")
    assert "trained to epoch 3" in done.stderr
    longer = open_artifact(tmp_path / "longer" / "leaf_net", LEAF_NET)
    assert (longer.counts["epochs"], "checkpoint" in longer.made_from) == (3, True)
    assert len(list(run_folder(tmp_path, 1).glob("checkpoints/epoch=*.ckpt"))) == 1
    before = ["trainer.max_epochs=1", f"outputs={tmp_path}/before", f"ckpt_path={last}"]
    assert "raise trainer.max_epochs" in error_of(train(*before, status=2))
    others = ["model.net.hidden=[9]", f"outputs={tmp_path}/other", f"ckpt_path={last}"]
    assert f"{last} is of another net: give another ckpt_path" in error_of(train(*others, status=2))
    missing = error_of(train(f"outputs={tmp_path}/other", "ckpt_path=none.ckpt", status=2))
    assert missing == "error: there is no checkpoint none.ckpt: give another ckpt_path"


def test_rates_and_patience_are_those_of_the_run_that_goes_on(train: Train, tmp_path: Path) -> None:
    """As if this run had taken the steps of the checkpoint, 16 here, with its own settings."""
    log, stop = ("logger=csv", "trainer.log_every_n_steps=1"), "callbacks.early_stopping.min_delta=10"
    train("callbacks.early_stopping.patience=1", stop)
    [last] = (tmp_path / "runs").glob("*/checkpoints/last.ckpt")
    on = (f"ckpt_path={last}", "trainer.max_epochs=6", f"outputs={tmp_path}/longer", f"runs={tmp_path}/longer")
    done = train(*log, *on, stop, "callbacks.early_stopping.patience=5", "model.learning_rate=0.001")
    assert "trained to epoch 6" in done.stderr
    expected = {step: 0.0005 * (1 + np.cos(np.pi * step / 48)) for step in range(16, 48)}
    assert column(tmp_path / "longer", "lr-Adam") == pytest.approx(expected)


def test_a_damaged_last_checkpoint_is_named_with_what_to_remove(train: Train, tmp_path: Path) -> None:
    train()
    [last] = (tmp_path / "runs").glob("*/checkpoints/last.ckpt")
    data = bytearray(last.read_bytes())
    data[len(data) // 2] ^= 1
    last.write_bytes(data)
    (tmp_path / "made" / "leaf_net").rename(tmp_path / "aside")
    problem, remedy = f"the checkpoint {last} cannot be read", f"remove {last.parents[1]}, and it trains from the start"
    assert error_of(train(status=2)) == f"error: {problem}: {remedy}"


def test_a_learning_rate_is_looked_for(train: Train) -> None:
    done = train("find_learning_rate=true", "trainer.max_epochs=6", "model.data.epoch_rows=20000")
    [rate] = re.findall(r"^learning rate found: (\S+)$", done.stderr, re.MULTILINE)
    assert 1e-4 < float(rate) < 0.3


def test_the_net_is_compiled_where_that_is_asked_for(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[nn.Module] = []
    monkeypatch.setattr(nn.Module, "compile", lambda net: compiled.append(net))  # noqa: PLW0108
    train("compile=true")
    assert [type(net).__name__ for net in compiled] == ["Mlp"]


def test_the_end_says_where_it_stopped_and_what_was_best(train: Train) -> None:
    stop = ("callbacks.early_stopping.patience=1", "callbacks.early_stopping.min_delta=10")
    done = train("trainer.max_epochs=9", *stop)
    assert re.search(r"^stopped early at epoch 2, best [12]$", done.stderr, re.MULTILINE)


def test_an_interruption_says_how_to_go_on(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LeafModule, "validation_step", interrupted)
    done = train(status=130)
    assert done.stderr.endswith("interrupted; run the same command to go on: what was written is kept\n")
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("column", ["features", "labels"])
def test_a_row_that_is_not_finite_is_named_before_anything_is_trained(
    train: Train, tmp_path: Path, column: str
) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=4000, shards=1, broken=(column, 77))
    error = error_of(train(status=2))
    assert f"leaf_states/shard-00000: row 77 of '{column}' is not finite." in error
    assert "Move" in error
