"""Losses as plain torch modules that also say what each output lost."""

from torch import Tensor, nn
from torch.nn import functional


class HuberLoss(nn.Module):
    """Quadratic up to `delta` (in the unit of the targets), linear beyond; the mean over everything."""

    def __init__(self, delta: float = 1.0) -> None:
        super().__init__()
        self.delta = delta

    def forward(self, predicted: Tensor, target: Tensor) -> Tensor:
        return functional.huber_loss(predicted, target, delta=self.delta)

    def elementwise(self, predicted: Tensor, target: Tensor) -> Tensor:
        """[n, K] losses, not averaged."""
        return functional.huber_loss(predicted, target, delta=self.delta, reduction="none")
