"""Training on two processes: the steps of one with the whole batch, and killed and resumed to the same weights."""

from pathlib import Path

import pytest
import torch

from models.training.export import load_net
from models.training.inference import LEAF_NET, leaf_stamp
from poker.solvers.blueprint import CONTINUATIONS
from tests.killed import run_killed
from tests.models.shards import write_leaf_states
from tests.models.test_train import TRAINING_STEP, command, run

pytestmark = pytest.mark.slow
TWO = ("trainer.devices=2", "trainer.strategy=ddp", "data.batch_rows=256")


def weights(work: Path) -> dict[str, torch.Tensor]:
    return load_net(work / "artifacts" / "leaf_net", LEAF_NET, stamp=leaf_stamp(CONTINUATIONS)).state_dict()


def work_in(folder: Path, name: str) -> Path:
    write_leaf_states(folder / name / "artifacts" / "leaf_states", rows=50_000)
    return folder / name


def test_two_processes_take_the_steps_of_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "AVX2")  # no products in bfloat16, which depend on the size of a batch
    few = ("trainer.max_epochs=1", "data.epoch_rows=4096")
    one, two = work_in(tmp_path, "one"), work_in(tmp_path, "two")
    for work, settings in ((one, ()), (two, TWO)):
        done = run(work, *few, *settings)
        assert done.returncode == 0, done.stderr
    by_two = weights(two)
    for name, tensor in weights(one).items():
        torch.testing.assert_close(by_two[name], tensor, rtol=0, atol=2e-6)


def test_killed_on_two_processes_it_ends_in_the_same_weights(tmp_path: Path) -> None:
    settings = (*TWO, "trainer.max_epochs=3", "data.epoch_rows=30000")
    whole, broken = work_in(tmp_path, "whole"), work_in(tmp_path, "broken")
    assert run(whole, *settings).returncode == 0
    run_killed(TRAINING_STEP, 90, *command(broken, *settings)[1:], group=True)  # of 59 steps an epoch
    assert not (broken / "artifacts" / "leaf_net").exists()
    assert run(broken, *settings).returncode == 0
    expected = weights(whole)
    for name, tensor in weights(broken).items():
        assert torch.equal(tensor, expected[name]), name
