"""Trained leaf nets for those who play: numpy in, numpy out, no gradient, as fast as the machine allows.

Rows go through in chunks, so that the activations of a chunk stay in cache (34 rows of 256 floats per thread's L2).
Measured on one Zen 5 core, rows/s of the leaf net: packed oneDNN 1.7 M, plain torch 0.5 M; `torch.compile` does no
better than oneDNN's own operators and needs a C++ compiler where the agent plays.
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.export import load_net
from models.linear import has_onednn
from poker.artifacts import open_artifact
from poker.errors import PokernetsError
from poker.features import leaf

CHUNK_ROWS = 4096

Backend = Literal["auto", "onednn", "torch"]

LEAF_NET = "leaf_net"


def leaf_stamp(continuations: Sequence[str]) -> dict[str, Any]:
    """What a leaf net must have been made for to be of use to this version, with values of these continuations."""
    return {"feature_hash": leaf.HASH, "target": leaf.TARGET, "continuations": list(continuations)}


class LeafRunner:
    """Forward pass of a leaf net, [n, 34] -> [n, K]; one that offers `packed`, as `Mlp` does, has its weights packed.

    `onednn` where it is missing is refused; `auto` falls back to `torch`.
    """

    def __init__(self, net: nn.Module, backend: Backend = "auto") -> None:
        if backend == "onednn" and not has_onednn():
            raise PokernetsError("backend=onednn: this torch has no oneDNN products; use backend=auto or torch")
        with torch.inference_mode():
            self.num_continuations = int(net(torch.zeros(1, leaf.SIZE)).shape[1])
        self.backend: Backend = "torch"
        self._forward: Callable[[Tensor], Tensor] = net
        pack = getattr(net, "packed", None)
        if pack is not None and backend != "torch" and has_onednn():
            self.backend, self._forward = "onednn", pack(CHUNK_ROWS)

    def values(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """features [n, 34] -> [n, K] in pots (`poker.features.leaf.TARGET`)."""
        if features.ndim != 2 or features.shape[1] != leaf.SIZE:
            raise ValueError(f"features have shape {features.shape}, the net takes [n, {leaf.SIZE}]")
        out = np.empty((len(features), self.num_continuations), dtype=np.float32)
        with torch.inference_mode():
            for at in range(0, len(features), CHUNK_ROWS):
                chunk = np.require(features[at : at + CHUNK_ROWS], np.float32, ["C", "W"])
                out[at : at + CHUNK_ROWS] = self._forward(torch.from_numpy(chunk)).numpy()
        return out


class LeafNet(LeafRunner):
    """The exported leaf net at `path`: the value of each continuation to the player who owns the features.

    `architectures`: dotted names of net classes outside `models` that may be loaded.
    """

    def __init__(self, path: str | Path, backend: Backend = "auto", architectures: Sequence[str] = ()) -> None:
        stamp = leaf_stamp(open_artifact(path, LEAF_NET, verify=False).config["continuations"])
        super().__init__(load_net(path, LEAF_NET, stamp=stamp, architectures=architectures), backend)
