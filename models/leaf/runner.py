"""The forward pass of leaf nets: numpy in, numpy out, no gradient.

Rows go through in chunks, so that the activations of a chunk stay in cache. On the CPU torch has one thread, since more
wait for each other where others want the cores, and layers multiply in bfloat16 where the processor does (AVX-512
BF16). That is 3.0 times as fast as float32 on a Zen 5 core (1.77 against 0.59 M rows/s). By turns it is 1.8 times as
fast on a Zen 4 core, and 2.4 times on a busy Xeon with AMX. `make bench` measures it on the machine at hand. Values of
the demo's net move by 0.0036 pots, root mean square, where labels have standard errors of 0.20 and its loss goes from
0.06356 to 0.06358.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from poker.depth_limit import inputs
from poker.search.torch.device import ran_out, torch_device

CHUNK_ROWS = 4096
DEVICE_ROWS = 1 << 18
"""A chunk on a device other than the CPU: 256 MiB for a layer of 256."""


class LeafRunner:
    """Forward pass of a leaf net, [n, 34] -> [n, K].

    On another `device` than cpu (cuda, or torch: as there, on the CPU) the net makes the
    rows of whole grids itself, in float32.
    """

    def __init__(self, net: nn.Module, device: str = "cpu", *, bfloat16: bool = True) -> None:
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
        """features [n, 34] -> [n, K] in pots (`poker.depth_limit.inputs.TARGET`)."""
        if features.ndim != 2 or features.shape[1] != inputs.SIZE:
            raise ValueError(f"features have shape {features.shape}, the net takes [n, {inputs.SIZE}]")
        out = np.empty((len(features), self.num_continuations), dtype=np.float32)
        with self._inference():
            for at in range(0, len(features), self._rows):
                chunk = torch.from_numpy(np.require(features[at : at + self._rows], np.float32, ["C", "W"]))
                out[at : at + self._rows] = self._forward(chunk.to(self._device)).float().cpu().numpy()
        return out

    def grid_values(self, grids: Sequence[tuple[inputs.GridParts, NDArray[np.float32]]]) -> list[NDArray[np.float32]]:
        """Values [L, n * m, K] for each grid and the betting features [L, 6] of L leaves on its board; on a device the
        rows of all are one batch, cut to chunks, smaller ones once memory has run out."""
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
        """Rows [n, 34] of grid after grid, on the device."""
        waiting: list[Tensor] = []
        for parts, betting in grids:
            for piece in torch.split(encode_grid(parts, betting, self._device), self._rows):
                if sum(map(len, waiting)) + len(piece) > self._rows and waiting:
                    yield torch.cat(waiting)
                    waiting = []
                waiting.append(piece)
        yield torch.cat(waiting)


def encode_grid(parts: inputs.GridParts, betting: NDArray[np.float32], device: torch.device) -> Tensor:
    """[L * n * m, 34] on `device`, as `poker.depth_limit.inputs.grid_rows` gives for each of the L leaves."""
    own, opp, pairs, texture, public = (torch.tensor(part, device=device) for part in (*parts, betting))
    rows = torch.empty((len(public), len(own), len(opp), inputs.SIZE), device=device)
    inputs.fill_cards(rows, own, opp, pairs, texture)
    inputs.fill_betting(rows, public[:, None, None])
    return rows.flatten(0, 2)
