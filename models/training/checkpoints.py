"""Training checkpoints with atomic writes and checksums."""

import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO

from poker.run.atomic import write_atomically
from poker.run.errors import PokernetsError
from poker.store.artifacts import CorruptArtifactError

REMEDY = "pass a different ckpt_path, or ckpt_path=null to start from scratch"


class AtomicCheckpoints(TorchCheckpointIO):
    """Lightning's checkpoint plugin with atomic writes and verified checksums.

    Writes are atomic even if temporary files are on another disk. Checksums are verified when a file is read.
    """

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        """Write a checkpoint atomically."""
        written = io.BytesIO()
        torch.save(checkpoint, written)
        write_atomically(Path(path), written.getvalue())

    def load_checkpoint(self, path: Any, map_location: Any = None, weights_only: bool | None = None) -> dict[str, Any]:
        """Read a checkpoint and verify the checksums of its zip archive.

        Raises:
            PokernetsError: the file is missing or damaged.
        """
        try:
            data = Path(path).read_bytes()
            if zipfile.ZipFile(io.BytesIO(data)).testzip() is not None:
                raise ValueError("a part has another checksum")
            checkpoint: dict[str, Any] = torch.load(io.BytesIO(data), map_location or "cpu", weights_only=True)
            for name in ("state_dict", "epoch", "global_step", "loops"):
                if checkpoint.get(name) in (None, {}):
                    raise ValueError(f"no {name}")
        except FileNotFoundError:
            raise PokernetsError(f"no checkpoint at {path}: {REMEDY}") from None
        except Exception as error:  # damaged archives and pickles may raise any exception
            raise CorruptArtifactError(f"the checkpoint {path} cannot be read: {REMEDY}") from error
        return checkpoint
