"""Checkpoints of training: a damaged one is refused by name, in one line, wherever the damage is."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from lightning.fabric.plugins import TorchCheckpointIO

from models.training.checkpoints import REMEDY, AtomicCheckpoints
from poker.run.errors import PokernetsError

CHECKPOINT: dict[str, Any] = {
    "epoch": 3,
    "global_step": 40,
    "pytorch-lightning_version": "2.6.1",
    "state_dict": {"weight": torch.arange(600.0), "bias": torch.ones(4)},
    "optimizer_states": [{"state": {0: {"step": torch.tensor(40.0)}}, "param_groups": [{"lr": 0.1}]}],
    "lr_schedulers": [{"last_epoch": 40}],
    "loops": {"fit_loop": {"state_dict": {}}},
}


def written(folder: Path, by: TorchCheckpointIO) -> Path:
    by.save_checkpoint(CHECKPOINT, file := folder / "last.ckpt")
    return file


@pytest.mark.parametrize("by", [AtomicCheckpoints(), TorchCheckpointIO()], ids=["ours", "lightnings"])
def test_damaged_checkpoint_is_an_error_of_one_line_or_harmless(tmp_path: Path, by: TorchCheckpointIO) -> None:
    """Bytes that torch does not read, such as dates in the archive, may be any."""
    data = written(tmp_path, by).read_bytes()
    generator = np.random.default_rng(1)
    flipped = [
        (at, bytes([data[at] ^ 1 << int(generator.integers(8))])) for at in generator.integers(len(data), size=200)
    ]
    damaged = [data[:at] + byte + data[at + 1 :] for at, byte in flipped]
    damaged += [data[:size] for size in generator.integers(len(data), size=40)] + [b"", b"PK"]
    file, messages = tmp_path / "damaged.ckpt", []
    for content in damaged:
        file.write_bytes(content)
        try:
            read = AtomicCheckpoints().load_checkpoint(file)
        except PokernetsError as error:
            messages.append(str(error))
        else:
            assert (read["epoch"], read["optimizer_states"]) == (3, CHECKPOINT["optimizer_states"])
            assert all(
                torch.equal(read["state_dict"][name], weight) for name, weight in CHECKPOINT["state_dict"].items()
            )
    assert {*messages} == {f"the checkpoint {file} cannot be read: {REMEDY}"}
    assert len(messages) > len(damaged) / 2


@pytest.mark.parametrize("lacking", [{"loops": {}}, {"state_dict": {}}, {"epoch": None}])
def test_a_file_of_torch_that_is_no_checkpoint_is_refused(tmp_path: Path, lacking: dict[str, Any]) -> None:
    torch.save({**CHECKPOINT, **lacking}, tmp_path / "net.pt")
    with pytest.raises(PokernetsError, match=r"net\.pt cannot be read"):
        AtomicCheckpoints().load_checkpoint(tmp_path / "net.pt")
    with pytest.raises(PokernetsError, match=r"no checkpoint at .*other\.ckpt: pass a different"):
        AtomicCheckpoints().load_checkpoint(tmp_path / "other.ckpt")
