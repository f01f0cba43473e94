"""`train.py model=leaf` as a user runs it: it learns, exports, reuses and refuses (killed: tests.test_pipeline)."""

import contextlib
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from conf.compose import build, compose
from models.training.inference import LEAF_NET, LeafNet
from models.training.run import run_folder
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import MissingArtifactError, open_artifact
from tests.cases import cases
from tests.commands import Done, run_here
from tests.games import choices
from tests.killed import ROOT
from tests.models.shards import NOISE, truth, write_leaf_states

GROUPS = ("callbacks", "data", "logger", "model", "net", "trainer")


def command(*overrides: str) -> list[str]:
    """A training run of a few seconds on one thread, with relative folders, as the defaults are."""
    folders = "artifacts=artifacts runs=runs trainer.accelerator=cpu trainer.log_every_n_steps=20 trainer.max_epochs=5"
    small = "net.hidden=[64,32] data.batch_rows=512 data.epoch_rows=150000 model.optimizer.lr=0.005"
    return [sys.executable, str(ROOT / "train.py"), "model=leaf", *folders.split(), *small.split(), *overrides]


def run(work: Path, *overrides: str) -> subprocess.CompletedProcess[str]:
    arguments = command(*overrides)
    return subprocess.run(arguments, cwd=work, capture_output=True, text=True, timeout=600, check=False)


def refused(work: Path, *overrides: str) -> Done:
    """Run the command in this process, for cases in which nothing is trained."""
    with contextlib.chdir(work):
        return run_here("train", *command(*overrides)[2:])


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    work = tmp_path_factory.mktemp("train")
    write_leaf_states(work / "artifacts" / "leaf_states", rows=50_000)
    done = run(work)
    assert done.returncode == 0, done.stderr
    assert re.search(r"Epoch 4: 100%.*validation/huber=0\.\d", done.stdout)
    assert done.stderr.endswith("exported to artifacts/leaf_net\n")
    assert not re.search(r"Epoch|Testing|it/s|Warning", done.stderr)
    return work


@pytest.mark.slow
def test_training_recovers_a_given_function(trained: Path) -> None:
    artifact = open_artifact(trained / "artifacts" / "leaf_net", LEAF_NET)
    losses = artifact.counts["validation"]
    assert losses["label_noise"] < losses["huber"] < 0.15 * losses["huber_of_mean"]
    assert abs(losses["label_noise"] - NOISE**2 / 2) < 1e-5
    features = np.random.default_rng(5).random((3000, 34), dtype=np.float32)
    error = LeafNet(artifact.path).values(features) - truth(features)
    assert np.square(error).mean() < 0.08 * truth(features).var()


def test_logs_have_the_losses_by_street_and_continuation(trained: Path) -> None:
    (logs,) = (trained / "runs").glob("leaf_net-*/tensorboard")
    events = EventAccumulator(str(logs))
    events.Reload()
    names = set(events.Tags()["scalars"])
    wanted = {"train/loss", "validation/huber", "train/device/samples_per_sec", "lr-Adam", "validation/r2"}
    wanted |= {"validation/huber_of_mean", "validation/label_noise"}
    wanted |= {f"validation/huber/{street}/{name}" for street in ("preflop", "flop") for name in CONTINUATIONS}
    assert wanted <= names
    assert len(events.Scalars("validation/huber")) == 6  # five epochs, and the exported net


@pytest.mark.slow
def test_a_second_run_keeps_the_net_and_other_settings_are_refused(trained: Path) -> None:
    manifest = trained / "artifacts" / "leaf_net" / "manifest.json"
    before = manifest.read_bytes()
    for setting, status, message in (
        ((), 0, "exported to"),
        (("model.optimizer.lr=0.1",), 2, "model.optimizer.lr=0.005, not with 0.1"),
    ):
        done = refused(trained, *setting)
        assert done.returncode == status
        assert message in done.stderr
    assert manifest.read_bytes() == before


@pytest.mark.parametrize(("group", "option"), [(group, option) for group in GROUPS for option in choices(group)])
def test_every_option_is_built(group: str, option: str, tmp_path: Path) -> None:
    if option == "wandb":
        pytest.importorskip("wandb")
    chosen = ["model=opponent"] if group == "net" and option != "mlp" else []
    config = compose("train", [*chosen, f"{group}={option}", f"run={tmp_path}", f"artifacts={tmp_path}"])
    for node in config[group].values() if group in ("callbacks", "logger") else [config[group]]:
        with contextlib.suppress(MissingArtifactError):
            assert build(node) is not None


@cases
def test_settings_that_shape_a_net_have_a_run_of_their_own(override: str) -> None:
    assert run_folder(compose("train", [override])) != run_folder(compose("train", []))


def test_settings_that_show_a_training_do_not() -> None:
    shown = ("callbacks.progress.refresh_rate=9", "~callbacks.throughput", "trainer.profiler=simple", "logger=csv")
    assert run_folder(compose("train", [*shown])) == run_folder(compose("train", []))
