"""Engines that run the iterations of solves: the kernels on the CPU, or a torch device."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from poker.search.clock import Effort
from poker.solvers.vector.solver import VectorSolver


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


def engine(device: str, threads: int) -> Engine:
    """Engine for a name of `search.solver.device`; raises as `torch_device` does."""
    if device == "cpu":
        return KernelEngine(threads)
    from poker.search.torch.batches import TorchEngine  # noqa: PLC0415 (torch takes seconds to import)

    return TorchEngine(device)
