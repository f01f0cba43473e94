"""Runs solvers up to their limits: with the kernels on the CPU, or on a torch device."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

from poker.solve.types import Budget, ProgressCallback
from poker.solvers.vector.solver import SolveProgress, VectorSolver


def at_once(device: str, threads: int) -> int | None:
    """Return the number of solves that gain from being run together; None for any number.

    Raises:
        PokernetsError: there is no such device.
    """
    if device == "cpu":
        return max(1, threads)
    from poker.solve.torch.device import torch_device  # noqa: PLC0415 (torch takes seconds to import)

    torch_device(device)
    return None


def run(
    solvers: Sequence[VectorSolver],
    budgets: Sequence[Budget],
    progress: ProgressCallback | None = None,
    stop: Callable[[], bool] | None = None,
) -> list[SolveProgress]:
    """Run solvers that have not done any iteration yet up to their limits, on the device of the budgets.

    Args:
        solvers: the solvers, in which strategies and iterations are stored.
        budgets: their limits; all have one device.
        progress: called with every measurement of exploitability.
        stop: called a few times per second on the CPU; the solves stop when it returns True.

    Returns:
        the last measurement of each.

    Raises:
        PokernetsError: there is no such device, or a solver has locked strategies and the device is not the CPU.
    """
    if budgets[0].device != "cpu":
        from poker.solve.torch.batches import engine  # noqa: PLC0415 (torch takes seconds to import)

        return engine(budgets[0].device).run(solvers, budgets, progress)

    def solve(solver: VectorSolver, budget: Budget) -> SolveProgress:
        return solver.run(budget.iterations, budget.exploitability, budget.seconds, progress, stop)

    if len(solvers) == 1:
        return [solve(solvers[0], budgets[0])]
    with ThreadPoolExecutor(max(1, budgets[0].threads)) as pool:
        return list(pool.map(solve, solvers, budgets))
