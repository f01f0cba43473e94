"""Engines that run the iterations of solves: the kernels on the CPU, torch on any device, or the faster of the two."""

import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Protocol

from poker.search.clock import Effort
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver

_TRIALS = 1, 4, 12
"""Iterations of a warm-up solve and of two that measure the time of an iteration and of all that precedes the first."""
_UNLIMITED = 200
"""Iterations expected of solves that are limited by time alone."""


class Engine(Protocol):
    """Runs solvers that have done no iteration yet."""

    @property
    def at_once(self) -> int | None:
        """How many solves gain from being run together; None: any number."""

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Spend its effort on each solver, and leave strategies and iterations there."""


class KernelEngine:
    """Runs each solver by itself, up to `threads` of them at a time."""

    def __init__(self, threads: int) -> None:
        self.at_once = max(1, threads)

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        if len(solvers) == 1:
            efforts[0].spend(solvers[0])
            return
        with ThreadPoolExecutor(self.at_once) as pool:
            list(pool.map(Effort.spend, efforts, solvers))


class FasterEngine:
    """Runs on the kernels or a device, whichever takes less time for so many solves of a kind. Both are timed when the
    kind is met, and remembered: one solve on the kernels; on the device as many as there are, again for each power of
    two. Solves limited in time share theirs, that of the trials included."""

    at_once = None

    def __init__(
        self,
        kernels: KernelEngine,
        device: Engine,
        kind: Callable[[VectorGame], Hashable],
        now: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._kernels, self._device, self._kind, self._now = kernels, device, kind, now
        self._known: dict[Hashable, tuple[float, float]] = {}

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        kinds: dict[tuple[Hashable, int | None], list[int]] = defaultdict(list)
        for number, solver in enumerate(solvers):
            kinds[self._kind(solver.game), efforts[number].iterations].append(number)
        for (kind, iterations), numbers in kinds.items():
            chosen, begun = [solvers[number] for number in numbers], self._now()
            engine = self._faster(kind, chosen, iterations or _UNLIMITED)
            share, tried = len(numbers) / len(solvers), self._now() - begun
            engine.run(chosen, [_part(efforts[number], share, tried) for number in numbers])

    def _faster(self, kind: Hashable, solvers: Sequence[VectorSolver], iterations: int) -> Engine:
        """Faster engine for so many iterations of all `solvers`, which are left as they are."""
        threads = max(1, self._kernels.at_once // len(solvers))
        kernels = self._seconds((kind, -threads), self._kernels, solvers[:1], iterations, threads)
        device = self._seconds((kind, len(solvers).bit_length()), self._device, solvers, iterations)
        return self._device if device < -(-len(solvers) // self._kernels.at_once) * kernels else self._kernels

    def _seconds(
        self, key: Hashable, engine: Engine, solvers: Sequence[VectorSolver], iterations: int, threads: int = 1
    ) -> float:
        if key not in self._known:
            _, few, many = (self._timed(engine, solvers, count, threads) for count in _TRIALS)
            each = max(0.0, many - few) / (_TRIALS[2] - _TRIALS[1])
            self._known[key] = max(0.0, few - _TRIALS[1] * each), each
        before, each = self._known[key]
        return before + iterations * each

    def _timed(self, engine: Engine, solvers: Sequence[VectorSolver], iterations: int, threads: int) -> float:
        tried = [VectorSolver(solver.game, solver.schedule, threads=threads) for solver in solvers]
        begun = self._now()
        engine.run(tried, [Effort(iterations)] * len(tried))
        return self._now() - begun


def _part(effort: Effort, share: float, tried: float) -> Effort:
    """The share of an effort's time, if it is limited, less the seconds of trials."""
    return effort if effort.seconds is None else effort._replace(seconds=max(0.0, share * effort.seconds - tried))


def engine(device: str, threads: int) -> Engine:
    """Engine for a name of `search.solver.device`; raises as `torch_device` does."""
    if device == "cpu":
        return KernelEngine(threads)
    from poker.search.torch.batches import TorchEngine  # noqa: PLC0415 (torch takes seconds to import)
    from poker.search.torch.device import torch_device  # noqa: PLC0415

    if device != "auto":
        return TorchEngine(device)
    return KernelEngine(threads) if torch_device(device).type == "cpu" else _faster(threads)


@cache
def _faster(threads: int) -> FasterEngine:
    """The engine of the process: what it has timed serves all agents."""
    from poker.search.torch.batches import TorchEngine, kind_of  # noqa: PLC0415

    return FasterEngine(KernelEngine(threads), TorchEngine("cuda"), kind_of)
