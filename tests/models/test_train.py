"""`train.py model=leaf` as a user runs it: it learns, exports, resumes after SIGKILL, reuses and refuses."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hydra.utils import instantiate
from lightning.pytorch import callbacks
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from conf.compose import compose
from models.training.fitting import EarlyStopping, recipe
from models.training.inference import LEAF_NET, LeafNet
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import canonical_json, open_artifact
from tests.commands import Done, run_here
from tests.games import resolve
from tests.killed import ROOT, run_killed
from tests.models.shards import NOISE, truth, write_leaf_states

TRAINING_STEP = "models.leaf.module:LeafModule.training_step"


def command(work: Path, *overrides: str) -> list[str]:
    """A training run of a few seconds on one thread."""
    settings = {
        "artifacts": work / "artifacts",
        "runs": work / "runs",
        "model.threads": 1,
        "trainer.accelerator": "cpu",
        "trainer.log_every_n_steps": 20,
        "trainer.max_epochs": 5,
        "model.net.hidden": "[64,32]",
        "model.data.batch_rows": 512,
        "model.data.epoch_rows": 150_000,
        "model.learning_rate": 0.005,
    }
    base = [f"{key}={value}" for key, value in settings.items()]
    return [sys.executable, "train.py", "model=leaf", *base, *overrides]


def run(work: Path, *overrides: str) -> subprocess.CompletedProcess[str]:
    arguments = command(work, *overrides)
    return subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)


def refused(work: Path, *overrides: str) -> Done:
    """Run the command in this process, for cases in which nothing is trained."""
    return run_here("train", *command(work, *overrides)[2:])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("train")
    write_leaf_states(work / "artifacts" / "leaf_states", rows=50_000)
    done = run(work)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Epoch 4: 100%.*validation/huber=0\.\d", done.stdout)
    assert re.search(r"^trained to epoch 5, best [1-5]$", done.stderr, re.MULTILINE)
    assert not re.search(r"Epoch|Testing|it/s|Warning", done.stderr)
    return work


@pytest.mark.slow
def test_it_learns_a_known_function(trained: Path) -> None:
    artifact = open_artifact(trained / "artifacts" / "leaf_net", LEAF_NET)
    losses = artifact.counts["validation"]
    assert losses["label_noise"] < losses["huber"] < 0.15 * losses["huber_of_mean"]
    assert abs(losses["label_noise"] - NOISE**2 / 2) < 1e-5
    features = np.random.default_rng(5).random((3000, 34), dtype=np.float32)
    error = LeafNet(artifact.path).values(features) - truth(features)
    assert np.square(error).mean() < 0.08 * truth(features).var()


def test_the_logs_hold_what_a_user_looks_for(trained: Path) -> None:
    (logs,) = (trained / "runs").glob("leaf_net-*/tensorboard")
    events = EventAccumulator(str(logs))
    events.Reload()
    names = set(events.Tags()["scalars"])
    wanted = {"train/huber", "validation/huber", "train/device/samples_per_sec", "lr-Adam", "validation/r2"}
    wanted |= {"validation/huber_of_mean", "validation/label_noise"}
    wanted |= {f"train/huber/{name}" for name in CONTINUATIONS}
    wanted |= {f"validation/huber/{street}/{name}" for street in ("preflop", "flop") for name in CONTINUATIONS}
    assert wanted <= names
    assert len(events.Scalars("validation/huber")) == 5
    assert events.Tags()["images"] == ["validation/scatter"]


@pytest.mark.slow
def test_a_second_run_keeps_the_net_and_other_settings_are_refused(trained: Path) -> None:
    manifest = trained / "artifacts" / "leaf_net" / "manifest.json"
    before = manifest.read_bytes()
    for setting, status, message in ((), 0, "made already"), (("model.learning_rate=0.1",), 2, "learning_rate"):
        done = refused(trained, *setting)
        assert done.returncode == status
        assert message in done.stderr
    assert manifest.read_bytes() == before


def test_options_and_callbacks_of_lightnings_trainer_are_settings() -> None:
    chosen = ("trainer.precision=bf16-mixed", "trainer.profiler=simple", "~callbacks.early_stopping")
    config = compose("train", ["model=leaf", *chosen, "+callbacks.timer={_target_: lightning.pytorch.callbacks.Timer}"])
    settings = instantiate(resolve(config.trainer), _convert_="all")
    trainer = settings(logger=False)
    assert trainer.precision == "bf16-mixed"
    assert type(trainer.profiler).__name__ == "SimpleProfiler"
    kinds = [type(each) for each in trainer.callbacks]
    assert callbacks.Timer in kinds
    assert callbacks.TQDMProgressBar in kinds
    assert EarlyStopping not in kinds
    assert recipe(settings)["precision"] == "bf16-mixed"
    assert "profiler" not in recipe(settings)


@pytest.mark.parametrize(
    "override",
    [
        "callbacks.checkpoint.monitor=train/loss",
        "callbacks.checkpoint.mode=max",
        "callbacks.early_stopping.monitor=train/loss",
        "callbacks.early_stopping.min_delta=0.1",
        "~callbacks.early_stopping",
        "+callbacks.average={_target_: lightning.pytorch.callbacks.StochasticWeightAveraging, swa_lrs: [0.1]}",
        "trainer.devices=[0,1]",
    ],
)
def test_what_shapes_a_net_tells_recipes_apart(override: str) -> None:
    plain, other = recipe_of(), recipe_of(override)
    assert plain != other
    assert canonical_json(other)


def test_what_shows_the_training_does_not() -> None:
    assert recipe_of("callbacks.progress.refresh_rate=9", "~callbacks.throughput") == recipe_of()


def recipe_of(*overrides: str) -> dict[str, Any]:
    return recipe(instantiate(resolve(compose("train", ["model=leaf", *overrides]).trainer), _convert_="all"))


@pytest.mark.slow
def test_killed_and_started_again_it_ends_in_the_same_weights(trained: Path, tmp_path: Path) -> None:
    write_leaf_states(tmp_path / "artifacts" / "leaf_states", rows=50_000)
    run_killed(TRAINING_STEP, 700, *command(tmp_path)[1:])  # in the middle of the third epoch
    assert not (tmp_path / "artifacts" / "leaf_net").exists()
    (last,) = (tmp_path / "runs").glob("leaf_net-*/checkpoints/last.ckpt")
    assert torch.load(last, weights_only=True)["epoch"] == 1

    done = run(tmp_path)
    assert done.returncode == 0, done.stderr
    resumed, whole = (open_artifact(work / "artifacts" / "leaf_net", LEAF_NET) for work in (tmp_path, trained))
    assert resumed.fingerprint == whole.fingerprint  # which has the checksum of the weights
