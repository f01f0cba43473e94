"""Nets that predict fold, check/call or bet/raise: a new one is a subclass of `ActionNet` and a file in `conf/net`."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from models.mlp import Mlp
from models.opponent_data import INPUT_SIZES, UNKNOWN, OpponentBatch
from poker.features.opponent_history import NUM_TOKENS

CLASSES = 3


class ActionNet(nn.Module):
    """Takes an `OpponentBatch` and gives log-probabilities [n, C] up to a constant; C is 3, in no-limit 9.

    `needs` says which inputs beside the 19 it reads. A class with an argument `players` is told how many are known,
    in no-limit one is told how many `classes` there are.
    """

    needs: tuple[str, ...] = ()

    def loss(self, batch: OpponentBatch) -> Tensor:
        """Mean log-loss, which training minimises."""
        return functional.cross_entropy(self(batch), batch.action)


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

    `members`, alike but for their start, are trained side by side; their probabilities are averaged. `extra` columns
    come from a subclass, as many tensors as there are members.
    """

    def __init__(
        self,
        hidden: Sequence[int] = (64, 64),
        inputs: Sequence[str] = (),
        dropout: float = 0.0,
        members: int = 1,
        seed: int = 0,
        classes: int = CLASSES,
        *,
        extra_columns: int = 0,
    ) -> None:
        super().__init__()
        self.needs = self._inputs = tuple(inputs)
        self.seeds = [seed + 1000 * member for member in range(members)]
        size = sum(INPUT_SIZES[name] for name in ("features", *inputs)) + extra_columns
        self.members = nn.ModuleList(Mlp(size, hidden, classes, each) for each in self.seeds)
        self.dropout = nn.Dropout(dropout)

    def extra(self, batch: OpponentBatch) -> Iterator[Tensor]:
        """`extra_columns` [n, ...] that a member reads beside the others'."""
        return (batch.features[:, :0] for _ in self.members)

    def each(self, batch: OpponentBatch) -> Iterator[Tensor]:
        """Logits [n, C] of every member."""
        inputs = torch.cat([batch.features, *(getattr(batch, name) for name in self._inputs)], dim=1)
        for member, extra in zip(self.members, self.extra(batch), strict=True):
            assert isinstance(member, Mlp)
            *hidden, last = member.layers
            x = torch.cat([inputs, extra], dim=1)
            for layer in hidden:
                x = self.dropout(layer(x))
            yield last(x)

    def forward(self, batch: OpponentBatch) -> Tensor:
        probs = torch.stack([logits.softmax(dim=1) for logits in self.each(batch)]).mean(dim=0)
        return probs.log()

    def loss(self, batch: OpponentBatch) -> Tensor:
        """Mean log-loss of the members, each on its own."""
        losses = [functional.cross_entropy(logits, batch.action) for logits in self.each(batch)]
        return torch.stack(losses).mean()


class SequenceNet(WideNet):
    """`WideNet` with gated recurrent units that read the actions of the hand in order; perceptrons read their state."""

    def __init__(self, units: int = 40, **perceptrons: Annotated[Any, WideNet]) -> None:
        super().__init__(**perceptrons, extra_columns=units)
        self.needs = ("sequence", *self.needs)
        self.readers = nn.ModuleList(Reader(NUM_TOKENS, units, each) for each in self.seeds)

    def extra(self, batch: OpponentBatch) -> Iterator[Tensor]:
        return (reader(batch.sequence) for reader in self.readers)


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


class PlayerNet(WideNet):
    """`WideNet` with a learned vector of the player beside the inputs: one for each of `players`, one for the unseen.

    In training a player counts as unseen with probability `unseen`, so that the vector for unseen players is learned.
    """

    def __init__(
        self, players: int, size: int = 16, unseen: float = 0.1, **perceptrons: Annotated[Any, WideNet]
    ) -> None:
        super().__init__(**perceptrons, extra_columns=size)
        self._unseen = unseen
        self.vectors = nn.ModuleList(nn.Embedding(players + 1, size) for _ in self.seeds)
        with torch.no_grad():
            for vectors, each in zip(self.vectors, self.seeds, strict=True):
                vectors.get_parameter("weight").normal_(0.0, 0.1, generator=torch.Generator().manual_seed(each))

    def extra(self, batch: OpponentBatch) -> Iterator[Tensor]:
        player = batch.player
        if self.training:
            # Seeded by the batch itself: a resumed run hides the same players.
            generator = torch.Generator().manual_seed(int(player.sum()))
            hidden = torch.rand(player.shape, generator=generator, device="cpu") < self._unseen
            player = torch.where(hidden.to(player.device), UNKNOWN, player)
        return (vectors(player) for vectors in self.vectors)
