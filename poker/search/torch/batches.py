"""Many solves on one torch device, in batches that the device's memory holds."""

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
"""Bytes of an action of a hand in three arrays and of a hand in the lists of both players; floats of a leaf's sums by
card and cluster."""


class TorchEngine:
    """Runs the iterations of numba solvers on `device`, which is checked to be there. Games of a batch need not be
    alike."""

    at_once = None

    def __init__(self, device: str) -> None:
        self.device = torch_device(device)
        self._share = 1.0

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Solve from the first iteration, and leave strategies and iterations in the solvers."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for number, (solver, effort) in enumerate(zip(solvers, efforts, strict=True)):
            player = None if solver.restricted is None else solver.restricted[0]
            groups[player, solver.schedule, effort.iterations].append(number)
        for numbers in groups.values():
            for batch in self.cut(numbers, [solvers[number].game for number in numbers]):
                self._solve([solvers[number] for number in batch], [efforts[number] for number in batch], len(solvers))

    def cut(self, numbers: Sequence[int], games: Sequence[VectorGame]) -> list[list[int]]:
        """Runs of `numbers` that fit into memory."""
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
        """One batch of `whole` solves, which share their time; halved while memory does not suffice."""
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
    """Batch of the games of solvers of one schedule, whose restrictions are of one player. Raises PokernetsError for
    locked strategies and for leaves that are asked again."""
    if any(solver.locked for solver in solvers):
        raise PokernetsError("a device solves without locked strategies; use device=cpu")
    if any(solver.game.asked is not None for solver in solvers):
        raise PokernetsError("a device solves with leaf values that stay; use device=cpu")
    batch = TorchVectorSolver([solver.game for solver in solvers], solvers[0].schedule, device=device)
    restricted = [solver.restricted for solver in solvers if solver.restricted is not None]
    if restricted:
        batch.restrict(restricted[0][0], [modelled for _, modelled in restricted])
    return batch


def bytes_needed(game: VectorGame) -> int:
    """A game's part of the memory of a batch, about: action rows, once more while a graph is captured, rows of reach
    and values, lists of hands, and matrices."""
    made, batches = game.boards.boards, game.layout.batches
    padded = made.padded.astype(np.int64).max(axis=0)
    nodes = np.diff(batches.node_start[batches.street_start])  # of a street; each has two rows at the most
    scratch = int((8 * np.repeat(nodes, np.diff(made.street_start)) * padded).sum())
    leaves = 0
    if game.leaf_values is not None:
        leaves = 4 * (game.leaf_values.values.size + _PER_LEAF * len(batches.leaves))
    lists = _PER_HAND * int(padded.sum()) + 2 * game.runout_matrix.size
    return 2 * _PER_ENTRY * game.num_entries + scratch + lists + leaves


def solve_on_device(
    solver: VectorSolver, device: str, iterations: int, exploitability: float, progress: Callable[[SolveProgress], None]
) -> SolveProgress:
    """Solves the game of `solver` to an `exploitability` in pots, and leaves the strategies there."""
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
