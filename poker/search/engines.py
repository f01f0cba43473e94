"""What does the iterations of solves: the kernels on the CPU, or torch on any device."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol

from poker.errors import PokernetsError
from poker.solvers.vector.solver import VectorSolver


@dataclass(frozen=True)
class Effort:
    """How long to solve: until so many iterations are done (None: any number), exploitability is at most `target` chips
    (None: whatever it is) or `seconds` are over."""

    iterations: int | None
    target: float | None = None
    seconds: float | None = None

    def spend(self, solver: VectorSolver) -> None:
        """By the solver itself."""
        solver.run(self.iterations, self.target, self.seconds)


class Engine(Protocol):
    """Runs solvers that have done no iteration yet."""

    @property
    def at_once(self) -> int | None:
        """How many solves gain from being run together; None: any number."""

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Spends the effort on each, and leaves its strategies and iterations there."""


class KernelEngine:
    """Each solver by itself, up to `threads` of them at a time."""

    def __init__(self, threads: int) -> None:
        self.at_once = max(1, threads)

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        if len(solvers) == 1:
            efforts[0].spend(solvers[0])
            return
        with ThreadPoolExecutor(self.at_once) as pool:
            list(pool.map(Effort.spend, efforts, solvers))


def engine(device: str, threads: int) -> Engine:
    """That of `search.solver.device`; PokernetsError for one that is not there."""
    if device == "cpu":
        return KernelEngine(threads)
    if device not in ("auto", "torch") and device.partition(":")[0] != "cuda":
        raise PokernetsError(f"search.device `{device}`: choose cpu, cuda (or cuda:1 and so on), auto or torch")
    from poker.search.torch_batches import TorchEngine, torch_device  # noqa: PLC0415 (torch takes seconds to import)

    if device == "auto" and torch_device(device).type == "cpu":
        return KernelEngine(threads)
    return TorchEngine(device)
