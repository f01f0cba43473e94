"""`train.py model=onnx`: a trained net as a file of ONNX, for programs without torch."""

import importlib.util
import logging
import warnings
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.console import Console
from torch import Tensor, nn

from models.opponent.inference import OPPONENT_NET, STAMP
from models.opponent.inputs import INPUT_SIZES
from models.opponent.nets import ActionNet, OpponentBatch
from models.training.export import load_net
from models.training.inference import LEAF_NET, leaf_stamp
from poker.depth_limit import inputs as leaf
from poker.run.atomic import write_atomically
from poker.run.commands import how_to_install
from poker.run.errors import PokernetsError
from poker.store.artifacts import Artifact, MismatchedArtifactError, canonical_json, open_artifact

_EXTRA = "onnx"
_ROWS = 3
"""Rows of the inputs with which the net is traced; the file takes any number of them."""
_KINDS = (LEAF_NET, OPPONENT_NET)


class _Graph(NamedTuple):
    """A net of tensors alone, its inputs by name, and the name of its output."""

    net: nn.Module
    inputs: Mapping[str, Tensor]
    output: str


def run(*, net: str, architectures: Collection[str], output: str) -> None:
    """Write the leaf net or opponent net at `net` to `output`, with the stamp that says what its inputs and outputs are
    as metadata. Any number of rows goes in."""
    if importlib.util.find_spec("onnxscript") is None:
        raise PokernetsError(f"files of ONNX need a package more: {how_to_install(_EXTRA)}")
    artifact = _opened(net)
    stamp = _stamp_of(artifact)
    graph = _graph_of(load_net(net, artifact.kind, stamp=stamp, architectures=architectures), artifact.kind)
    logging.getLogger("torch.onnx").setLevel(logging.ERROR)
    with torch.no_grad(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        program = torch.onnx.export(
            graph.net.eval(),
            tuple(graph.inputs.values()),
            input_names=list(graph.inputs),
            output_names=[graph.output],
            dynamic_shapes=(({0: torch.export.Dim("rows")},) * len(graph.inputs),),
            dynamo=True,
            verbose=False,
        )
    assert program is not None
    program.model.metadata_props.update({"kind": artifact.kind, "stamp": canonical_json(stamp)})
    write_atomically(Path(output), program.model_proto.SerializeToString())
    Console(stderr=True).print(f"{output}: {', '.join(graph.inputs)} -> {graph.output}", soft_wrap=True, markup=False)


def _opened(path: str) -> Artifact:
    for kind in _KINDS:
        with suppress(MismatchedArtifactError):
            return open_artifact(path, kind)
    raise PokernetsError(f"{path} holds no net: {', '.join(_KINDS)} can be exported")


def _stamp_of(artifact: Artifact) -> dict[str, Any]:
    if artifact.kind == OPPONENT_NET:
        return STAMP
    return leaf_stamp(artifact.config["continuations"])


def _graph_of(net: nn.Module, kind: str) -> _Graph:
    if kind == LEAF_NET:
        return _Graph(_Columns(net), {"features": torch.zeros(_ROWS, leaf.SIZE)}, "values")
    assert isinstance(net, ActionNet)
    names = ["features", *net.needs]
    inputs = {name: torch.zeros(_ROWS, INPUT_SIZES[name]) for name in names}
    return _Graph(_Actions(net, names), inputs, "probabilities")


class _Columns(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, *columns: Tensor) -> Tensor:
        values: Tensor = self.net(*columns)
        return values


class _Actions(nn.Module):
    """An opponent net of the inputs `names`."""

    def __init__(self, net: ActionNet, names: list[str]) -> None:
        super().__init__()
        self.net, self._names = net, names

    def forward(self, *columns: Tensor) -> Tensor:
        given = dict(zip(self._names, columns, strict=True))
        nothing = columns[0][:, :0]
        action = torch.zeros_like(columns[0][:, 0], dtype=torch.int64)
        batch = OpponentBatch(**{name: given.get(name, nothing) for name in INPUT_SIZES}, action=action)
        logits: Tensor = self.net(batch)
        return logits.softmax(dim=1)
