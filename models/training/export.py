"""Trained nets on disk: artifacts whose `net.safetensors` describes the net in its own metadata.

The metadata are `net` (JSON: the `_target_` and its arguments, as in the configuration) and `stamp` (JSON: the hash of
the inputs and the meaning of the outputs). A net is refused if its stamp differs from the stamp of the code that reads
it. A file never decides which code runs: its class must be one of `models` or one that the configuration names.
"""

import importlib
import json
from collections.abc import Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import safetensors
import safetensors.torch
from torch import Tensor, nn

from poker.run.commands import how_to_replace
from poker.run.errors import PokernetsError
from poker.store.artifacts import (
    Artifact,
    CorruptArtifactError,
    MismatchedArtifactError,
    canonical_json,
    open_artifact,
    write_artifact,
)
from poker.store.naming import importable, stable_name

WEIGHTS = "net.safetensors"

Architecture = partial[Any]
"""An `nn.Module` class and its arguments, which Hydra creates from a node that sets `_partial_`."""


def describe(architecture: Architecture) -> dict[str, Any]:
    """Return `_target_` and arguments of an architecture as JSON values."""
    return {"_target_": stable_name(architecture.func), **architecture.keywords}


def export_net(
    path: str | Path,
    kind: str,
    architecture: Architecture,
    net: nn.Module,
    *,
    stamp: Mapping[str, Any],
    config: Mapping[str, Any],
    made_from: Mapping[str, str],
    counts: Mapping[str, Any],
) -> Artifact:
    """Write a net as an artifact.

    Args:
        path: directory of the artifact.
        kind: kind of the artifact.
        architecture: class and arguments that create the net.
        net: the trained net.
        stamp: settings that must be equal when the net is loaded.
        config: settings of the training; stored together with `stamp`.
        made_from: fingerprints of the artifacts that were used.
        counts: counts for the manifest.

    Raises:
        PokernetsError: a weight is not finite.
    """
    metadata = {"net": canonical_json(describe(architecture)), "stamp": canonical_json(stamp)}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    if bad := _not_finite(tensors):
        raise PokernetsError(f"{path} is not written, because {bad} of the trained net is not finite")
    return write_artifact(
        path,
        kind,
        config={**config, **stamp},
        arrays={},
        files={WEIGHTS: _with_sorted_header(safetensors.torch.save(tensors, metadata))},
        made_from=made_from,
        counts=counts,
    )


def _with_sorted_header(saved: bytes) -> bytes:
    """Return the file with its header in canonical JSON, because safetensors orders metadata differently every time."""
    start = 8 + int.from_bytes(saved[:8], "little")
    header = canonical_json(json.loads(saved[8:start])).encode()
    header += b" " * (-len(header) % 8)  # the tensors stay aligned
    return len(header).to_bytes(8, "little") + header + saved[start:]


def _not_finite(tensors: Mapping[str, Tensor]) -> str:
    """Return the name of a tensor with infinite values or NaN; empty if there is none."""
    return next((name for name, tensor in tensors.items() if not tensor.isfinite().all()), "")


def load_net(
    path: str | Path, kind: str, *, stamp: Mapping[str, Any], architectures: Collection[str] = ()
) -> nn.Module:
    """Load a net in evaluation mode.

    Args:
        path: directory of the artifact.
        kind: kind of the artifact.
        stamp: settings that it must have been exported with.
        architectures: dotted names of classes outside `models` that it may have.

    Raises:
        CorruptArtifactError: the file is damaged, or its class cannot be created.
        MismatchedArtifactError: the stamp differs or the class is not allowed.
        ArtifactError: the artifact is missing.
    """
    artifact = open_artifact(path, kind, config=stamp)
    weights = artifact.file(WEIGHTS)
    try:
        with safetensors.safe_open(weights, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
        arguments, exported_for = (json.loads(metadata[name]) for name in ("net", "stamp"))
        tensors, target = safetensors.torch.load_file(weights), str(arguments.pop("_target_"))
    except (OSError, KeyError, ValueError, AttributeError, safetensors.SafetensorError) as error:
        artifact.check_unchanged()
        raise CorruptArtifactError(f"{weights} cannot be read ({error!r})") from error
    artifact.check_unchanged()
    if bad := _not_finite(tensors):
        raise CorruptArtifactError(f"{weights}: {bad} is not finite", how_to_replace(kind, Path(path)))
    if exported_for != json.loads(canonical_json(stamp)):
        raise MismatchedArtifactError(f"{weights} was exported for {exported_for}, this version needs {dict(stamp)}")
    module, _, name = importable(target).rpartition(".")
    if not module.startswith(f"{__package__.rpartition('.')[0]}.") and target not in architectures:
        raise MismatchedArtifactError(
            f"{weights} contains a {target}, which the configuration does not name; if you trust that"
            f" class, set architectures=[{target}] where this net is configured"
        )
    try:
        net = getattr(importlib.import_module(module), name)
        if not (isinstance(net, type) and issubclass(net, nn.Module)):
            raise TypeError(f"{target} is not an nn.Module")
        made = net(**arguments)
        made.load_state_dict(tensors)
    except Exception as error:  # a constructor may raise anything, for example for sizes beyond the memory
        raise CorruptArtifactError(f"{weights}: {target} cannot be constructed ({error})") from error
    return made.requires_grad_(False).eval()
