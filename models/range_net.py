"""Nets over ranges: a value of every hand of both players, zero-sum by construction, and their use without training."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from models.export import load_net
from models.mlp import Linear
from poker.artifacts import refuses_by_name
from poker.features.ranges import CLASSES, PUBLIC_NAMES, ROW_NAMES, STAMP, encode
from poker.types import Board, Reals, Singles

RANGE_NET = "range_net"
_OWN_MASS, _OPP_MASS, _EQUITY, _OWN_BELOW, _OPP_BELOW = range(5)
"""Columns of `poker.features.ranges.ROW_NAMES`."""


class RangeMlp(nn.Module):
    """[n, 2, C, F] rows and [n, P] public inputs of `poker.features.ranges` -> [n, 2, C, 2]: the value of each class in
    pots, and how much a hand's value changes with its equity within the class.

    One perceptron of `hidden` layers serves every class of both players; the first takes, beside the row, what another
    of `context` layers makes of both ranges, the public inputs and the seat. What they add up to is counted from the
    equity less one half, and the sum over both ranges is taken from both players alike.
    """

    def __init__(self, context: Sequence[int], hidden: Sequence[int], seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        sizes = [4 * CLASSES + len(PUBLIC_NAMES) + 1, *context, hidden[0]]
        self.context = nn.Sequential(
            *(Linear(sizes[i], sizes[i + 1], i < len(context), generator) for i in range(len(context) + 1))
        )
        self.row = Linear(len(ROW_NAMES) + 2, hidden[0], False, generator)
        last = Linear(hidden[-1], 2, False, generator)
        with torch.no_grad():
            last.weight.mul_(0.1)
        above = (Linear(size, next_size, True, generator) for size, next_size in pairwise(hidden))
        self.layers = nn.Sequential(*above, last)

    def forward(self, rows: Tensor, public: Tensor) -> Tensor:
        n, _, classes, inputs = rows.shape
        mass = rows[..., _OWN_MASS] / classes
        roots = rows[..., : _OPP_MASS + 1].clamp_min(0).sqrt()
        seat = torch.tensor([0.0, 1.0], device=rows.device).expand(n, 2)[..., None]
        below = rows[..., _OWN_BELOW : _OPP_BELOW + 1]
        seen = torch.cat([roots.flatten(2), below.flatten(2), public[:, None].expand(-1, 2, -1), seat], dim=2)
        context = self.context(seen.flatten(0, 1))
        row = self.row(torch.cat([rows, roots], dim=3).reshape(-1, inputs + 2))
        first = (row.view(2 * n, classes, -1) + context[:, None]).relu()
        found = self.layers(first.flatten(0, 1)).view(n, 2, classes, 2)
        value, slope = found[..., 0] + rows[..., _EQUITY] - 0.5, found[..., 1] + 1
        surplus = (mass * value).sum(dim=(1, 2)) / 2
        return torch.stack([value - surplus[:, None, None], slope], dim=3)


def hand_values(found: Tensor, classes: Tensor, deviation: Tensor) -> Tensor:
    """[n, 2, H] values of hands in pots, from those of classes [n, 2, C, 2]; 0 for hands that cannot be."""
    place = classes.long().clamp_max(found.shape[2] - 1)[:, None, :].expand_as(deviation)
    value, slope = (found[..., k].gather(2, place) for k in range(2))
    return torch.where(classes[:, None] < found.shape[2], value + slope * deviation, 0)


class RangeNet:
    """The exported net over ranges at `path`. `architectures`: dotted names of net classes outside `models` that may be
    loaded."""

    @refuses_by_name(RANGE_NET)
    def __init__(self, path: str | Path, architectures: Sequence[str] = ()) -> None:
        self._net = load_net(path, RANGE_NET, stamp=STAMP, architectures=architectures)

    def values(self, states: Sequence[tuple[Board, Reals, float]]) -> Singles:
        """[n, 2, H] counterfactual values in pots for n states: the board, both ranges [2, H], the stack behind in
        pots."""
        encoded = [encode(*state) for state in states]
        rows, public, classes, deviation = (torch.from_numpy(np.stack(part)) for part in zip(*encoded, strict=True))
        with torch.inference_mode():
            values: Singles = hand_values(self._net(rows, public), classes, deviation).numpy()
        return values
