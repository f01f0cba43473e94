"""`poker.solvers.rollout.continuation` on a torch device: many boards at once, reaches and both matrix products.

Buckets, showdowns and means over boards are the CPU's; values of a board equal its own to the rounding of float32.

Symbols as there: Q nodes of the betting subtree, Z ends, m hands, K forms of one strategy, R boards, A actions; and G
decisions with A actions at one depth.
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from poker.search.torch.device import ran_out, room, torch_device
from poker.solvers.blueprint import Blueprint
from poker.solvers.rollout.continuation import Continuations, OnBoard, Subtree
from poker.types import Board

_BYTES = 24
"""Bytes of device memory for each node, form, board and hand: reaches of both players and their sources."""


@dataclass(frozen=True)
class _Level:
    """Decisions of `player` with A actions: `nodes` [G], `children` [G, A], their action classes, and where the
    strategy has the first bucket's probabilities [G, A]; `stride` and `street` [G]."""

    player: int
    nodes: Tensor
    children: Tensor
    classes: Tensor
    rows: Tensor
    stride: Tensor
    street: Tensor


@dataclass(frozen=True)
class _Plan:
    """A subtree from the top down; `ends` [Z] are its nodes in the order of the ends."""

    size: int
    levels: tuple[_Level, ...]
    ends: Tensor
    fold_value: Tensor
    stake: Tensor


