"""Trained nets for those who play: numpy in, numpy out, no gradient, as fast as the machine allows.

Rows go through in chunks, so that the activations of a chunk stay in cache (34 rows of 256 floats per thread's L2).
Measured on one Zen 5 core, rows/s of the leaf net: packed oneDNN 1.7 M, plain torch 0.5 M; `torch.compile` does no
better than oneDNN's own operators and needs a C++ compiler where the agent plays.
"""

from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from models.export import load_net
from models.linear import Linear, has_onednn, onednn_linear, pack_weight
from models.mlp import Mlp
from poker.errors import PokernetsError
from poker.features import leaf

CHUNK_ROWS = 4096

Backend = Literal["auto", "onednn", "torch"]

LEAF_NET = "leaf_net"
LEAF_STAMP = {"feature_hash": leaf.HASH, "target": leaf.TARGET, "continuations": list(leaf.CONTINUATIONS)}
"""What a leaf net must have been made for to be of use to this version."""


class MlpRunner:
    """Forward pass of an `Mlp` with weights packed once. `onednn` where it is missing is refused; `auto` falls back."""

    def __init__(self, net: Mlp, backend: Backend = "auto") -> None:
        if backend == "onednn" and not has_onednn():
            raise PokernetsError("backend=onednn: this torch has no oneDNN products; use backend=auto or torch")
        self.backend: Backend = "torch" if backend == "torch" or not has_onednn() else "onednn"
        self.inputs = int(net.config["inputs"])
        self.outputs = int(net.config["outputs"])
        self._net = net
        self._packed: list[tuple[Tensor, Tensor, bool]] = []
        if self.backend == "onednn":
            for layer in net.layers:
                assert isinstance(layer, Linear)
                weight, bias = layer.weight.detach(), layer.bias.detach()
                self._packed.append((pack_weight(weight, CHUNK_ROWS), bias, layer.relu))

    def __call__(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """features [n, inputs] -> [n, outputs]."""
        if features.ndim != 2 or features.shape[1] != self.inputs:
            raise ValueError(f"features have shape {features.shape}, the net takes [n, {self.inputs}]")
        out = np.empty((len(features), self.outputs), dtype=np.float32)
        with torch.inference_mode():
            for at in range(0, len(features), CHUNK_ROWS):
                chunk = np.require(features[at : at + CHUNK_ROWS], np.float32, ["C", "W"])
                out[at : at + CHUNK_ROWS] = self._forward(torch.from_numpy(chunk)).numpy()
        return out

    def _forward(self, x: Tensor) -> Tensor:
        if self.backend == "torch":
            for layer in self._net.layers:
                assert isinstance(layer, Linear)
                x = torch.nn.functional.linear(x, layer.weight, layer.bias)
                x = x.relu_() if layer.relu else x
            return x
        for weight, bias, relu in self._packed:
            x = onednn_linear(x, weight, bias, relu)
        return x


class LeafNet:
    """The exported leaf net at `path`: the value of each continuation to the player who owns the features."""

    def __init__(self, path: str | Path, backend: Backend = "auto") -> None:
        self._run = MlpRunner(load_net(path, LEAF_NET, stamp=LEAF_STAMP), backend)
        self.backend = self._run.backend

    @property
    def num_continuations(self) -> int:
        return self._run.outputs

    def values(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """features [n, 34] -> [n, K] in pots, half a pot already taken off (`poker.features.leaf.TARGET`)."""
        return self._run(features)
