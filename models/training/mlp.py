"""The multi-layer perceptron of both kinds of nets.

The leaf net has layers 34 -> 256 -> 128 -> 128 -> 128 -> 4 [DLS]. The activation is ReLU; [DLS] does not name one.
"""

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional

from poker.run.errors import PokernetsError


class Linear(nn.Linear):
    """`nn.Linear` with an optional ReLU and uniform Kaiming initialisation; parameters and state_dict are the same."""

    def __init__(self, inputs: int, outputs: int, relu: bool, generator: torch.Generator) -> None:
        """Draw the initial weights.

        Args:
            relu: whether a ReLU follows.
            generator: source of randomness.
        """
        super().__init__(inputs, outputs)
        self.relu = relu
        bound = (6.0 if relu else 3.0) ** 0.5 / inputs**0.5
        with torch.no_grad():
            self.weight.uniform_(-bound, bound, generator=generator)
            self.bias.zero_()

    def reset_parameters(self) -> None:
        """Do nothing, because torch's own method draws from its global generator."""

    def forward(self, input: Tensor) -> Tensor:
        """Map inputs [n, inputs] to outputs [n, outputs]."""
        result = functional.linear(input, self.weight, self.bias)
        return functional.relu(result) if self.relu else result


class _Standardised(nn.BatchNorm1d):
    """Batch norm without weights, over the batches of all processes together, on any device."""

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs, affine=False, momentum=None)

    def forward(self, input: Tensor) -> Tensor:
        if not (self.training and distributed.is_initialized()):
            if self.training and len(input) == 1:
                raise PokernetsError("net.standardise needs batches of two rows or more: increase data.batch_rows")
            return super().forward(input)
        assert self.running_mean is not None
        assert self.running_var is not None
        assert self.num_batches_tracked is not None
        rows, wide = len(input) * distributed.get_world_size(), input.double()
        sums = torch.stack([wide.sum(0), wide.square().sum(0)])
        distributed.all_reduce(sums)
        mean = sums[0] / rows
        variance = sums[1] / rows - mean**2
        self.num_batches_tracked += 1
        share = 1 / float(self.num_batches_tracked)
        self.running_mean.lerp_(mean.float(), share)
        self.running_var.lerp_((variance * rows / (rows - 1)).float(), share)
        return (input - mean.float()) * (variance.float() + self.eps).rsqrt()


class Mlp(nn.Module):
    """A multi-layer perceptron with ReLU between layers and none after the last."""

    def __init__(
        self, inputs: int, hidden: Sequence[int], outputs: int, seed: int = 0, standardise: bool = False
    ) -> None:
        """Draw the initial weights; no global generator is used.

        Args:
            hidden: sizes of the hidden layers.
            seed: seed of the weights.
            standardise: scale inputs to mean 0 and variance 1 over all rows seen in training.
        """
        super().__init__()
        self.seen = _Standardised(inputs) if standardise else nn.Identity()
        generator = torch.Generator().manual_seed(seed)
        sizes = enumerate(pairwise((inputs, *hidden, outputs)))
        self.layers = nn.Sequential(*(Linear(*size, relu=i < len(hidden), generator=generator) for i, size in sizes))

    def forward(self, features: Tensor) -> Tensor:
        """Map features [n, inputs] to outputs [n, outputs]."""
        result: Tensor = self.layers(self.seen(features))
        return result
