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
from poker.features.opponent_history import NUM_TOKENS

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


class Averaged(nn.Module):
    """`members`, alike but for their start, trained side by side; their probabilities are averaged."""

    members: nn.ModuleList

    def each(self, batch: OpponentBatch) -> Iterator[Tensor]:
        """Logits [n, 3] of every member."""
        raise NotImplementedError

    def forward(self, batch: OpponentBatch) -> Tensor:
        probs = torch.stack([logits.softmax(dim=1) for logits in self.each(batch)]).mean(dim=0)
        return probs.log()

    def loss(self, batch: OpponentBatch) -> Tensor:
        """Mean log-loss of the members, each on its own."""
        losses = [functional.cross_entropy(logits, batch.action) for logits in self.each(batch)]
        return torch.stack(losses).mean()


class WideNet(Averaged):
    """Perceptrons on the 19 inputs and, for `inputs: [hand]` and `[hand, past]`, on the hand and the player so far."""

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
        size = _size_of(inputs)
        self.members = nn.ModuleList(Mlp(size, hidden, CLASSES, seed + 1000 * member) for member in range(members))
        self.dropout = nn.Dropout(dropout)

    def each(self, batch: OpponentBatch) -> Iterator[Tensor]:
        inputs = _joined(batch, self.needs)
        for member in self.members:
            assert isinstance(member, Mlp)
            yield _with_dropout(member, inputs, self.dropout)


class SequenceNet(Averaged):
    """Gated recurrent units read the actions of the hand in their order; a perceptron sees their last state, the 19
    inputs and, for `inputs`, what `WideNet` sees."""

    kind: ClassVar[str] = "sequence"

    def __init__(
        self,
        units: int = 40,
        hidden: Sequence[int] = (64, 64),
        inputs: Sequence[str] = (),
        dropout: float = 0.0,
        members: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config: dict[str, Any] = {
            "units": units,
            "hidden": list(hidden),
            "inputs": list(inputs),
            "dropout": dropout,
            "members": members,
            "seed": seed,
        }
        self.needs = ("sequence", *inputs)
        self._inputs = tuple(inputs)
        size = _size_of(inputs) + units
        seeds = [seed + 1000 * member for member in range(members)]
        self.members = nn.ModuleList(Mlp(size, hidden, CLASSES, each) for each in seeds)
        self.readers = nn.ModuleList(Reader(NUM_TOKENS, units, each) for each in seeds)
        self.dropout = nn.Dropout(dropout)

    def each(self, batch: OpponentBatch) -> Iterator[Tensor]:
        inputs = _joined(batch, self._inputs)
        for member, reader in zip(self.members, self.readers, strict=True):
            assert isinstance(member, Mlp)
            yield _with_dropout(member, torch.cat([inputs, reader(batch.sequence)], dim=1), self.dropout)


class Reader(nn.Module):
    """Gated recurrent units over sequences of tokens: [n, L], 0 after the end, to the last states [n, units].

    A token has its own input to the gates, so nothing is multiplied with an embedding. Rows are read longest first, a
    step only by those that have one left: several times as fast as torch's own layer for sequences this short.
    """

    def __init__(self, tokens: int, units: int, seed: int) -> None:
        super().__init__()
        self.inputs = nn.Embedding(tokens, 3 * units)
        self.states = nn.Linear(units, 3 * units)
        generator = torch.Generator().manual_seed(seed)
        bound = units**-0.5
        with torch.no_grad():
            for parameter in self.parameters():
                parameter.uniform_(-bound, bound, generator=generator)

    def forward(self, tokens: Tensor) -> Tensor:
        lengths = (tokens > 0).sum(dim=1)
        order = torch.argsort(lengths, descending=True, stable=True)
        ordered, left = tokens[order].long(), lengths[order].cpu()
        state = self.states.weight.new_zeros(len(tokens), self.states.in_features)
        for step in range(int(left[0]) if len(left) else 0):
            rows = int((left > step).sum())
            state = torch.cat([self._step(ordered[:rows, step], state[:rows]), state[rows:]])
        return state[torch.argsort(order)]

    def _step(self, tokens: Tensor, state: Tensor) -> Tensor:
        reset, keep, seen = self.inputs(tokens).chunk(3, dim=1)
        reset_by, keep_by, kept = self.states(state).chunk(3, dim=1)
        new = torch.tanh(seen + torch.sigmoid(reset + reset_by) * kept)
        moved: Tensor = new + torch.sigmoid(keep + keep_by) * (state - new)
        return moved


def _size_of(inputs: Sequence[str]) -> int:
    return INPUT_SIZES["features"] + sum(INPUT_SIZES[name] for name in inputs)


def _joined(batch: OpponentBatch, inputs: Sequence[str]) -> Tensor:
    return torch.cat([batch.features, *(getattr(batch, name) for name in inputs)], dim=1)


def _with_dropout(net: Mlp, x: Tensor, dropout: nn.Dropout) -> Tensor:
    *hidden, last = net.layers
    for layer in hidden:
        x = dropout(layer(x))
    logits: Tensor = last(x)
    return logits


class PlayerNet(Averaged):
    """Perceptrons that see what `WideNet` sees and a learned vector of the player: `players`, and one for strangers.

    In training a player is taken for a stranger with probability `stranger`, so that a stranger's vector is learned.
    """

    kind: ClassVar[str] = "player"

    def __init__(
        self,
        players: int,
        size: int = 16,
        hidden: Sequence[int] = (64, 64),
        stranger: float = 0.1,
        inputs: Sequence[str] = (),
        dropout: float = 0.0,
        members: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__()
        self.config: dict[str, Any] = {
            "players": players,
            "size": size,
            "hidden": list(hidden),
            "stranger": stranger,
            "inputs": list(inputs),
            "dropout": dropout,
            "members": members,
            "seed": seed,
        }
        self.needs = tuple(inputs)
        self._stranger = stranger
        seeds = [seed + 1000 * member for member in range(members)]
        self.vectors = nn.ModuleList(nn.Embedding(players + 1, size) for _ in seeds)
        with torch.no_grad():
            for vectors, each in zip(self.vectors, seeds, strict=True):
                assert isinstance(vectors, nn.Embedding)
                vectors.weight.normal_(0.0, 0.1, generator=torch.Generator().manual_seed(each))
        self.members = nn.ModuleList(Mlp(_size_of(inputs) + size, hidden, CLASSES, each) for each in seeds)
        self.dropout = nn.Dropout(dropout)

    def each(self, batch: OpponentBatch) -> Iterator[Tensor]:
        player = batch.player
        if self.training:
            hidden = torch.rand(player.shape, generator=self._generator(batch), device="cpu") < self._stranger
            player = torch.where(hidden.to(player.device), UNKNOWN, player)
        inputs = _joined(batch, self.needs)
        for member, vectors in zip(self.members, self.vectors, strict=True):
            assert isinstance(member, Mlp)
            yield _with_dropout(member, torch.cat([inputs, vectors(player)], dim=1), self.dropout)

    @staticmethod
    def _generator(batch: OpponentBatch) -> torch.Generator:
        """Seeded by the batch itself: a resumed run hides the same players."""
        return torch.Generator().manual_seed(int(batch.player.sum()))


OpponentNetModule = SmallNet | WideNet | PlayerNet | SequenceNet
NETS: dict[str, type[SmallNet] | type[WideNet] | type[PlayerNet] | type[SequenceNet]] = {
    net.kind: net for net in (SmallNet, WideNet, PlayerNet, SequenceNet)
}
