"""Nets over ranges: a value of every hand of both players, zero-sum by construction, and their use without training."""

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from models.training.export import load_net
from models.training.mlp import Linear
from poker.depth_limit.range_inputs import (
    CLASSES,
    PUBLIC_NAMES,
    ROW_NAMES,
    SHAPE_NAMES,
    STACKS,
    encode,
    fit_together,
    stamp,
)
from poker.game.cards import cards_text
from poker.kernels.types import Board, Reals, Singles
from poker.run.errors import PokernetsError
from poker.store.artifacts import open_artifact, refuses_by_name

RANGE_NET = "range_net"
_OWN_MASS, _EQUITY, _SHAPE = (ROW_NAMES.index(name) for name in ("own_mass", "equity", SHAPE_NAMES[0]))
STACKS_COUNT = "stack_to_pot"
"""Where a manifest has the least and the largest stack of training, in pots."""
_ROUNDING = 1 + 1e-4
_STATES = 512
"""States that a pass takes at most, which bounds its memory."""


class RangeMixer(nn.Module):
    """[n, 2, C, F] rows and [n, P] public inputs (`poker.depth_limit.range_inputs`) -> [n, 2, C, 2 + S]: values of each
    class in pots, and how much a hand's value changes with its equity and its shape within the class.

    Classes of hands, the rows of both players together, are tokens of `width` numbers. Each of `blocks` mixes them over
    the classes, as sums over ranges do, then each by itself (an MLP-Mixer: Tolstikhin et al. 2021). Values are counted
    from the equity less one half, and what both ranges sum up to is taken from both players alike.
    """

    def __init__(self, width: int, blocks: int, seed: int = 0) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.token = Linear(2 * (len(ROW_NAMES) + 1), width, False, generator)
        self.public = Linear(len(PUBLIC_NAMES), width, False, generator)
        self.place = nn.Parameter(torch.zeros(CLASSES, width))
        self.blocks = nn.ModuleList(_Block(width, generator) for _ in range(blocks))
        self.last = Linear(width, 2 * (2 + len(SHAPE_NAMES)), False, generator)
        with torch.no_grad():
            self.last.weight.mul_(0.1)

    def forward(self, rows: Tensor, public: Tensor) -> Tensor:
        n, _, classes, _ = rows.shape
        roots = rows[..., :1].clamp_min(0).sqrt()
        both = torch.cat([rows, roots], dim=3).transpose(1, 2).reshape(n * classes, -1)
        tokens = self.token(both).view(n, classes, -1) + self.public(public)[:, None] + self.place
        for block in self.blocks:
            tokens = block(tokens)
        last = self.last(tokens.flatten(0, 1)).view(n, classes, 2, -1).transpose(1, 2)
        value, slopes = last[..., 0] + rows[..., _EQUITY] - 0.5, last[..., 1:]
        value = value - ((rows[..., _OWN_MASS] * value).sum(dim=(1, 2)) / (2 * classes))[:, None, None]
        return torch.cat([value[..., None], slopes[..., :1] + 1, slopes[..., 1:]], dim=3)


class _Block(nn.Module):
    def __init__(self, width: int, generator: torch.Generator) -> None:
        super().__init__()
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.over = nn.Sequential(Linear(CLASSES, CLASSES, True, generator), Linear(CLASSES, CLASSES, False, generator))
        self.each = nn.Sequential(Linear(width, 2 * width, True, generator), Linear(2 * width, width, False, generator))

    def forward(self, tokens: Tensor) -> Tensor:
        n, classes, width = tokens.shape
        across = self.norms[0](tokens).transpose(1, 2).reshape(n * width, classes)
        tokens = tokens + self.over(across).view(n, width, classes).transpose(1, 2)
        by_itself: Tensor = self.each(self.norms[1](tokens).view(n * classes, width))
        return tokens + by_itself.view(n, classes, width)


def hand_values(by_class: Tensor, rows: Tensor, classes: Tensor, shape: Tensor, deviation: Tensor) -> Tensor:
    """[n, 2, H] values of hands in pots, from those of classes [n, 2, C, 2 + S]; 0 for hands that cannot be."""
    value, slopes = by_class[..., 0] - (by_class[..., 2:] * rows[..., _SHAPE:]).sum(dim=3), by_class[..., 1:]
    place = classes.long().clamp_max(by_class.shape[2] - 1)[:, None, :].expand_as(deviation)
    values = value.gather(2, place) + slopes[..., 0].gather(2, place) * deviation
    for k in range(shape.shape[2]):
        values = values + slopes[..., 1 + k].gather(2, place) * shape[:, None, :, k]
    return torch.where(classes[:, None] < by_class.shape[2], values, 0)


class RangeNet:
    """The exported net over ranges of a `level` at `path`. `architectures`: dotted names of net classes outside
    `models` that may be loaded. It is asked within the domain that its manifest states: `most_stack` pots behind, and
    ranges of which some hands fit together."""

    @refuses_by_name(RANGE_NET)
    def __init__(self, path: str | Path, level: str, architectures: Sequence[str] = ()) -> None:
        self.level = level
        self._net = load_net(path, RANGE_NET, stamp=stamp(level), architectures=architectures)
        self.most_stack = float(open_artifact(path, RANGE_NET, verify=False).counts.get(STACKS_COUNT, STACKS)[1])
        if not 0 < self.most_stack < math.inf:
            raise PokernetsError(f"its largest stack is {self.most_stack} pots")

    def values(self, states: Sequence[tuple[Board, Reals, Reals]]) -> list[Singles]:
        """[n, 2, H] counterfactual values in pots for each of `states`: a board, ranges [n, 2, H] and the stacks behind
        in pots [n]. Stacks below the least of training are taken on to 0, where the net's values start from the equity.

        Raises PokernetsError for states beyond the net's domain.
        """
        for board, ranges, stacks in states:
            self._check(board, ranges, stacks)
        out: list[Singles] = []
        encoded = [encode(*state) for state in states]
        with torch.inference_mode():
            by_class = self._in_passes(*(torch.cat([torch.from_numpy(e[k]) for e in encoded]) for k in (0, 1)))
            for state in encoded:
                rows, _, classes, shape, deviation = (torch.from_numpy(part) for part in state)
                own, by_class = by_class[: len(rows)], by_class[len(rows) :]
                one = classes.expand(len(rows), -1), shape.expand(len(rows), -1, -1)
                out.append(hand_values(own, rows, *one, deviation).numpy())
        return out

    def _check(self, board: Board, ranges: Reals, stacks: Reals) -> None:
        if not ((stacks >= 0) & (stacks <= self.most_stack * _ROUNDING)).all():
            raise PokernetsError(
                f"the net over ranges knows stacks of up to {self.most_stack:g} pots, it is asked about"
                f" {float(stacks.max()):.3g}: train it with job.settings.most_stack, or take another leaf"
            )
        if not fit_together(board, ranges).all():
            raise PokernetsError(f"no two hands of the ranges fit together on `{cards_text(board)}`: give wider ranges")

    def _in_passes(self, rows: Tensor, public: Tensor) -> Tensor:
        starts = range(0, len(rows), _STATES)
        return torch.cat([self._net(rows[at : at + _STATES], public[at : at + _STATES]) for at in starts])
