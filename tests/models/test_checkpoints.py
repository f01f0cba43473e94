"""Checkpoints of training: a damaged one is refused by name, in one line, wherever the damage is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning.fabric.plugins import TorchCheckpointIO

from models.checkpoints import CheckedCheckpoints, read_checkpoint
from poker.errors import PokernetsError

CHECKPOINT: dict[str, Any] = {
    "epoch": 3,
    "global_step": 40,
    "pytorch-lightning_version": "2.6.1",
    "state_dict": {"weight": torch.arange(600.0), "bias": torch.ones(4)},
    "optimizer_states": [{"state": {0: {"step": torch.tensor(40.0)}}, "param_groups": [{"lr": 0.1}]}],
    "loops": {"fit_loop": {"state_dict": {}}},
}


def written(folder: Path, by: TorchCheckpointIO) -> Path:
    by.save_checkpoint(CHECKPOINT, file := folder / "last.ckpt")
    return file


@pytest.mark.parametrize("by", [CheckedCheckpoints(), TorchCheckpointIO()], ids=["ours", "lightnings"])
def test_what_was_written_is_read_by_us_and_by_torch(tmp_path: Path, by: TorchCheckpointIO) -> None:
    file = written(tmp_path, by)
    for read in (read_checkpoint(file, ""), torch.load(file, weights_only=True)):
        assert read["epoch"] == 3
        assert torch.equal(read["state_dict"]["weight"], CHECKPOINT["state_dict"]["weight"])


def test_damage_anywhere_is_told_in_one_line(tmp_path: Path) -> None:
    data = written(tmp_path, CheckedCheckpoints()).read_bytes()
    generator = np.random.default_rng(1)
    flipped = [
        (at, bytes([data[at] ^ 1 << int(generator.integers(8))])) for at in generator.integers(len(data), size=200)
    ]
    damaged = [data[:at] + byte + data[at + 1 :] for at, byte in flipped if at < len(data) - 80]
    damaged += [data[:size] for size in generator.integers(len(data), size=40)] + [data + b"\0", b"", b"PK"]
    file = tmp_path / "damaged.ckpt"
    for content in damaged:
        file.write_bytes(content)
        with pytest.raises(PokernetsError) as caught:
            read_checkpoint(file, "remove it")
        assert str(caught.value) == f"the checkpoint {file} cannot be read: remove it"


def test_a_damaged_weight_in_a_checkpoint_of_lightning_is_seen(tmp_path: Path) -> None:
    file = written(tmp_path, TorchCheckpointIO())
    weight = CHECKPOINT["state_dict"]["weight"].numpy().tobytes()
    data = file.read_bytes()
    assert data.count(weight) == 1
    at = data.index(weight) + 10
    file.write_bytes(data[:at] + bytes([data[at] ^ 64]) + data[at + 1 :])
    with pytest.raises(PokernetsError, match="cannot be read: give another"):
        read_checkpoint(file, "give another")


def test_a_file_of_torch_that_is_no_checkpoint_is_refused(tmp_path: Path) -> None:
    torch.save({"state_dict": {}}, tmp_path / "net.pt")
    with pytest.raises(PokernetsError, match=r"net\.pt cannot be read"):
        read_checkpoint(tmp_path / "net.pt", "give another")
    with pytest.raises(PokernetsError, match=r"there is no checkpoint .*other\.ckpt: give another"):
        read_checkpoint(tmp_path / "other.ckpt", "give another")
