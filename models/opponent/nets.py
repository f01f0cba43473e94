"""Nets that predict fold, check/call or bet/raise: a new one is a subclass of `ActionNet` and a file in `conf/net`."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from models.opponent.inputs import INPUT_SIZES, Inputs
from models.training.mlp import Mlp
from poker.kernels.types import Singles

CLASSES = 3


class OpponentBatch(NamedTuple):
    """`Inputs` of n rows, classes [n]."""

    features: Tensor
    hand: Tensor
    past: Tensor
    action: Tensor


def batch_of(inputs: Inputs, action: NDArray[np.int64]) -> OpponentBatch:
    return OpponentBatch(*(torch.from_numpy(np.ascontiguousarray(column)) for column in (*inputs, action)))


class ActionNet(nn.Module):
    """Takes an `OpponentBatch` and gives log-probabilities [n, C] up to a constant; C is 3, in no-limit 9.

    `needs` says which inputs beside the 19 it reads.
    """

    needs: tuple[str, ...] = ()

    def member_logits(self, batch: OpponentBatch) -> Iterable[Tensor]:
        """Logits [n, C] of each member of an ensemble, whose losses are averaged in training."""
        return [self(batch)]

    def probs(self, inputs: Inputs) -> Singles:
        """Probabilities [n, C]."""
        with torch.inference_mode():
            batch = batch_of(inputs, np.zeros(len(inputs.features), dtype=np.int64))
            probs: Singles = self(batch).softmax(dim=1).numpy()
        return probs


class SmallNet(ActionNet):
    """The net of [POKI] section 6: 19 inputs, four hidden units, three outputs, all connected, logistic units."""

    def __init__(self, hidden: int = 4, seed: int = 0, classes: int = CLASSES) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.first = nn.Linear(INPUT_SIZES["features"], hidden)
        self.second = nn.Linear(hidden, classes)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-0.3, 0.3, generator=generator)

    def forward(self, batch: OpponentBatch) -> Tensor:
        logits: Tensor = self.second(torch.sigmoid(self.first(batch.features)))
        return logits


class WideNet(ActionNet):
    """Perceptrons on the 19 inputs and, for `inputs: [hand]` and `[hand, past]`, on the hand and the player so far.

    `members`, alike but for their start, are trained side by side; their probabilities are averaged.
    """

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        inputs: Sequence[str] = (),
        dropout: float = 0.0,
        members: int = 1,
        seed: int = 0,
        classes: int = CLASSES,
    ) -> None:
        super().__init__()
        self.needs = tuple(inputs)
        size = sum(INPUT_SIZES[name] for name in ("features", *inputs))
        self.members = nn.ModuleList(Mlp(size, hidden, classes, seed + 1000 * member) for member in range(members))
        self.dropout = nn.Dropout(dropout)

    def member_logits(self, batch: OpponentBatch) -> Iterator[Tensor]:
        """Logits [n, C] of every member."""
        inputs = torch.cat([batch.features, *(getattr(batch, name) for name in self.needs)], dim=1)
        for member in self.members:
            assert isinstance(member, Mlp)
            *hidden, last = member.layers
            x = inputs
            for layer in hidden:
                x = self.dropout(layer(x))
            yield last(x)

    def forward(self, batch: OpponentBatch) -> Tensor:
        probs = torch.stack([logits.softmax(dim=1) for logits in self.member_logits(batch)]).mean(dim=0)
        return probs.log()
