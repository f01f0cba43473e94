"""Many solves on one torch device: games of one shape together, in batches that the device's memory holds."""

import gc
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence

import numpy as np
import torch

from poker.search.clock import Effort
from poker.search.torch.device import ran_out, room, torch_device
from poker.search.torch.layout import shape_of
from poker.search.torch.vector import FEWEST_BETWEEN, ONE_BATCH, TorchVectorSolver
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.layout import tree_layout
from poker.solvers.vector.solver import SolveProgress, VectorSolver

_PER_ROW, _PER_SCRATCH, _PER_TERMINAL, _PER_HAND = 32, 12, 160, 280
"""Bytes by hand: of three arrays of action rows and their copies, of reach and values with what is made from them, of
sums in float64 over hands and over cards, of lists of both players' hands."""


class TorchEngine:
    """Runs the iterations of numba solvers on `device`, which is checked to be there."""

    at_once = None

    def __init__(self, device: str) -> None:
        self._device = torch_device(device)
        self._share = 1.0

    def run(self, solvers: Sequence[VectorSolver], efforts: Sequence[Effort]) -> None:
        """Solve from the first iteration, and leave strategies and iterations in the solvers."""
        groups: dict[Hashable, list[int]] = defaultdict(list)
        for number, (solver, effort) in enumerate(zip(solvers, efforts, strict=True)):
            player = None if solver.restricted is None else solver.restricted[0]
            groups[shape_of(solver.game), player, effort.iterations].append(number)
        for numbers in groups.values():
            for batch in self._cut(numbers, [solvers[number].game for number in numbers]):
                self._solve([solvers[number] for number in batch], [efforts[number] for number in batch], len(solvers))

    def _cut(self, numbers: list[int], games: list[VectorGame]) -> list[list[int]]:
        """Runs of `numbers` that fit into memory, by the need of the largest game."""
        need = max(bytes_needed(game) for game in games)
        most = max(1, int(self._share * room(self._device) / need))
        return [numbers[start : start + most] for start in range(0, len(numbers), most)]

    def _solve(self, solvers: list[VectorSolver], efforts: list[Effort], whole: int) -> None:
        """One batch of `whole` solves, which share their time; halved while memory does not suffice."""
        try:
            self._solve_at_once(solvers, efforts, len(solvers) / whole)
            return
        except RuntimeError as error:
            if not ran_out(self._device, error, told=self._share < 1):
                raise
            self._share /= 2
        gc.collect()
        if self._device.type == "cuda":
            torch.cuda.empty_cache()
        if len(solvers) == 1:
            efforts[0].spend(solvers[0])
            return
        half = len(solvers) // 2
        self._solve(solvers[:half], efforts[:half], whole)
        self._solve(solvers[half:], efforts[half:], whole)

    def _solve_at_once(self, solvers: list[VectorSolver], efforts: list[Effort], share: float) -> None:
        batch = batch_of(solvers, self._device)
        most = sys.maxsize if efforts[0].iterations is None else efforts[0].iterations
        seconds = min((share * effort.seconds for effort in efforts if effort.seconds is not None), default=np.inf)
        targets = np.array([-1.0 if effort.target is None else effort.target for effort in efforts])
        if (targets >= 0).any() or seconds < np.inf:
            batch.run_until(targets, seconds, most, lambda number: batch.export(number, solvers[number]))
            return
        batch.run(most)
        for number, solver in enumerate(solvers):
            batch.export(number, solver)


def batch_of(solvers: Sequence[VectorSolver], device: torch.device) -> TorchVectorSolver:
    """Batch of the games of solvers of one schedule, whose restrictions are of one player."""
    batch = TorchVectorSolver([solver.game for solver in solvers], solvers[0].schedule, device=device)
    restricted = [solver.restricted for solver in solvers if solver.restricted is not None]
    if restricted:
        batch.restrict(restricted[0][0], [modelled for _, modelled in restricted])
    return batch


def kind_of(game: VectorGame) -> Hashable:
    """Key equal for games that take about the same time: of one shape, with hands and actions of one power of two."""
    return shape_of(game), game.hand_actions.bit_length()


def bytes_needed(game: VectorGame) -> int:
    """A game's part of the memory of a batch, about: action rows (a second time while a graph is captured), rows of
    scratch memory, lists of hands, and what terminals and leaves take while they are evaluated."""
    layout, boards = tree_layout(game.tree, game.rake, ONE_BATCH), game.boards
    batches, slots, total = layout.batches, boards.num_card_slots, 0
    for street in range(layout.first_street, layout.last_street + 1):
        on = game.on(street)
        first, last = (int(start) for start in batches.street_start[street : street + 2])
        folds, shows, leaves = (
            int((start[:, last] - start[:, first]).max())
            for start in (batches.fold_start, batches.show_start, batches.leaf_start)
        )
        hands = len(on) * max(1, int(boards.boards.size[:, on].max()))
        rows = int(layout.entries[street].sum())
        scratch = int(layout.reach_rows[street] + layout.value_rows[street])
        total += hands * (_PER_ROW * rows + _PER_SCRATCH * scratch + _PER_TERMINAL * max(folds, shows) + _PER_HAND)
        if street in layout.runout_streets:
            total += 4 * hands * hands // len(on)
        if game.leaf_values is not None:
            clusters = max(game.leaf_values.values.shape[2:])
            total += 2 * 4 * leaves * len(on) * (clusters * (clusters + 3 * slots))
    return total


def solve_on_device(
    solver: VectorSolver, device: str, iterations: int, target: float, progress: Callable[[SolveProgress], None]
) -> SolveProgress:
    """Solves the game of `solver` until its exploitability is `target` chips, and leaves the strategies there."""
    batch = batch_of([solver], torch_device(device))
    begin = time.perf_counter()
    done = SolveProgress(0, 0.0, float("nan"))
    while batch.iterations < iterations:
        batch.run(min(max(FEWEST_BETWEEN, batch.iterations // 5), iterations - batch.iterations))
        done = SolveProgress(batch.iterations, time.perf_counter() - begin, float(batch.exploitability()[0]))
        progress(done)
        if done.exploitability <= target:
            break
    batch.export(0, solver)
    return done
