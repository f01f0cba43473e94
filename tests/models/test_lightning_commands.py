"""What a user of Lightning types: loggers, checkpoints, limits, the rate finder, early stopping, W&B, ONNX."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from torch import nn

from models.leaf.module import LeafModule
from models.training.inference import LEAF_NET, LeafNet
from poker.run.atomic import MANIFEST
from poker.store.artifacts import open_artifact
from tests.commands import Done, run_here
from tests.models.shards import write_leaf_states

Train = Callable[..., Done]


@pytest.fixture
def train(tmp_path: Path) -> Train:
    """`train.py model=leaf` on few rows, in this process."""
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=4000, shards=1)
    places = (f"artifacts={tmp_path}/made", f"runs={tmp_path}/runs")
    small = ("model.net.hidden=[8]", "model.data.epoch_rows=4096", "trainer.accelerator=cpu", "trainer.max_epochs=2")

    def run(*arguments: str, status: int = 0, model: str = "leaf") -> Done:
        given = [argument.partition("=")[0] for argument in arguments]
        settings = [each for each in small if each.partition("=")[0] not in given] if model == "leaf" else []
        done = run_here("train", f"model={model}", *places, *settings, *arguments)
        assert done.returncode == status, done.stderr
        return done

    return run


def run_folder(tmp_path: Path, number: int = 0) -> Path:
    return sorted((tmp_path / "runs").glob("leaf_net-*"), key=lambda folder: folder.stat().st_mtime)[number]


def error_of(done: Done) -> str:
    [line] = [line for line in done.stderr.splitlines() if line.startswith("error: ")]
    assert done.stderr.strip().endswith(line)
    return line


def test_settings_are_hyperparameters_of_every_logger(train: Train, tmp_path: Path) -> None:
    train("logger=[tensorboard,csv]", "model.learning_rate=0.005")
    for name in ("tensorboard", "csv"):
        logged = yaml.safe_load((run_folder(tmp_path) / name / "hparams.yaml").read_text())
        assert (logged["learning_rate"], logged["net"]["hidden"], logged["data"]["batch_rows"]) == (0.005, [8], 512)
    header, *rows = (run_folder(tmp_path) / "csv" / "metrics.csv").read_text().splitlines()
    assert "validation/huber" in header.split(",")
    assert len(rows) == 3  # two epochs and the test


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
    others = ["model.net.hidden=[9]", f"outputs={tmp_path}/other", f"ckpt_path={last}"]
    assert f"{last} is of another net: give another ckpt_path" in error_of(train(*others, status=2))
    missing = error_of(train(f"outputs={tmp_path}/other", "ckpt_path=none.ckpt", status=2))
    assert missing == "error: there is no checkpoint none.ckpt: give another ckpt_path"


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
    assert "Delete" in error


def test_onnx_answers_as_the_net_does(train: Train, tmp_path: Path) -> None:
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnxscript")
    train()
    train(model="onnx")
    session = runtime.InferenceSession(tmp_path / "made" / "net.onnx")
    features = np.random.default_rng(1).random((11, 34), dtype=np.float32)
    [values] = session.run(None, {"features": features})
    np.testing.assert_allclose(values, LeafNet(tmp_path / "made" / "leaf_net").values(features), atol=1e-5)
    stamp = json.loads(session.get_modelmeta().custom_metadata_map["stamp"])
    assert stamp.items() <= json.loads((tmp_path / "made" / "leaf_net" / MANIFEST).read_text())["config"].items()


def test_onnx_says_what_to_install(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert error_of(train(model="onnx", status=2)).startswith("error: files of ONNX need a package more: pip install")
