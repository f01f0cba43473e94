"""Training on two processes takes the steps of one with the whole batch."""

from pathlib import Path

import pytest
import torch

from models.training.export import load_net
from models.training.inference import LEAF_NET, leaf_stamp
from poker.solvers.blueprint import CONTINUATIONS
from tests.models.shards import write_leaf_states
from tests.models.test_train import run


@pytest.mark.slow
def test_two_processes_take_the_steps_of_one(tmp_path: Path) -> None:
    write_leaf_states(tmp_path / "artifacts" / "leaf_states", rows=50_000)
    one = ("trainer.precision=32-true", "trainer.max_epochs=1", "data.epoch_rows=4096")
    two = (*one, "trainer.devices=2", "trainer.strategy=ddp", "data.batch_rows=256")
    weights = []
    for settings in (one, two):
        out = tmp_path / str(len(settings))
        done = run(tmp_path, f"outputs={out}", *settings)
        assert done.returncode == 0, done.stderr
        weights.append(load_net(out / "leaf_net", LEAF_NET, stamp=leaf_stamp(CONTINUATIONS)).state_dict())
    for name, tensor in weights[0].items():
        torch.testing.assert_close(weights[1][name], tensor, rtol=0, atol=2e-6)
