"""Settings that users of Lightning know: loggers, checkpoints, limits, early stopping, W&B."""

import csv
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import yaml
from torch import nn

from models.leaf.module import LeafModule
from models.training.export import load_net
from models.training.inference import LEAF_NET, leaf_stamp
from poker.run.atomic import MANIFEST
from poker.run.errors import PokernetsError
from poker.run.lock import claimed
from poker.solvers.blueprint import CONTINUATIONS
from poker.store.artifacts import open_artifact
from tests.cases import cases
from tests.commands import Done, run_here
from tests.models.shards import write_leaf_states

Train = Callable[..., Done]


@pytest.fixture
def train(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Train:
    """`train.py model=leaf` on few rows, in this process, with relative folders in a temporary one."""
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=4000, shards=1)
    monkeypatch.chdir(tmp_path)
    places = ("artifacts=made", "runs=runs")
    small = ("data.batch_rows=512", "data.epoch_rows=4096", "trainer.accelerator=cpu", "trainer.max_epochs=2")

    def run(*arguments: str, status: int = 0, hidden: str | None = "[8]") -> Done:
        given = [argument.partition("=")[0] for argument in arguments]
        settings = [each for each in small if each.partition("=")[0] not in given]
        if hidden is not None and "net.hidden" not in given:
            settings.append(f"net.hidden={hidden}")
        done = run_here("train", "model=leaf", *places, *settings, *arguments)
        assert done.returncode == status, done.stderr
        return done

    return run


def run_folder(tmp_path: Path, runs: str = "runs") -> Path:
    return min((tmp_path / runs).glob("leaf_net-*"), key=lambda folder: folder.stat().st_mtime)


def interrupt_at(epoch: int, monkeypatch: pytest.MonkeyPatch, training: Callable[[], Done]) -> Done:
    """Run a training that is interrupted at the start of an epoch."""

    def interrupt(module: LeafModule) -> None:
        if module.current_epoch == epoch:
            raise PokernetsError("interrupted")

    with monkeypatch.context() as patched:
        patched.setattr(LeafModule, "on_train_epoch_start", interrupt)
        return training()


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
    train("logger=[tensorboard,csv]", "model.optimizer.lr=0.005")
    for name in ("tensorboard", "csv/version_0"):
        logged = yaml.safe_load((run_folder(tmp_path) / name / "hparams.yaml").read_text())
        assert logged["model"]["optimizer"]["lr"] == 0.005
        assert (logged["net"]["hidden"], logged["data"]["batch_rows"]) == ([8], 512)
    [first, second, exported] = [row for row in metrics(tmp_path) if row["validation/huber"]]
    assert exported["validation/huber"] == second["validation/huber"]
    assert float(second["validation/huber"]) < float(first["validation/huber"])
    assert not any(name.startswith("test/") for name in first)  # these rows choose the epoch


