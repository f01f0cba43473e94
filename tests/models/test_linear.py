"""oneDNN's fused layer against the plain one: values and all gradients."""

import pytest
import torch
from torch.nn import functional

from models.training import mlp
from models.training.mlp import FusedLinear, Linear, has_onednn

needs_onednn = pytest.mark.skipif(not has_onednn(), reason="this torch has no oneDNN products")


@needs_onednn
@pytest.mark.parametrize("relu", [True, False])
@pytest.mark.parametrize(("rows", "inputs", "outputs"), [(1, 3, 2), (130, 34, 256), (97, 128, 4)])
def test_values_and_gradients_are_those_of_the_plain_layer(rows: int, inputs: int, outputs: int, relu: bool) -> None:
    generator = torch.Generator().manual_seed(3)
    shapes = ((rows, inputs), (outputs, inputs), (outputs,))
    fused = [torch.randn(shape, generator=generator, requires_grad=True) for shape in shapes]
    plain = [tensor.detach().clone().requires_grad_() for tensor in fused]
    upstream = torch.randn(rows, outputs, generator=generator)

    values: torch.Tensor = FusedLinear.apply(*fused, relu)  # type: ignore[no-untyped-call]
    wanted = functional.linear(*plain)
    wanted = wanted.relu() if relu else wanted
    torch.autograd.backward(values, upstream)
    torch.autograd.backward(wanted, upstream)

    torch.testing.assert_close(values, wanted, atol=1e-4, rtol=1e-5)
    for a, b in zip(fused, plain, strict=True):
        torch.testing.assert_close(a.grad, b.grad, atol=1e-3, rtol=1e-4)


@needs_onednn
def test_layer_falls_back_where_onednn_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    layer = Linear(34, 16, relu=True, generator=torch.Generator().manual_seed(0))
    x = torch.randn(50, 34, generator=torch.Generator().manual_seed(1))
    fast = layer(x)
    assert fast.grad_fn is not None
    assert "FusedLinear" in fast.grad_fn.name()
    monkeypatch.setattr(mlp, "has_onednn", lambda: False)
    slow = layer(x)
    assert slow.grad_fn is not None
    assert "Relu" in slow.grad_fn.name()
    torch.testing.assert_close(fast, slow, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(layer.double()(x.double()).float(), slow, atol=1e-5, rtol=1e-5)
