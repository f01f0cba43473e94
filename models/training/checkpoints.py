"""Checkpoints of training: written whole or not at all, and refused by name where they are damaged."""

import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO

from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError
from poker.store.artifacts import CorruptArtifactError


class AtomicCheckpoints(TorchCheckpointIO):
    """Writes checkpoints whole or not at all; Lightning's own do not where temporary files are on another disk."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        written = io.BytesIO()
        torch.save(checkpoint, written)
        write_atomically(Path(path), written.getvalue())


def read_checkpoint(file: Path, remedy: str) -> dict[str, Any]:
    """The content of a checkpoint of Lightning whose parts have the checksums that its zip archive holds;
    CorruptArtifactError with the `remedy` for others."""
    try:
        data = file.read_bytes()
        if zipfile.ZipFile(io.BytesIO(data)).testzip() is not None:
            raise ValueError("another checksum of a part")
        checkpoint: dict[str, Any] = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
        for name in ("state_dict", "epoch", "global_step", "optimizer_states", "lr_schedulers", "loops"):
            if checkpoint.get(name) in (None, {}, []):
                raise ValueError(f"no {name}")
    except FileNotFoundError:
        raise PokernetsError(f"there is no checkpoint {file}: {remedy}") from None
    except Exception as error:  # damaged archives and pickles raise what they like
        raise CorruptArtifactError(f"the checkpoint {file} cannot be read: {remedy}") from error
    return checkpoint
