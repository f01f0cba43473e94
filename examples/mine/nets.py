"""A leaf net and an opponent net."""

import torch
from torch import nn

from models.opponent.nets import ActionNet, OpponentBatch


class Plain(nn.Module):
    def __init__(self, inputs: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(inputs, width), nn.Tanh(), nn.Linear(width, 4))

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        values: torch.Tensor = self.layers(features)
        return values


class Line(ActionNet):
    def __init__(self, seed: int) -> None:
        super().__init__()
        self.layer = nn.Linear(19, 3)

    def forward(self, batch: OpponentBatch) -> torch.Tensor:
        logits: torch.Tensor = self.layer(batch.features)
        return logits
