"""Nets that predict fold, check/call or bet/raise. Each takes an `OpponentBatch` and gives log-probabilities
[n, 3] up to a constant; `loss` is what training makes small.

`needs` says which inputs beside the 19 a net reads, `config` rebuilds it.
"""

from collections.abc import Iterator, Sequence
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.mlp import Mlp
from models.opponent_data import INPUT_SIZES, UNKNOWN, OpponentBatch

CLASSES = 3


class SmallNet(nn.Module):
    """The net of [POKI] section 6: 19 inputs, four hidden units, three outputs, all connected, logistic units."""

    kind: ClassVar[str] = "small"
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(self, hidden: int = 4, seed: int = 0) -> None:
        super().__init__()
        self.config: dict[str, Any] = {"hidden": hidden, "seed": seed}
        generator = torch.Generator().manual_seed(seed)
        self.first = nn.Linear(INPUT_SIZES["features"], hidden)
        self.second = nn.Linear(hidden, CLASSES)
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-0.3, 0.3, generator=generator)

    def forward(self, batch: OpponentBatch) -> Tensor:
        logits: Tensor = self.second(torch.sigmoid(self.first(batch.features)))
        return logits

    def loss(self, batch: OpponentBatch) -> Tensor:
        return functional.cross_entropy(self(batch), batch.action)


class WideNet(nn.Module):
    """Perceptrons on the 19 inputs and, for `inputs: [hand]` and `[hand, past]`, on the hand and the player so far.

    `members` of them, alike but for their start, are trained side by side and their probabilities averaged.
    """

    kind: ClassVar[str] = "wide"

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        inputs: Sequence[str] = (),
        dropout: float = 0.0,
        members: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config: dict[str, Any] = {
            "hidden": list(hidden),
            "inputs": list(inputs),
            "dropout": dropout,
            "members": members,
            "seed": seed,
        }
        self.needs = tuple(inputs)
        size = INPUT_SIZES["features"] + sum(INPUT_SIZES[name] for name in inputs)
        self.members = nn.ModuleList(Mlp(size, hidden, CLASSES, seed + 1000 * member) for member in range(members))
        self.dropout = nn.Dropout(dropout)

    def forward(self, batch: OpponentBatch) -> Tensor:
        probs = torch.stack([logits.softmax(dim=1) for logits in self._each(batch)]).mean(dim=0)
        return probs.log()

    def loss(self, batch: OpponentBatch) -> Tensor:
        """Mean log-loss of the members, each on its own."""
        losses = [functional.cross_entropy(logits, batch.action) for logits in self._each(batch)]
        return torch.stack(losses).mean()

    def _each(self, batch: OpponentBatch) -> Iterator[Tensor]:
        inputs = torch.cat([batch.features, *(getattr(batch, name) for name in self.needs)], dim=1)
        for member in self.members:
            assert isinstance(member, Mlp)
            *hidden, last = member.layers
            x = inputs
            for layer in hidden:
                x = self.dropout(layer(x))
            yield last(x)


class PlayerNet(nn.Module):
    """A perceptron on the 19 inputs and a learned vector of the player; `players` of them, and one for strangers.

    In training a player is taken for a stranger with probability `stranger`, so that a stranger's vector is learned.
    """

    kind: ClassVar[str] = "player"
    needs: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        players: int,
        size: int = 16,
        hidden: Sequence[int] = (64, 64),
        stranger: float = 0.1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config: dict[str, Any] = {
            "players": players,
            "size": size,
            "hidden": list(hidden),
            "stranger": stranger,
            "seed": seed,
        }
        self._stranger = stranger
        self.vectors = nn.Embedding(players + 1, size)
        with torch.no_grad():
            self.vectors.weight.normal_(0.0, 0.1, generator=torch.Generator().manual_seed(seed))
        self.net = Mlp(INPUT_SIZES["features"] + size, hidden, CLASSES, seed)

    def forward(self, batch: OpponentBatch) -> Tensor:
        player = batch.player
        if self.training:
            hidden = torch.rand(player.shape, generator=self._generator(batch), device="cpu") < self._stranger
            player = torch.where(hidden.to(player.device), UNKNOWN, player)
        logits: Tensor = self.net(torch.cat([batch.features, self.vectors(player)], dim=1))
        return logits

    def loss(self, batch: OpponentBatch) -> Tensor:
        return functional.cross_entropy(self(batch), batch.action)

    @staticmethod
    def _generator(batch: OpponentBatch) -> torch.Generator:
        """Seeded by the batch itself: a resumed run hides the same players."""
        return torch.Generator().manual_seed(int(batch.player.sum()))


OpponentNetModule = SmallNet | WideNet | PlayerNet
NETS: dict[str, type[SmallNet] | type[WideNet] | type[PlayerNet]] = {
    net.kind: net for net in (SmallNet, WideNet, PlayerNet)
}