def test_another_processor_continues_a_run_and_its_csv_log_with_the_same_precision(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first one multiplies in bfloat16, the second one does so only if that is set."""
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": True})
    interrupted = interrupt_at(1, monkeypatch, lambda: train("logger=csv", "trainer.max_epochs=3", status=2))
    assert "precision: bf16-mixed\n" in interrupted.stderr
    monkeypatch.setattr(torch.cpu, "get_capabilities", dict)
    train("logger=csv", "trainer.max_epochs=3", "trainer.precision=bf16-mixed")
    assert not list(tmp_path.rglob("tensorboard"))
    assert [*column(tmp_path, "validation/huber")] == [7, 15, 23, 24]  # and the exported net
    assert "precision: 32-true\n" in train("trainer.max_epochs=3", f"outputs={tmp_path}/other").stderr
    nets = [open_artifact(tmp_path / name / "leaf_net", LEAF_NET) for name in ("made", "other")]
    assert [net.config["trainer"]["precision"] for net in nets] == ["bf16-mixed", "32-true"]
    assert len(list((tmp_path / "runs").glob("leaf_net-*"))) == 2
    assert "precision: 32-true\n" in run_here("train", "model=leaf", "--cfg", "job", "--resolve").stdout


def test_the_seed_decides_about_nets_that_draw_from_torch(train: Train, tmp_path: Path) -> None:
    linear = "net={_target_: torch.nn.Linear, in_features: 34, out_features: 4}"
    nets = []
    for number, seed in enumerate((1, 1, 2)):
        torch.rand(5)
        train("~net", f"+{linear}", f"seed={seed}", "data.seed=1", f"outputs={tmp_path}/{number}", hidden=None)
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
    assert "a test on a few batches" in train("trainer.fast_dev_run=true", "model.optimizer.lr=0.1").stderr
    assert (tmp_path / "made" / "leaf_net" / MANIFEST).read_bytes() == made


def test_wandb_by_its_group(train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("wandb")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    train("logger=wandb", "logger.wandb.offline=true")
    assert list(run_folder(tmp_path).glob("wandb/offline-run-*"))


@pytest.mark.parametrize(
    "limit", ["trainer.limit_train_batches=2", "+trainer.max_steps=3", "+trainer.overfit_batches=2"]
)
def test_the_trainer_trains_on_as_little_as_one_likes(train: Train, tmp_path: Path, limit: str) -> None:
    train(limit)
    name, _, value = limit.partition("=")
    assert open_artifact(tmp_path / "made" / "leaf_net", LEAF_NET).config["trainer"][
        name[9 - (name[0] != "+") :]
    ] == int(value)


@pytest.mark.parametrize("precision", ["bf16-mixed", "32-true"])
def test_gradients_are_clipped_in_every_precision(
    train: Train, precision: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    norms = list[float]()

    def record(module: LeafModule, _: object) -> None:  # the gradients of the step before
        norms.append(float(torch.nn.utils.get_total_norm([p.grad for p in module.parameters() if p.grad is not None])))

    monkeypatch.setattr(LeafModule, "on_before_zero_grad", record)
    train("trainer.gradient_clip_val=0.01", f"trainer.precision={precision}")
    assert max(norms) == pytest.approx(0.01, rel=1e-3)


def test_best_checkpoints_survive(train: Train, tmp_path: Path) -> None:
    train("trainer.max_epochs=4", "callbacks.checkpoint.save_top_k=3")
    assert len(list((run_folder(tmp_path) / "checkpoints").glob("epoch=*.ckpt"))) == 3


def test_a_run_that_stopped_early_stays_stopped(train: Train, tmp_path: Path) -> None:
    stop = ("callbacks.early_stopping.patience=1", "callbacks.early_stopping.min_delta=10", "trainer.max_epochs=9")
    train(*stop)
    first = open_artifact(tmp_path / "made" / "leaf_net", LEAF_NET)
    shutil.rmtree(first.path)
    train(*stop)
    again = open_artifact(first.path, LEAF_NET)
    assert (again.counts["epochs"], again.fingerprint) == (2, first.fingerprint)


def test_a_checkpoint_of_the_own_run_is_no_source_of_the_net(train: Train, tmp_path: Path) -> None:
    train()
    first = open_artifact("made/leaf_net", LEAF_NET)
    (tmp_path / "link").symlink_to("runs")
    for runs in ("runs", f"{tmp_path}/runs", "link", "made/../link"):
        train(f"runs={runs}")
        assert open_artifact(first.path, LEAF_NET).fingerprint == first.fingerprint
    assert "checkpoint" not in first.made_from


def test_a_run_in_a_moved_folder_still_knows_its_best_epoch(
    train: Train, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first epoch is the best one, because the largest loss counts as the best."""
    settings = ("callbacks.checkpoint.mode=max", "trainer.max_epochs=3")
    train(*settings, f"outputs={tmp_path}/whole", "runs=other")
    interrupt_at(2, monkeypatch, lambda: train(*settings, status=2))
    (tmp_path / "runs").rename(tmp_path / "moved")
    train(*settings, "runs=moved")
    whole, moved = (open_artifact(f"{place}/leaf_net", LEAF_NET) for place in ("whole", "made"))
    assert moved.fingerprint == whole.fingerprint
    assert not (tmp_path / "runs").exists()
    assert [file.name for file in run_folder(tmp_path, "moved").rglob("epoch=*")] == ["epoch=0.ckpt"]


def test_two_commands_do_not_train_one_net(train: Train, tmp_path: Path) -> None:
    with claimed("made/leaf_net"):
        assert "another command is making made/leaf_net: wait until it ends" in error_of(train(status=2))
    train()
    with claimed(str(run_folder(tmp_path).relative_to(tmp_path))):
        assert "another command is making runs/leaf_net-" in error_of(train("outputs=other", status=2))


def test_run_continues_from_a_checkpoint_of_another_run(train: Train, tmp_path: Path) -> None:
    train()
    [last] = (tmp_path / "runs").glob("*/checkpoints/last.ckpt")
    train(f"ckpt_path={last}", "trainer.max_epochs=3", f"outputs={tmp_path}/longer")
    longer = open_artifact(tmp_path / "longer" / "leaf_net", LEAF_NET)
    assert (longer.counts["epochs"], "checkpoint" in longer.made_from) == (3, True)
    for short in ("trainer.max_epochs=1", "+trainer.max_steps=15"):
        assert "beyond trainer.max_" in error_of(train(short, f"ckpt_path={last}", f"outputs={tmp_path}/o", status=2))
    others = {"net.hidden=[9]": "net", "seed=2": "net, seed, data", "data.batch_rows=64": "data"}
    for other, names in others.items():
        error = error_of(train(other, f"outputs={tmp_path}/other", f"ckpt_path={last}", status=2))
        assert f"written with different settings ({names}): pass a different ckpt_path" in error
    missing = error_of(train(f"outputs={tmp_path}/other", "ckpt_path=none.ckpt", status=2))
    assert missing.startswith("error: no checkpoint at none.ckpt: pass a different ckpt_path")


def test_net_is_compiled_on_request(train: Train, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[nn.Module] = []
    monkeypatch.setattr(nn.Module, "compile", lambda net: compiled.append(net))  # noqa: PLW0108
    train("compile=true")
    assert [type(net).__name__ for net in compiled] == ["Mlp"]


@cases
def test_a_setting_with_which_no_net_can_be_trained_is_one_line(train: Train, setting: str, problem: str) -> None:
    assert problem in error_of(train(*setting.split(), status=2))


@pytest.mark.parametrize(("interruption", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_interruption_prints_how_to_continue(
    train: Train, monkeypatch: pytest.MonkeyPatch, interruption: signal.Signals, status: int
) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a library of an earlier test may have its own handler
    monkeypatch.setattr(LeafModule, "on_train_epoch_end", lambda _: signal.raise_signal(interruption))
    done = train(status=status)
    assert done.stderr.endswith("interrupted; run the same command to continue\n")
    assert done.stderr.count("interrupted") == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("column", ["features", "labels"])
def test_a_row_that_is_not_finite_is_named_before_anything_is_trained(
    train: Train, tmp_path: Path, column: str
) -> None:
    write_leaf_states(tmp_path / "made" / "leaf_states", rows=4000, shards=1, broken=(column, 77))
    error = error_of(train(status=2))
    assert f"leaf_states/shard-00000: row 77 of '{column}' is not finite." in error
    assert "Move" in error
