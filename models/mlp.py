"""Multi-layer perceptron: the leaf net is 34 -> 256 -> 128 -> 128 -> 128 -> 4 [DLS].

The activation is ReLU ([DLS] does not name one): it fuses into the matrix product, forwards and backwards.
"""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from models.linear import Linear, onednn_linear, pack_weight


class Mlp(nn.Module):
    """[n, inputs] -> [n, outputs]; ReLU between layers, none after the last. `seed` touches no global generator."""

    def __init__(self, inputs: int, hidden: Sequence[int], outputs: int, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        sizes = [inputs, *hidden, outputs]
        last = len(sizes) - 2
        self.layers = nn.Sequential(
            *(Linear(sizes[i], sizes[i + 1], relu=i < last, generator=generator) for i in range(last + 1))
        )

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.layers(features)
        return result

    def packed(self, rows: int) -> Callable[[Tensor], Tensor]:
        """`forward` without gradients on batches of `rows`, its weights laid out once as oneDNN likes them best."""
        layers = [layer for layer in self.layers if isinstance(layer, Linear)]
        packed = [(pack_weight(layer.weight.detach(), rows), layer.bias.detach(), layer.relu) for layer in layers]

        def run(x: Tensor) -> Tensor:
            for weight, bias, relu in packed:
                x = onednn_linear(x, weight, bias, relu)
            return x

        return run
