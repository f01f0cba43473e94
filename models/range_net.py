"""Nets over ranges: a value of every hand of both players, zero-sum by construction, and their use without training."""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import torch
from torch import Tensor, nn

from models.export import load_net
from models.mlp import Linear
from poker.artifacts import refuses_by_name
from poker.features.ranges import CLASSES, PUBLIC_NAMES, ROW_NAMES, SHAPE_NAMES, encode, stamp
from poker.types import Board, Reals, Singles

RANGE_NET = "range_net"
_OWN_MASS, _OPP_MASS, _EQUITY, _OWN_BELOW, _OPP_BELOW = range(5)
"""Columns of `poker.features.ranges.ROW_NAMES`."""
_SHAPE = len(ROW_NAMES) - len(SHAPE_NAMES)
_STATES = 512
"""States that a pass takes at most: 70 MB of memory with 128 units a layer."""


class RangeMlp(nn.Module):
    """[n, 2, C, F] rows and [n, P] public inputs of `poker.features.ranges` -> [n, 2, C, 2 + S]: the value of each
    class in pots, and how much a hand's value changes with its equity and its shape within the class.

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
        last = Linear(hidden[-1], 2 + len(SHAPE_NAMES), False, generator)
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
        found = self.layers(first.flatten(0, 1)).view(n, 2, classes, -1)
        value, slopes = found[..., 0] + rows[..., _EQUITY] - 0.5, found[..., 1:]
        value = value - ((mass * value).sum(dim=(1, 2)) / 2)[:, None, None]
        return torch.cat([value[..., None], slopes[..., :1] + 1, slopes[..., 1:]], dim=3)


def hand_values(found: Tensor, rows: Tensor, classes: Tensor, shape: Tensor, deviation: Tensor) -> Tensor:
    """[n, 2, H] values of hands in pots, from those of classes [n, 2, C, 2 + S]; 0 for hands that cannot be."""
    value, slopes = found[..., 0] - (found[..., 2:] * rows[..., _SHAPE:]).sum(dim=3), found[..., 1:]
    place = classes.long().clamp_max(found.shape[2] - 1)[:, None, :].expand_as(deviation)
    values = value.gather(2, place) + slopes[..., 0].gather(2, place) * deviation
    for k in range(shape.shape[2]):
        values = values + slopes[..., 1 + k].gather(2, place) * shape[:, None, :, k]
    return torch.where(classes[:, None] < found.shape[2], values, 0)


class RangeNet:
    """The exported net over ranges of a `level` at `path`. `architectures`: dotted names of net classes outside
    `models` that may be loaded."""

    @refuses_by_name(RANGE_NET)
    def __init__(self, path: str | Path, level: str, architectures: Sequence[str] = ()) -> None:
        self.level = level
        self._net = load_net(path, RANGE_NET, stamp=stamp(level), architectures=architectures)

    def values(self, states: Sequence[tuple[Board, Reals, Reals]]) -> list[Singles]:
        """[n, 2, H] counterfactual values in pots for each of `states`: a board, ranges [n, 2, H] and the stacks behind
        in pots [n]."""
        out: list[Singles] = []
        encoded = [encode(*state) for state in states]
        with torch.inference_mode():
            found = self._in_passes(*(torch.cat([torch.from_numpy(e[k]) for e in encoded]) for k in (0, 1)))
            for each in encoded:
                rows, _, classes, shape, deviation = (torch.from_numpy(part) for part in each)
                own, found = found[: len(rows)], found[len(rows) :]
                one = classes.expand(len(rows), -1), shape.expand(len(rows), -1, -1)
                out.append(hand_values(own, rows, *one, deviation).numpy())
        return out

    def _in_passes(self, rows: Tensor, public: Tensor) -> Tensor:
        starts = range(0, len(rows), _STATES)
        return torch.cat([self._net(rows[at : at + _STATES], public[at : at + _STATES]) for at in starts])
