"""Nets that predict fold, check/call or bet/raise.

A new net is a subclass of `ActionNet` and a file in `conf/net`.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from models.opponent.inputs import INPUT_SIZES, Inputs
from models.training.mlp import Mlp
from poker.kernels.types import I64, Singles

CLASSES = 3


class OpponentBatch(NamedTuple):
    """A batch of n decisions: the `Inputs` and the observed actions.

    Attributes:
        features: float32 [n, 19] the inputs of [POKI].
        hand: float32 [n, 52] the hand so far.
        past: float32 [n, 84] the player's earlier hands.
        action: int64 [n] class of the observed action.
    """

    features: Tensor
    hand: Tensor
    past: Tensor
    action: Tensor


def batch_of(inputs: Inputs, action: I64) -> OpponentBatch:
    """Convert arrays to a batch of tensors.

    Args:
        inputs: inputs of n rows.
        action: int64 [n] classes of the observed actions.
    """
    return OpponentBatch(*(torch.from_numpy(np.ascontiguousarray(column)) for column in (*inputs, action)))


class ActionNet(nn.Module):
    """The base of nets that map an `OpponentBatch` to logits [n, C]; C is 3, or 9 in no-limit games.

    Attributes:
        needs: names of the inputs that it reads besides the 19.
    """

    needs: tuple[str, ...] = ()

    def member_logits(self, batch: OpponentBatch) -> Iterable[Tensor]:
        """Return the logits [n, C] of each member of an ensemble; training averages their losses."""
        return [self(batch)]

    def probs(self, inputs: Inputs) -> Singles:
        """Predict probabilities.

        Args:
            inputs: inputs of n rows.

        Returns:
            float32 [n, C] probabilities.
        """
        with torch.inference_mode():
            batch = batch_of(inputs, np.zeros(len(inputs.features), dtype=np.int64))
            probs: Singles = self(batch).softmax(dim=1).numpy()
        return probs


class SmallNet(ActionNet):
    """The net of [POKI] section 6: 19 inputs, four hidden units and three outputs, fully connected, logistic units."""

    def __init__(self, hidden: int = 4, seed: int = 0, classes: int = CLASSES) -> None:
        """Draw the initial weights.

        Args:
            hidden: number of hidden units.
            seed: seed of the weights.
            classes: number of outputs C.
        """
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.first = nn.Linear(INPUT_SIZES["features"], hidden)
        self.second = nn.Linear(hidden, classes)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-0.3, 0.3, generator=generator)

    def forward(self, batch: OpponentBatch) -> Tensor:
        """Return the logits [n, C] of a batch."""
        logits: Tensor = self.second(torch.sigmoid(self.first(batch.features)))
        return logits


class WideNet(ActionNet):
    """An ensemble of perceptrons on the 19 inputs and optionally the hand so far and the player's past.

    Members differ only in their initial weights. They are trained side by side, and their probabilities are averaged.
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
        """Draw the initial weights.

        Args:
            hidden: sizes of the hidden layers.
            inputs: inputs besides the 19: none, `[hand]` or `[hand, past]`.
            dropout: probability of dropping a hidden unit in training.
            seed: seed of the weights.
            classes: number of outputs C.
        """
        super().__init__()
        self.needs = tuple(inputs)
        size = sum(INPUT_SIZES[name] for name in ("features", *inputs))
        self.members = nn.ModuleList(Mlp(size, hidden, classes, seed + 1000 * member) for member in range(members))
        self.dropout = nn.Dropout(dropout)

    def member_logits(self, batch: OpponentBatch) -> Iterator[Tensor]:
        """Iterate over the logits [n, C] of every member."""
        inputs = torch.cat([batch.features, *(getattr(batch, name) for name in self.needs)], dim=1)
        for member in self.members:
            assert isinstance(member, Mlp)
            *hidden, last = member.layers
            x = inputs
            for layer in hidden:
                x = self.dropout(layer(x))
            yield last(x)

    def forward(self, batch: OpponentBatch) -> Tensor:
        """Return the log of the mean probabilities [n, C] of all members."""
        probs = torch.stack([logits.softmax(dim=1) for logits in self.member_logits(batch)]).mean(dim=0)
        return probs.log()