class TorchContinuations(Continuations):
    """Rolls out on `device`, which is checked to be there; strategies stay in its memory."""

    def __init__(self, blueprint: Blueprint, forms: Sequence[Blueprint], device: str) -> None:
        super().__init__(blueprint, forms)
        self._device = torch_device(device)
        self._most = sys.maxsize
        self._plans: dict[int, _Plan] = {}
        self._tables = [(_table(strategy).to(self._device), self._sent(bias)) for strategy, bias in self._groups]

    def on_boards(
        self, node: int, boards: Sequence[Board], hands0: NDArray[np.integer], hands1: NDArray[np.integer]
    ) -> Iterator[OnBoard]:
        """Values on each board, as many boards at once as the device's memory holds."""
        forms, below = self.num_forms + self._extra, self.subtree(node)
        need = _BYTES * len(below.player) * forms * (len(hands0) + len(hands1))
        done = 0
        while done < len(boards):
            most = min(self._most, max(1, room(self._device) // need))
            chosen = boards[done : done + most]
            try:
                found = self._values(node, chosen, hands0, hands1)
            except RuntimeError as error:
                if len(chosen) == 1 or not ran_out(self._device, error, told=self._most < sys.maxsize):
                    raise
                self._most = len(chosen) // 2
                continue
            yield from found
            done += len(chosen)

    def _values(
        self, node: int, boards: Sequence[Board], hands0: NDArray[np.integer], hands1: NDArray[np.integer]
    ) -> list[OnBoard]:
        plan = self._plan(node)
        order, won, possible = zip(*(self._showdowns(board, hands0, hands1) for board in boards), strict=True)
        (keep0, reach0), (keep1, reach1) = (
            self._reaches_on(plan, player, node, boards, hands) for player, hands in enumerate((hands0, hands1))
        )
        signs = self._sent(np.stack(order))
        values = torch.stack([_won(plan, keep0, reach1, signs), -_won(plan, reach0, keep1, signs)])
        values *= self._sent(np.stack(possible))
        found = values.movedim(2, 0).cpu().numpy()  # [R, 2, K, m0, m1]
        return list(zip(found, won, possible, strict=True))

    def _reaches_on(
        self, plan: _Plan, player: int, node: int, boards: Sequence[Board], hands: NDArray[np.integer]
    ) -> tuple[Tensor, Tensor]:
        """Reaches [1, Z, R, m] of the blueprint and [K, Z, R, m] of the forms."""
        below = self.subtree(node)
        buckets = self._sent(np.stack([self._buckets(below, board, hands) for board in boards], axis=1))
        found = [_reaches(plan, player, table, bias, buckets) for table, bias in self._tables]
        out = torch.cat([reach.transpose(0, 1) for reach in found])
        return out[:1], out[self._extra :]

    def _plan(self, node: int) -> _Plan:
        if node not in self._plans:
            below = self.subtree(node)
            self._plans[node] = _Plan(
                len(below.player),
                tuple(self._level(below, nodes) for nodes in _alike(below)),
                self._sent(np.argsort(below.end, kind="stable")[-below.num_ends :]),
                self._sent(below.fold_value),
                self._sent(below.stake),
            )
        return self._plans[node]

    def _level(self, below: Subtree, nodes: NDArray[np.int64]) -> _Level:
        actions = np.arange(below.arity[nodes[0]])
        children = below.first[nodes].astype(np.int64)[:, None] + actions
        return _Level(
            int(below.player[nodes[0]]),
            self._sent(nodes),
            self._sent(children),
            self._sent(below.action_class[children].astype(np.int64)),
            self._sent(below.row[nodes][:, None] + actions),
            self._sent(below.stride[nodes]),
            self._sent(below.street[nodes].astype(np.int64)),
        )

    def _sent(self, array: NDArray[Any]) -> Tensor:
        return torch.tensor(array, device=self._device)


def _alike(below: Subtree) -> Iterator[NDArray[np.int64]]:
    """Decisions of one depth, player and number of actions, from the root down."""
    depth = np.zeros(len(below.player), np.int64)
    for node in np.flatnonzero(below.arity):
        depth[below.first[node] : below.first[node] + below.arity[node]] = depth[node] + 1
    keys = np.stack([depth, below.player, below.arity], axis=1)
    deciding = np.flatnonzero(below.arity)
    for key in np.unique(keys[deciding], axis=0):
        yield deciding[(keys[deciding] == key).all(axis=1)]


def _table(strategy: NDArray[Any]) -> Tensor:
    """Quantised probabilities; those of 16 bits as signed numbers, for torch does little with others."""
    return torch.tensor(strategy.view(np.int16) if strategy.dtype == np.uint16 else strategy)


def _reaches(plan: _Plan, player: int, table: Tensor, bias: Tensor, buckets: Tensor) -> Tensor:
    """[Z, K, R, m] with biases [3, K] on one strategy, for hands in buckets [S, R, m]; a hand in bucket -1 has none."""
    reach = torch.empty((plan.size, bias.shape[1], *buckets.shape[1:]), device=buckets.device)
    reach[0] = (buckets >= 0).all(dim=0)
    held = buckets.clamp(min=0)
    for level in plan.levels:
        above = reach[level.nodes][:, None]
        if level.player == player:
            at = (held[level.street] * level.stride[:, None, None])[:, None] + level.rows[..., None, None]
            weights = table[at].to(torch.int32)
            if table.dtype == torch.int16:
                weights &= 0xFFFF
            weighted = weights.float()[:, :, None] * bias[level.classes][..., None, None]
            above = above * (weighted / weighted.sum(dim=1, keepdim=True))
        reach[level.children] = above
    return reach[plan.ends]


def _won(plan: _Plan, reach0: Tensor, reach1: Tensor, order: Tensor) -> Tensor:
    """[K, R, m0, m1] chips to player 0, from reaches [K or 1, Z, R, m0] and [K or 1, Z, R, m1] of the ends."""
    folds = len(plan.fold_value)
    rule = "kzrm,kzrn->krmn"
    forms = max(len(reach0), len(reach1))
    ours, theirs = (reach.expand(forms, -1, -1, -1) for reach in (reach0, reach1))
    fold = torch.einsum(rule, ours[:, :folds] * plan.fold_value[:, None, None], theirs[:, :folds])
    return fold + torch.einsum(rule, ours[:, folds:] * plan.stake[:, None, None], theirs[:, folds:]) * order
