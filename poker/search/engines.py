"""Engines that run the iterations of solves: the kernels on the CPU, or a torch device."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Protocol

from poker.search.clock import Effort
from poker.solvers.vector.solver import VectorSolver


class Engine(Protocol):
    """Runs solvers that have not done any iteration yet."""

    @property
    def at_once(self) -> int | None:
        """Number of solves that gain from being run together; None for any number."""

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Run each solver up to its limits; strategies and iterations are stored in the solvers."""


class KernelEngine:
    """Runs each solver by itself on the CPU.

    Args:
        threads: most solvers that run at the same time.
    """

    def __init__(self, threads: int) -> None:
        """Store the number of threads."""
        self.at_once = max(1, threads)

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Run each solver up to its limits."""
        if len(solvers) == 1:
            efforts[0].spend(solvers[0])
            return
        with ThreadPoolExecutor(self.at_once) as pool:
            list(pool.map(Effort.spend, efforts, solvers))


def engine(device: str, threads: int) -> Engine:
    """Return the engine for a name of `search.solver.device`.

    Args:
        device: cpu, cuda or torch.
        threads: threads of the CPU engine.

    Raises:
        PokernetsError: the name is invalid, or there is no such device.
    """
    if device == "cpu":
        return KernelEngine(threads)
    from poker.search.torch.batches import TorchEngine  # noqa: PLC0415 (torch takes seconds to import)

    return TorchEngine(device)
