"""Whole games solved once and kept: the average strategy as an artifact, a checkpoint while the solve is under way.

The game with the bet starts from the blueprint's regrets instead of from nothing; after the bet they are the mean of
those after the two raises next to it. In a game like this one that saves more than half of the iterations, and what is
reached is measured as for any other start.
"""

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from poker.artifacts import find_artifact, write_artifact
from poker.experiments.off_tree_bet.spot import OffTreeBet
from poker.progress import progress_bars
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import shares
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.types import Floats, Singles

KIND = "vector_solution"
CHECKPOINT = "vector_checkpoint"
_PART = 1 << 24


@dataclass(frozen=True)
class GameEffort:
    """How a game is solved: until `target` chips of exploitability, at most `iterations` in this game."""

    algorithm: str
    target: float
    iterations: int
    threads: int
    checkpoint_seconds: float
    memory_limit: int


@dataclass(frozen=True, eq=False)
class Solved:
    """A game with the rows of its average strategy (normalised) and of the last regrets (bfloat16), and what was
    measured: iterations, seconds, exploitability in chips, the value to player 0 under the average profile."""

    game: VectorGame
    rows: NDArray[np.floating]
    regrets: NDArray[np.uint16]
    counts: dict[str, float]
    fingerprint: str

    def solver(self, threads: int) -> VectorSolver:
        """A solver that holds the average strategy: for best responses and values, not to go on."""
        solver = VectorSolver(self.game, "cfr_plus", threads=threads)
        solver.arrays["sums"][:] = self.rows
        return solver


def solved(
    game: VectorGame,
    path: Path,
    config: dict[str, Any],
    effort: GameEffort,
    console: Console,
    start: Callable[[VectorSolver], None] | None = None,
) -> Solved:
    """The solution at `path` made with `config`, or the game solved now and kept there.

    A solve that was cut off goes on from its checkpoint beside `path`. `start` may put regrets into a new solver, with
    the number of iterations that they come from. A solution short of the target is reported.
    """
    config = {**config, "algorithm": effort.algorithm, "target": effort.target, "iterations": effort.iterations}
    found = find_artifact(path, KIND, config=config)
    if found is None:
        solver = VectorSolver(game, effort.algorithm, threads=effort.threads)
        counts = _solve(solver, path, config, effort, console, start)
        arrays = {"strategy": _average(solver), "regrets": _regrets(solver)}
        del solver
        found = write_artifact(path, KIND, config=config, arrays=arrays, counts=counts)
        shutil.rmtree(_checkpoint(path), ignore_errors=True)
    counts = {name: float(value) for name, value in found.counts.items()}
    if counts["exploitability"] > effort.target:
        mbb = 1000 / game.rules.big_blind
        console.print(
            f"{path.name}: {mbb * counts['exploitability']:.3g} mbb/hand of exploitability after {effort.iterations}"
            f" iterations, not the {mbb * effort.target:.3g} asked for: raise `iterations`"
        )
    shape = (game.num_entries,)
    rows, regrets = (
        found.array("strategy", shape, dtypes=(np.float16,)),
        found.array("regrets", shape, dtypes=(np.uint16,)),
    )
    return Solved(game, rows, regrets, counts, found.fingerprint)


def _average(solver: VectorSolver) -> NDArray[np.float16]:
    """The normalised average, row by row: there may be no memory for a float32 copy of all."""
    game, sums = solver.game, solver.arrays["sums"]
    out = np.zeros(game.num_entries, np.float16)
    for node in game.layout.decisions.tolist():
        for board in game.on(int(game.tree.street[node])):
            game.rows(out, node, board)[:] = shares(np.maximum(game.rows(sums, node, board), 0))
    return out


def from_bfloat16(stored: NDArray[np.uint16]) -> Singles:
    return (stored.astype(np.uint32) << 16).view(np.float32)


def _regrets(solver: VectorSolver) -> NDArray[np.uint16]:
    """The regrets as the nearest bfloat16, ties to even; by parts, as there may be no memory for copies of all."""
    regrets = solver.arrays["regrets"]
    out = np.empty(len(regrets), np.uint16)
    for begin in range(0, len(regrets), _PART):
        bits = regrets[begin : begin + _PART].view(np.uint32)
        out[begin : begin + _PART] = (bits + 0x7FFF + (bits >> 16 & 1)) >> 16
    return out


