"""Many solves on one torch device, in batches that fit into its memory."""

import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import torch

from poker.run.errors import PokernetsError
from poker.search.clock import Effort
from poker.search.torch.columns import CARDS
from poker.search.torch.device import ran_out, room, torch_device
from poker.search.torch.vector import FEWEST_BETWEEN, TorchVectorSolver
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

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Run each solver from its first iteration up to its limits, and store strategies and iterations in it."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for number, (solver, effort) in enumerate(zip(solvers, efforts, strict=True)):
            player = None if solver.restricted is None else solver.restricted[0]
            groups[player, solver.schedule, effort.iterations].append(number)
        for numbers in groups.values():
            for batch in self.cut(numbers, [solvers[number].game for number in numbers]):
                self._solve([solvers[number] for number in batch], [efforts[number] for number in batch], len(solvers))

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

    def _solve(self, solvers: list[VectorSolver], efforts: list[Effort], whole: int) -> None:
        """Run one batch of `whole` solves, which share their time, halving the batch while memory is too small."""
        try:
            self._solve_at_once(solvers, efforts, len(solvers) / whole)
            return
        except RuntimeError as error:
            if not ran_out(self.device, error, verbose=self._share >= 1):
                raise
            self._share /= 2
        gc.collect()
        if self.device.type == "cuda":
            torch.cuda.empty_cache()
        if len(solvers) == 1:
            efforts[0].spend(solvers[0])
            return
        half = len(solvers) // 2
        self._solve(solvers[:half], efforts[:half], whole)
        self._solve(solvers[half:], efforts[half:], whole)

    def _solve_at_once(self, solvers: list[VectorSolver], efforts: list[Effort], share: float) -> None:
        batch = batch_of(solvers, self.device)
        most = sys.maxsize if efforts[0].iterations is None else efforts[0].iterations
        seconds = min((share * effort.seconds for effort in efforts if effort.seconds is not None), default=np.inf)
        limits = np.array([-1.0 if effort.exploitability is None else effort.exploitability for effort in efforts])
        if (limits >= 0).any() or seconds < np.inf:
            batch.run_until(limits, seconds, most, lambda number: batch.export(number, solvers[number]))
            return
        batch.run(most)
        for number, solver in enumerate(solvers):
            batch.export(number, solver)


def batch_of(solvers: Sequence[VectorSolver], device: torch.device) -> TorchVectorSolver:
    """Make a batch of the games of some solvers.

    Args:
        solvers: solvers with the same schedule, whose restrictions are of the same player.
        device: the device.

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


def solve_on_device(
    solver: VectorSolver, device: str, iterations: int, exploitability: float, progress: Callable[[SolveProgress], None]
) -> SolveProgress:
    """Solve the game of a numba solver on a device; the strategies are stored in the solver.

    Args:
        solver: the solver.
        device: name of the device.
        iterations: most iterations.
        exploitability: exploitability in pots at which the solve stops.
        progress: called with every measurement.

    Returns:
        the last measurement.

    Raises:
        PokernetsError: there is no such device, or the solver cannot run on one.
    """
    batch = batch_of([solver], torch_device(device))
    begin = time.perf_counter()
    done = SolveProgress(0, 0.0, float("nan"))
    while batch.iterations < iterations:
        batch.run(min(max(FEWEST_BETWEEN, batch.iterations // 5), iterations - batch.iterations))
        done = SolveProgress(batch.iterations, time.perf_counter() - begin, float(batch.exploitability()[0]))
        progress(done)
        if done.exploitability <= exploitability * solver.game.pot:
            break
    batch.export(0, solver)
    return done
