"""Multi-layer perceptron, which learns on whichever matrix product this machine does best.

The leaf net is 34 -> 256 -> 128 -> 128 -> 128 -> 4 [DLS]. The activation is ReLU ([DLS] does not name one): it fuses
into the matrix product, forwards and backwards.

The BLAS inside torch picks AVX2 on AMD processors. oneDNN, which torch carries too, generates AVX-512 code wherever the
processor has it: 1.76 M rows/s of the leaf net on one Zen 5 core against 0.50 M, with no compiler at run time and no
environment variable. The operators are the ones that `torch.compile` itself emits; where they are missing, or answer
differently from the plain layer, or the tensors are not float32 on a CPU, the plain layer computes instead.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, distributed, nn
from torch.nn import functional

FEW_ROWS = 8
"""Up to so many rows the plain layer is faster: oneDNN reorders the weights at every call."""


class FusedLinear(torch.autograd.Function):
    """y = relu(x W^T + b), or without the ReLU: forward and all three gradients by oneDNN. float32 on a CPU only."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, relu: bool) -> Tensor:
        y = onednn_linear(x, weight, bias, relu)
        ctx.relu = relu
        ctx.save_for_backward(x, weight, y if relu else None)
        return y

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor | None, Tensor, Tensor, None]:
        x, weight, y = ctx.saved_tensors
        gradient = gradients[0].contiguous()
        if ctx.relu:
            gradient = torch.ops.aten.threshold_backward(gradient, y, 0)
        to_input = onednn_linear(gradient, weight.t().contiguous(), None, False) if ctx.needs_input_grad[0] else None
        to_weight = onednn_linear(gradient.t(), x.t(), None, False)
        return to_input, to_weight, gradient.sum(0), None


def onednn_linear(x: Tensor, weight: Tensor, bias: Tensor | None, relu: bool) -> Tensor:
    """x [n, in], weight [out, in] (or reordered by `pack_weight`) -> [n, out], no gradient."""
    result: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "relu" if relu else "none", [], "")
    return result


def pack_weight(weight: Tensor, rows: int) -> Tensor:
    """The weight in the blocked layout that oneDNN likes best for batches of `rows`; only `onednn_linear` reads it."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, rows)
    return packed


@functools.cache
def has_onednn() -> bool:
    """Whether oneDNN's fused product is there and right on this machine."""
    generator = torch.Generator().manual_seed(0)
    x, weight, bias = (torch.randn(shape, generator=generator) for shape in ((64, 34), (32, 34), (32,)))
    try:
        if not torch.backends.mkldnn.is_available():  # type: ignore[no-untyped-call]
            return False
        fused = onednn_linear(x, pack_weight(weight, 64), bias, True)
    except (AttributeError, RuntimeError, NotImplementedError):
        return False
    return bool(torch.allclose(fused, functional.linear(x, weight, bias).relu(), atol=1e-4))


class Linear(nn.Linear):
    """`nn.Linear` (same parameters, same state_dict) with a ReLU, fused while it learns; uniform Kaiming start.

    Without gradients it is the plain layer: `Mlp.packed` is faster still where that matters.
    """

    def __init__(self, inputs: int, outputs: int, relu: bool, generator: torch.Generator) -> None:
        super().__init__(inputs, outputs, device="meta")
        self.relu = relu
        self.to_empty(device="cpu")
        bound = (6.0 if relu else 3.0) ** 0.5 / inputs**0.5
        with torch.no_grad():
            self.weight.uniform_(-bound, bound, generator=generator)
            self.bias.zero_()

    def forward(self, input: Tensor) -> Tensor:
        fits = input.device.type == "cpu" and input.dtype == self.weight.dtype == torch.float32
        learning = torch.is_grad_enabled() and not torch.is_autocast_enabled("cpu")
        if fits and learning and len(input) > FEW_ROWS and has_onednn():
            result: Tensor = FusedLinear.apply(input, self.weight, self.bias, self.relu)  # type: ignore[no-untyped-call]
            return result
        result = functional.linear(input, self.weight, self.bias)
        return functional.relu(result, inplace=not result.requires_grad) if self.relu else result


class _Standardised(nn.BatchNorm1d):
    """Batch norm without weights, over the batches of all processes together, on any device."""

    def __init__(self, inputs: int) -> None:
        super().__init__(inputs, affine=False, momentum=None)

    def forward(self, input: Tensor) -> Tensor:
        if not (self.training and distributed.is_initialized()):
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
    """[n, inputs] -> [n, outputs]; ReLU between layers, none after the last. `seed` touches no global generator.

    `standardise` gives the layers inputs of mean 0 and variance 1 over all the rows that it has learned from.
    """

    def __init__(
        self, inputs: int, hidden: Sequence[int], outputs: int, seed: int = 0, standardise: bool = False
    ) -> None:
        super().__init__()
        self.seen = _Standardised(inputs) if standardise else nn.Identity()
        generator = torch.Generator().manual_seed(seed)
        sizes = [inputs, *hidden, outputs]
        last = len(sizes) - 2
        self.layers = nn.Sequential(
            *(Linear(sizes[i], sizes[i + 1], relu=i < last, generator=generator) for i in range(last + 1))
        )

    def forward(self, features: Tensor) -> Tensor:
        result: Tensor = self.layers(self.seen(features))
        return result

    def packed(self, rows: int) -> Callable[[Tensor], Tensor]:
        """`forward` without gradients on batches of `rows`, its weights laid out once as oneDNN likes them best."""
        layers = [layer for layer in self.layers if isinstance(layer, Linear)]
        weights = [(layer.weight.detach(), layer.bias.detach()) for layer in layers]
        weight, bias = weights[0]
        offset, one = self.seen(torch.zeros_like(weight[:1])), self.seen(torch.ones_like(weight[:1]))
        weights[0] = weight * (one - offset), bias + weight @ offset[0]
        packed = [
            (pack_weight(weight, rows), bias, layer.relu) for (weight, bias), layer in zip(weights, layers, strict=True)
        ]

        def run(x: Tensor) -> Tensor:
            for weight, bias, relu in packed:
                x = onednn_linear(x, weight, bias, relu)
            return x

        return run
