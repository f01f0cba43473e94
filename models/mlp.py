"""Multi-layer perceptron: the leaf net is 34 -> 256 -> 128 -> 128 -> 128 -> 4 [DLS].

The activation is ReLU ([DLS] does not name one): it fuses into the matrix product, forwards and backwards.
"""

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn

from models.linear import Linear


class Mlp(nn.Module):
    """[n, inputs] -> [n, outputs]; ReLU between layers, none after the last. `seed` touches no global generator."""

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: int, seed: int = 0) -> None:
        super().__init__()
        self.config: dict[str, Any] = {"inputs": inputs, "hidden": list(hidden), "outputs": outputs, "seed": seed}
        generator = torch.Generator().manual_seed(seed)
        sizes = [inputs, *hidden, outputs]
        last = len(sizes) - 2
        self.layers = nn.Sequential(
            *(Linear(sizes[i], sizes[i + 1], relu=i < last, generator=generator) for i in range(last + 1))
        )

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.layers(features)
        return result
