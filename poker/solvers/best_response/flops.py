"""Values of unabstracted best responses, from their values on single flops, and the cost of finding these.

All 1,755 classes of flops give the exact value. With a sample, everything from the flop on is exact on each of its
flops, and only the decisions before the flop depend on the others: the sample is cut into `_PARTS`, and each part
values the decisions that are best on the other parts together. The result estimates without bias what concrete
strategies win: a lower bound in expectation. Choosing on all sampled flops at once is optimistic; the exact value lies
between the two in expectation. Flops are drawn with replacement, so parts are independent. (With ten parts the bound is
closer and intervals over flops truer than with two halves: against always-call in flop hold'em the mean of 400 samples
lay in 93% of their intervals, with 40 flops and with 16.)

Symbols: V lines that reach the flop, C = 169 classes of hands.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from poker.kernels.cards.isomorphism import board_multiplicities
from poker.machine import memory
from poker.solvers.best_response.unabstracted import NUM_FLOPS, RootStreet, UnabstractedResponse
from poker.types import Floats

_PARTS = 10
FEWEST_FLOPS = 2 * _PARTS
"""Least size of a sample; a smaller one says too little."""
_FLOPS = 22_100
_FLOPS_WITH_TWO_HANDS = 17_296
"""Flops of a full deck, and when both players' cards are out."""

_MEMORY_SHARE = 0.8

Values = list[Floats]
"""Values on one flop, for either seat [V, C]."""


@dataclass(frozen=True)
class ResponseCost:
    """Cost of a run, measured on one board: CPU seconds per flop and in all, bytes of all `workers` together."""

    cpu_per_flop: float
    flops: int
    workers: int
    memory: int

    @property
    def cpu(self) -> float:
        return self.cpu_per_flop * self.flops

    @property
    def is_too_large(self) -> bool:
        """Whether the run needs more than `_MEMORY_SHARE` of this machine's memory."""
        return self.memory > _MEMORY_SHARE * memory()

    def __str__(self) -> str:
        hours, memory = self.cpu / 3600, self.memory / 2**20
        return (
            f"{self.flops:,} flops of about {self.cpu_per_flop:.1f} CPU seconds: {hours:.2f} CPU hours, "
            f"{self.workers} at a time, {memory:,.0f} MiB besides the abstraction"
        )


def cost_of(response: UnabstractedResponse, flops: int, threads: int) -> ResponseCost:
    """Cost extrapolated from one board of the last street; the rest of the walk takes a few percent more."""
    memory = response.policy_bytes + threads * response.scratch_bytes
    return ResponseCost(response.board_seconds() * response.boards_per_flop(), flops, threads, memory)


def draw_flops(count: int, seed: int) -> NDArray[np.int64]:
    """Numbers [count] of canonical flops, drawn with replacement as concrete flops are dealt."""
    weights = board_multiplicities(3) / _FLOPS
    drawn: NDArray[np.int64] = np.random.default_rng(seed).choice(NUM_FLOPS, count, p=weights)
    return drawn


class FlopResponse(Protocol):
    """A response whose values on single flops are known."""

    def before(self, seat: int) -> tuple[RootStreet, list[int]]:
        """The street before the flop as `seat` responds on it, and the V nodes where the flop begins."""


def value_of_all(response: FlopResponse, values: Iterable[Values]) -> Floats:
    """[2] chips per hand by seat, from the values on all flops in the order of their numbers."""
    weights = board_multiplicities(3) / _FLOPS
    by_flop = list(zip(weights, values, strict=True))
    means = [sum(weight * each[seat] for weight, each in by_flop) for seat in range(2)]
    return np.array([_Before(response, seat).best(np.asarray(mean))[0] for seat, mean in enumerate(means)])


def values_of_sample(response: FlopResponse, values: list[Values]) -> tuple[Floats, float]:
    """Chips [2, n] won by each seat on each drawn flop, deciding as is best for the other parts; and the optimistic
    chips per hand, both seats together."""
    part = np.arange(len(values)) % _PARTS
    won, optimistic = np.zeros((2, len(values))), 0.0
    for seat in range(2):
        before, stacked = _Before(response, seat), np.stack([each[seat] for each in values])
        optimistic += before.best(stacked.mean(axis=0))[0]
        for out in np.unique(part).tolist():
            strategy = before.best(stacked[part != out].mean(axis=0))[1]
            for flop in np.flatnonzero(part == out).tolist():
                won[seat, flop] = before.follow(stacked[flop], strategy)
    return won, optimistic


class _Before:
    """The decisions of a seat before the flop, for values [V, C] that are means over flops."""

    def __init__(self, response: FlopResponse, seat: int) -> None:
        self._seat = seat
        self._root, self._entries = response.before(seat)

    def best(self, values: Floats) -> tuple[float, dict[int, NDArray[np.int64]]]:
        return self._root.best(self._seat, self._ends(values))

    def follow(self, values: Floats, strategy: dict[int, NDArray[np.int64]]) -> float:
        return self._root.follow(self._seat, self._ends(values), strategy)

    def _ends(self, values: Floats) -> dict[int, Floats]:
        return dict(zip(self._entries, values * (_FLOPS / _FLOPS_WITH_TWO_HANDS), strict=True))
