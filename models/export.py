"""A trained net on disk: an artifact whose `net.safetensors` says in its own metadata what the net is.

Metadata: `net` (JSON of the constructor's arguments) and `stamp` (JSON: the hash of the inputs and the meaning of the
outputs). A net is refused when its stamp is not the one that the code reading it has today.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import safetensors
import safetensors.torch
from torch import Tensor, nn

from models.mlp import Mlp
from poker.artifacts import (
    Artifact,
    CorruptArtifactError,
    MismatchedArtifactError,
    canonical_json,
    open_artifact,
    write_artifact,
)

WEIGHTS = "net.safetensors"


class Exportable(Protocol):
    """A net that can be built again from `config`."""

    config: dict[str, Any]

    def state_dict(self) -> dict[str, Any]: ...


def export_net(
    path: str | Path,
    kind: str,
    net: Exportable,
    *,
    stamp: Mapping[str, Any],
    config: Mapping[str, Any],
    made_from: Mapping[str, str],
    counts: Mapping[str, Any],
) -> Artifact:
    """Write `net` as an artifact of `kind`; `config` and `stamp` together are the manifest's config."""
    metadata = {"net": canonical_json(net.config), "stamp": canonical_json(stamp)}
    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in net.state_dict().items()}
    return write_artifact(
        path,
        kind,
        config={**config, **stamp},
        arrays={},
        files={WEIGHTS: safetensors.torch.save(tensors, metadata)},
        made_from=made_from,
        counts=counts,
    )


def read_net(path: str | Path, kind: str, *, stamp: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Constructor arguments and weights of the net at `path`, if it was made for today's `stamp`."""
    artifact = open_artifact(path, kind, config=stamp)
    weights = artifact.path / WEIGHTS
    try:
        with safetensors.safe_open(weights, framework="pt") as file:
            metadata: dict[str, str] = file.metadata() or {}
        found = {name: json.loads(metadata[name]) for name in ("net", "stamp")}
        tensors = safetensors.torch.load_file(weights)
    except (OSError, KeyError, ValueError, safetensors.SafetensorError) as error:
        raise CorruptArtifactError(f"{weights} cannot be read ({error})") from error
    if found["stamp"] != json.loads(canonical_json(stamp)):
        raise MismatchedArtifactError(f"{weights} was exported for {found['stamp']}, this version needs {dict(stamp)}")
    return found["net"], tensors


def load_net(path: str | Path, kind: str, *, stamp: Mapping[str, Any]) -> Mlp:
    """The perceptron of the artifact at `path`, in evaluation mode, if it was made for today's `stamp`."""
    arguments, tensors = read_net(path, kind, stamp=stamp)
    net = Mlp(**arguments)
    net.load_state_dict(tensors)
    freeze(net)
    return net


def freeze(net: nn.Module) -> None:
    """Evaluation mode, no gradients."""
    net.requires_grad_(False)
    net.eval()
