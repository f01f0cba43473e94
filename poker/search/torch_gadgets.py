"""The gadget at the root of safe solves on torch: `poker.kernels.vector.gadgets` for a batch of games.

Shapes: R rows, G games, N hands of the owner (padded to the most).
"""

from collections.abc import Mapping

import torch
from torch import Tensor

from poker.kernels.vector.arrays import BELOW, CHOOSES, COMING, ENTERED, HELD, OTHER, OWN, TARGET
from poker.kernels.vector.gadgets import LEAST_MASS

NAMES = ("mass", "regrets", "source", "sums")
"""What an owner who chooses a hand remembers, as in the kernels' `Gadgets`."""

_NEVER = -1.0e30


class RootGadget:
    """The gadget as a sweep for one player sees it. `row` are the columns of the kernels' row, `alternatives` [G, N]
    values of the zero-sum game, `memory` tensors [G, N] by `NAMES`, which both players' sweeps share."""

    def __init__(self, row: list[int], alternatives: Tensor, memory: Mapping[str, Tensor]) -> None:
        self.own, self.chooses = bool(row[OWN]), bool(row[CHOOSES])
        self._coming, self._below = row[COMING], row[BELOW]
        self._target, self._other, self._entered, self._held = row[TARGET], row[OTHER], row[ENTERED], row[HELD]
        self._alternatives = alternatives
        self._memory = memory

    def enter(self, reach: Tensor, followed: str, decay: Tensor | None) -> None:
        """Reach [R, G, N] below, of an owner who chooses by what is `followed`; with `decay` the choice is added up."""
        if self.own or not self.chooses:
            return
        mass, share = self._memory["mass"], self._choice(followed)
        pairs = (reach[self._coming] * mass).sum(dim=1, keepdim=True)
        entering = torch.where(mass > 0, pairs * share / torch.where(mass > 0, mass, 1.0), 0.0)
        reach[self._below] = entering
        reach[self._below + 1] = entering
        if decay is not None:
            self._memory["sums"].mul_(decay).add_(share)

    def weigh(self, reach: Tensor) -> None:
        """Before terminals are evaluated: hands that stay out count with what they have."""
        if not self.own:
            reach[self._below] *= self._alternatives

    def take(self, values: Tensor) -> None:
        """After that: values [R, G, N] of hands that stay out."""
        if self.own:
            values[self._other] = values[self._held] * self._alternatives

    def leave(self, values: Tensor, followed: str | None, update: Tensor | None) -> None:
        """Values at a gadget whose owner chooses, by what is `followed` (None: the best hand); with `update`, the
        parameters [6] of an iteration, regrets learn."""
        if not self.chooses:
            return
        if not self.own:
            values[self._target] = values[self._entered] + values[self._other]
            return
        held = values[self._held]
        possible = held > LEAST_MASS * held.amax(dim=1, keepdim=True)
        mass = self._memory["mass"].copy_(torch.where(possible, held, 0.0))
        gains = (values[self._entered] - values[self._other]) / torch.where(possible, held, 1.0)
        gains = torch.where(possible, gains, _NEVER)
        if followed is None:
            worth = gains.amax(dim=1, keepdim=True)
        else:
            worth = (self._choice(followed) * gains).sum(dim=1, keepdim=True)
        if update is not None:
            positive, negative, floor, carry, prediction = update[:5]
            gain, old = torch.where(possible, gains - worth, 0.0), self._memory["regrets"]
            new = torch.maximum(old * torch.where(old > 0, positive, negative) + gain, floor)
            old.copy_(new)
            self._memory["source"].copy_(gain * prediction + new * carry)
        values[self._target] = mass * worth

    def _choice(self, followed: str) -> Tensor:
        """[G, N] probabilities to enter with each hand."""
        allowed = self._memory["mass"] > 0
        part = torch.where(allowed, self._memory[followed].clamp(min=0), 0.0)
        weight, number = part.sum(dim=1, keepdim=True), allowed.sum(dim=1, keepdim=True)
        return torch.where(weight > 0, part / torch.where(weight > 0, weight, 1.0), allowed / number.clamp(min=1))
