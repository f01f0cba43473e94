"""The forward pass of leaf nets: numpy arrays in, numpy arrays out, no gradient.

Rows are processed in chunks, so that the activations of a chunk stay in the cache. On the CPU torch uses one thread,
because several threads wait for each other when other processes use the cores. Layers multiply in bfloat16 where the
processor supports it (AVX-512 BF16). That is 3.0 times as fast as float32 on a Zen 5 core (1.77 against 0.59 million
rows per second). In alternating runs it is 1.8 times as fast on a Zen 4 core, and 2.4 times on a busy Xeon with AMX.
`make bench` measures it on your machine. The values of the demo's net change by 0.0036 pots (root mean square). Its
labels have standard errors of 0.20 pots, and its loss changes from 0.06356 to 0.06358.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from poker.depth_limit import inputs
from poker.solve.torch.device import ran_out, torch_device

CHUNK_ROWS = 4096
DEVICE_ROWS = 1 << 18
"""Rows of a chunk on a device other than the CPU; a layer of 256 units needs 256 MiB."""


class LeafRunner:
    """The forward pass of a leaf net, from [n, 34] to [n, K].

    Attributes:
        num_continuations: number of continuations K.
    """

    def __init__(self, net: nn.Module, device: str = "cpu", *, bfloat16: bool = True) -> None:
        """Move the net to a device.

        Args:
            device: `cpu`, `cuda`, or `torch`, which uses the code of `cuda` on the CPU. On `cuda` and `torch` the rows
                of whole grids are computed on the device, in float32.
            bfloat16: multiply in bfloat16 on CPUs that support it.
        """
        self._device = torch_device(device)
        self._on_device = self._device.type == "cuda" or device == "torch"
        self._rows = DEVICE_ROWS if self._on_device else CHUNK_ROWS
        self._bfloat16 = bfloat16 and not self._on_device and bool(torch.cpu.get_capabilities().get("avx512_bf16"))
        with torch.inference_mode():
            self.num_continuations = int(net(torch.zeros(1, inputs.SIZE)).shape[1])
        self._forward: Callable[[Tensor], Tensor] = net.to(self._device)

    @contextmanager
    def _inference(self) -> Iterator[None]:
        threads = torch.get_num_threads()
        torch.set_num_threads(threads if self._on_device else 1)
        try:
            with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16, enabled=self._bfloat16):
                yield
        finally:
            torch.set_num_threads(threads)

    def values(self, features: NDArray[np.float32]) -> NDArray[np.float32]:
        """Predict values.

        Args:
            features: float32 [n, 34] inputs.

        Returns:
            float32 [n, K] values in pots (`poker.depth_limit.inputs.TARGET`).

        Raises:
            ValueError: the features have another shape.
        """
        if features.ndim != 2 or features.shape[1] != inputs.SIZE:
            raise ValueError(f"features have shape {features.shape}, the net takes [n, {inputs.SIZE}]")
        out = np.empty((len(features), self.num_continuations), dtype=np.float32)
        with self._inference():
            for at in range(0, len(features), self._rows):
                chunk = torch.from_numpy(np.require(features[at : at + self._rows], np.float32, ["C", "W"]))
                out[at : at + self._rows] = self._forward(chunk.to(self._device)).float().cpu().numpy()
        return out

    def grid_values(self, grids: Sequence[tuple[inputs.GridParts, NDArray[np.float32]]]) -> list[NDArray[np.float32]]:
        """Predict the values of several grids of pairs.

        On a device the rows of all grids form one batch, which is divided into chunks. If memory runs out, smaller
        chunks are used.

        Args:
            grids: for each board its card features, n own by m opponent hands, and the betting features [L, 6] of L
                leaves.

        Returns:
            For each grid float32 [L, n * m, K] values in pots.

        Raises:
            RuntimeError: the device fails, even with small chunks.
        """
        if not grids:
            return []
        if not self._on_device:
            return [np.stack([self.values(rows) for rows in inputs.grid_rows(*grid)]) for grid in grids]
        while True:
            try:
                with self._inference():
                    flat = torch.cat([self._forward(rows).cpu() for rows in self._chunks(grids)]).numpy()
                break
            except RuntimeError as error:
                if self._rows <= CHUNK_ROWS or not ran_out(self._device, error, verbose=self._rows >= DEVICE_ROWS):
                    raise
                self._rows //= 2
        shapes = [(len(betting), len(parts.own) * len(parts.opp)) for parts, betting in grids]
        values = np.split(flat, np.cumsum([leaves * pairs for leaves, pairs in shapes])[:-1])
        return [rows.reshape(*shape, -1) for rows, shape in zip(values, shapes, strict=True)]

    def _chunks(self, grids: Sequence[tuple[inputs.GridParts, NDArray[np.float32]]]) -> Iterator[Tensor]:
        """Iterate over the rows [n, 34] of all grids, on the device."""
        waiting: list[Tensor] = []
        for parts, betting in grids:
            for piece in torch.split(encode_grid(parts, betting, self._device), self._rows):
                if sum(map(len, waiting)) + len(piece) > self._rows and waiting:
                    yield torch.cat(waiting)
                    waiting = []
                waiting.append(piece)
        yield torch.cat(waiting)


def encode_grid(parts: inputs.GridParts, betting: NDArray[np.float32], device: torch.device) -> Tensor:
    """Compute the inputs of a grid of pairs on a device.

    Args:
        parts: card features of n own and m opponent hands.
        betting: float32 [L, 6] betting features of L leaves.

    Returns:
        float32 [L * n * m, 34] rows, as in `poker.depth_limit.inputs.grid_rows`.
    """
    own, opp, pairs, texture, public = (torch.tensor(part, device=device) for part in (*parts, betting))
    rows = torch.empty((len(public), len(own), len(opp), inputs.SIZE), device=device)
    inputs.fill_cards(rows, own, opp, pairs, texture)
    inputs.fill_betting(rows, public[:, None, None])
    return rows.flatten(0, 2)
