"""Many solves on one torch device, in batches that fit into its memory."""

import gc
import sys
from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import cache

import numpy as np
import torch

from poker.run.errors import PokernetsError
from poker.solve.torch.columns import CARDS
from poker.solve.torch.device import ran_out, room, torch_device
from poker.solve.torch.vector import TorchVectorSolver
from poker.solve.types import Budget, ProgressCallback
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import SolveProgress, VectorSolver

_PER_ENTRY, _PER_HAND, _PER_LEAF = 12, 64, CARDS * 256
"""Memory estimates: bytes per hand and action in three arrays, bytes per hand in both players' lists, and floats per
leaf for sums by card and cluster."""


class TorchEngine:
    """Runs the iterations of numba solvers on a torch device; games of a batch may differ.

    Args:
        device: name of the device.
    """

    at_once = None

    def __init__(self, device: str) -> None:
        """Open the device.

        Raises:
            PokernetsError: there is no such device.
        """
        self.device = torch_device(device)
        self._share = 1.0

    def run(
        self, solvers: Sequence[VectorSolver], budgets: Sequence[Budget], progress: ProgressCallback | None = None
    ) -> list[SolveProgress]:
        """Run each solver from its first iteration up to its limits, as `poker.solve.batches.run` does."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for number, (solver, budget) in enumerate(zip(solvers, budgets, strict=True)):
            player = None if solver.restricted is None else solver.restricted[0]
            groups[player, solver.schedule, budget.iterations].append(number)
        ends: dict[int, SolveProgress] = {}
        for numbers in groups.values():
            for batch in self.cut(numbers, [solvers[number].game for number in numbers]):
                chosen = [(solvers[number], budgets[number]) for number in batch]
                ends |= zip(batch, self._solve(chosen, len(solvers), progress), strict=True)
        return [ends[number] for number in range(len(solvers))]

    def cut(self, numbers: Sequence[int], games: Sequence[VectorGame]) -> list[list[int]]:
        """Cut solves into batches that fit into memory.

        Args:
            numbers: numbers of the solves.
            games: their games.

        Returns:
            the numbers of each batch.
        """
        batches, left = list[list[int]](), 0.0
        for number, game in zip(numbers, games, strict=True):
            need = bytes_needed(game)
            if not batches or need > left:
                batches.append([])
                left = self._share * room(self.device)
            batches[-1].append(number)
            left -= need
        return batches

    def _solve(
        self, solves: list[tuple[VectorSolver, Budget]], whole: int, progress: ProgressCallback | None
    ) -> list[SolveProgress]:
        """Run one batch of `whole` solves, which share their time, halving the batch while memory is too small."""
        try:
            return self._solve_at_once(solves, len(solves) / whole, progress)
        except RuntimeError as error:
            if not ran_out(self.device, error, verbose=self._share >= 1):
                raise
            self._share /= 2
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        if len(solves) == 1:
            solver, budget = solves[0]
            return [solver.run(budget.iterations, budget.exploitability, budget.seconds, progress)]
        half = len(solves) // 2
        return [*self._solve(solves[:half], whole, progress), *self._solve(solves[half:], whole, progress)]

    def _solve_at_once(
        self, solves: list[tuple[VectorSolver, Budget]], share: float, progress: ProgressCallback | None
    ) -> list[SolveProgress]:
        solvers, budgets = zip(*solves, strict=True)
        batch = batch_of(solvers, self.device)
        most = sys.maxsize if budgets[0].iterations is None else budgets[0].iterations
        seconds = min((share * budget.seconds for budget in budgets if budget.seconds is not None), default=np.inf)
        limits = np.array([-1.0 if budget.exploitability is None else budget.exploitability for budget in budgets])
        if (limits >= 0).any() or seconds < np.inf or progress is not None:
            return batch.run_until(
                limits, seconds, most, lambda number: batch.export(number, solvers[number]), progress
            )
        batch.run(most)
        for number, solver in enumerate(solvers):
            batch.export(number, solver)
        return [SolveProgress(most, float("nan"), float("nan"))] * len(solvers)


engine = cache(TorchEngine)
"""Returns the one engine of a device, which remembers how much of its memory batches may take."""


def batch_of(solvers: Sequence[VectorSolver], device: torch.device) -> TorchVectorSolver:
    """Make a batch of the games of some solvers.

    Args:
        solvers: solvers with the same schedule, whose restrictions are of the same player.

    Raises:
        PokernetsError: a solver has locked strategies.
    """
    if any(solver.locked for solver in solvers):
        raise PokernetsError("locked strategies are solved on the CPU only; use device=cpu")
    batch = TorchVectorSolver([solver.game for solver in solvers], solvers[0].schedule, device=device)
    restricted = [solver.restricted for solver in solvers if solver.restricted is not None]
    if restricted:
        batch.restrict(restricted[0][0], [modelled for _, modelled in restricted])
    return batch


def bytes_needed(game: VectorGame) -> int:
    """Estimate a game's share of the memory of a batch, in bytes.

    It counts action rows (twice, since a graph is captured), rows of reach and values, lists of hands, and matrices.
    """
    made, batches = game.boards.boards, game.layout.batches
    padded = made.padded.astype(np.int64).max(axis=0)
    nodes = np.diff(batches.node_start[batches.street_start])  # of a street; each has up to two rows
    scratch = int((8 * np.repeat(nodes, np.diff(made.street_start)) * padded).sum())
    leaves = 0
    if game.leaf_values is not None:
        leaves = 4 * (game.leaf_values.values.size + _PER_LEAF * len(batches.leaves))
    lists = _PER_HAND * int(padded.sum()) + 2 * game.runout_matrix.size
    return 2 * _PER_ENTRY * game.num_entries + scratch + lists + leaves
