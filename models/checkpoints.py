"""Checkpoints of training with a checksum, which is the comment of the zip archive that torch writes: any version of
Lightning reads them."""

import hashlib
import io
import zipfile
from pathlib import Path
from typing import Any

import torch
from lightning.fabric.plugins import TorchCheckpointIO

from poker.artifacts import CorruptArtifactError
from poker.atomic import write_atomically
from poker.errors import PokernetsError

_PREFIX = b"sha256:"
_LENGTH = len(_PREFIX) + 2 * hashlib.sha256().digest_size


class CheckedCheckpoints(TorchCheckpointIO):
    """Writes checkpoints whole, with their checksum, or not at all."""

    def save_checkpoint(self, checkpoint: dict[str, Any], path: Any, storage_options: Any | None = None) -> None:
        written = io.BytesIO()
        torch.save(checkpoint, written)
        write_atomically(Path(path), _with_checksum(written.getvalue()))


def _with_checksum(archive: bytes) -> bytes:
    """A zip archive without a comment, whose last two bytes hold the comment's length, with its checksum as comment."""
    comment = _PREFIX + hashlib.sha256(archive).hexdigest().encode()
    return archive[:-2] + _LENGTH.to_bytes(2, "little") + comment


def read_checkpoint(file: Path, remedy: str) -> dict[str, Any]:
    """The content of an undamaged checkpoint; CorruptArtifactError with the `remedy` for others. Those of Lightning,
    which have no checksum, are checked by the sums that zip has of each part."""
    try:
        data = file.read_bytes()
        archive = zipfile.ZipFile(io.BytesIO(data))
        if archive.comment.startswith(_PREFIX):
            if _with_checksum(data[: -_LENGTH - 2] + b"\0\0") != data:
                raise ValueError("another checksum")
        elif archive.testzip() is not None:
            raise ValueError("another checksum of a part")
        checkpoint: dict[str, Any] = torch.load(io.BytesIO(data), weights_only=True, map_location="cpu")
        missing = {"state_dict", "epoch", "global_step", "optimizer_states", "loops"} - set(checkpoint)
        if missing:
            raise ValueError(f"no {', '.join(sorted(missing))}")
    except FileNotFoundError:
        raise PokernetsError(f"there is no checkpoint {file}: {remedy}") from None
    except Exception as error:  # damaged archives and pickles raise what they like
        raise CorruptArtifactError(f"the checkpoint {file} cannot be read: {remedy}") from error
    return checkpoint