def _checkpoint(path: Path) -> Path:
    return path.with_name(f"{path.name}.checkpoint")


def _solve(
    solver: VectorSolver,
    path: Path,
    config: dict[str, Any],
    effort: GameEffort,
    console: Console,
    start: Callable[[VectorSolver], None] | None,
) -> dict[str, float]:
    """Iterate until the target, with a bar and a checkpoint; returns what was reached."""
    found = find_artifact(_checkpoint(path), CHECKPOINT, config=config)
    first, spent = 0, np.zeros(2)  # iterations that the solver started with; seconds on the clock and of CPU
    if found is not None:
        for name, array in solver.arrays.items():
            array[:] = found.array(name, array.shape)
        solver.iterations = int(found.counts["iterations"])
        first, spent = int(found.counts.get("first", 0)), np.array(found.counts["spent"])
        console.print(f"{path.name}: going on after {solver.iterations - first} iterations")
    elif start is not None:
        start(solver)
        first = solver.iterations
    before, saved = spent - now(), time.perf_counter()
    with progress_bars("iterations", console) as progress:
        left = effort.iterations - (solver.iterations - first)
        bar = progress.add_task(path.name, total=effort.iterations, completed=effort.iterations - left, found="")

        def show(done: SolveProgress) -> None:
            nonlocal spent, saved
            spent = before + now()
            mbb = 1000 * done.exploitability / solver.game.rules.big_blind
            progress.update(bar, completed=solver.iterations - first, found=f"exploitability {mbb:.3g} mbb/hand")
            if time.perf_counter() - saved > effort.checkpoint_seconds:
                counts = {"iterations": solver.iterations, "first": first, "spent": spent.tolist()}
                write_artifact(_checkpoint(path), CHECKPOINT, config=config, arrays=solver.arrays, counts=counts)
                saved = time.perf_counter()

        done = solver.run(iterations=max(1, left), target=effort.target, progress=show)
    return {
        "iterations": done.iterations,
        "seconds": float(spent[0]),
        "cpu_seconds": float(spent[1]),
        "exploitability": done.exploitability,
        "value": solver.game_value(0),
    }


def now() -> Floats:
    """Seconds on the clock and of CPU."""
    return np.array([time.perf_counter(), time.process_time()])


def warm_start(spot: OffTreeBet, blueprint: Solved) -> Callable[[VectorSolver], None]:
    """A function that puts the blueprint's regrets into a solver of the extended game."""
    maps = [_stand_ins(spot, total) for total, _ in spot.lines]

    def start(solver: VectorSolver) -> None:
        game, source = solver.game, blueprint.game
        targets = [array for name, array in solver.arrays.items() if name != "sums"]
        for node in game.layout.decisions.tolist():
            children = list(game.tree.children(node))
            for board in game.on(int(game.tree.street[node])):
                rows = []
                for found in maps:
                    twin = int(found[node])
                    order = found[children] - source.tree.first_child[twin]
                    rows.append(from_bfloat16(source.rows(blueprint.regrets, twin, board))[order])
                mean = np.mean(rows, axis=0)
                for array in targets:
                    game.rows(array, node, board)[:] = mean
        solver.iterations = int(blueprint.counts["iterations"])

    return start


def _stand_ins(spot: OffTreeBet, line: int) -> NDArray[np.int32]:
    """int32[N of the extended tree]: the blueprint's nodes, where the raise to `line` stands for the bet."""
    tree, other = spot.blueprint_tree, spot.extended_tree
    found = np.zeros(len(other), np.int32)
    raises = {int(tree.action[child]): child for child in tree.children(0)}
    for child in other.children(0):
        action = int(other.action[child])
        found[child] = raises[line if action == spot.total else action]
    for node in range(1, len(other)):
        children = other.children(node)
        found[children.start : children.stop] = tree.children(int(found[node]))
    return found
