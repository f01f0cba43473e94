"""A trained net on disk: an artifact whose `net.safetensors` says in its own metadata what the net is.

Metadata: `net` (JSON: the `_target_` and its arguments, as in the configuration) and `stamp` (JSON: the hash of the
inputs and the meaning of the outputs). A net is refused when its stamp is not the one that the code reading it has
today. A file never decides what code runs: its class is one of `models`, or one that the configuration names.
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
"""An `nn.Module` class and its arguments: what a configuration node with `_partial_: true` becomes."""


def describe(architecture: Architecture) -> dict[str, Any]:
    """`_target_` and arguments, as JSON values."""
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
    """Write `net`, made by `architecture`, as an artifact of `kind`; `config` and `stamp` are the manifest's config."""
    metadata = {"net": canonical_json(describe(architecture)), "stamp": canonical_json(stamp)}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    if bad := _not_finite(tensors):
        raise PokernetsError(f"{path} is not written: {bad} of the trained net is not finite")
    return write_artifact(
        path,
        kind,
        config={**config, **stamp},
        arrays={},
        files={WEIGHTS: _in_order(safetensors.torch.save(tensors, metadata))},
        made_from=made_from,
        counts=counts,
    )


def _in_order(saved: bytes) -> bytes:
    """The file with its header in canonical JSON: safetensors writes metadata in another order every time."""
    start = 8 + int.from_bytes(saved[:8], "little")
    header = canonical_json(json.loads(saved[8:start])).encode()
    header += b" " * (-len(header) % 8)  # the tensors stay aligned
    return len(header).to_bytes(8, "little") + header + saved[start:]


def _not_finite(tensors: Mapping[str, Tensor]) -> str:
    """The name of a tensor with infinite values or NaN; empty if there is none."""
    return next((name for name, tensor in tensors.items() if not tensor.isfinite().all()), "")


def load_net(
    path: str | Path, kind: str, *, stamp: Mapping[str, Any], architectures: Collection[str] = ()
) -> nn.Module:
    """The net at `path`, in evaluation mode, if it was made for today's `stamp`.

    `architectures`: dotted names of classes outside `models` that may be loaded.
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
            f"{weights} holds a {target}, which the configuration does not name; if you trust that class, set "
            f"architectures=[{target}] where this net is configured"
        )
    try:
        net = getattr(importlib.import_module(module), name)
        if not (isinstance(net, type) and issubclass(net, nn.Module)):
            raise TypeError(f"{target} is no nn.Module")
        made = net(**arguments)
        made.load_state_dict(tensors)
    except (ImportError, AttributeError, TypeError, RuntimeError) as error:
        raise CorruptArtifactError(f"{weights}: {target} cannot be made again ({error})") from error
    return made.requires_grad_(False).eval()
