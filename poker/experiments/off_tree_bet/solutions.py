"""Whole games solved once and kept: the average strategy as an artifact, a checkpoint while the solve is under way."""

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
from poker.progress import progress_bars
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import shares
from poker.solvers.vector.solver import SolveProgress, VectorSolver

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
        counts = _Solve(solver, path, config, effort, console).run(start)
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
    return Solved(game, found.arrays["strategy"], found.arrays["regrets"], counts, found.fingerprint)


def _average(solver: VectorSolver) -> NDArray[np.float16]:
    """The normalised average, row by row: there may be no memory for a float32 copy of all."""
    game, sums = solver.game, solver.arrays["sums"]
    out = np.zeros(game.num_entries, np.float16)
    for node in game.layout.decisions.tolist():
        for board in game.on(int(game.tree.street[node])):
            game.rows(out, node, board)[:] = shares(np.maximum(game.rows(sums, node, board), 0))
    return out


def from_bfloat16(stored: NDArray[np.uint16]) -> NDArray[np.float32]:
    """The values of bfloat16 bits."""
    return (stored.astype(np.uint32) << 16).view(np.float32)


def _to_bfloat16(values: NDArray[np.float32]) -> NDArray[np.uint16]:
    """The nearest bfloat16, ties to even."""
    bits = values.view(np.uint32)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def _regrets(solver: VectorSolver) -> NDArray[np.uint16]:
    """The regrets as bfloat16, by parts."""
    regrets = solver.arrays["regrets"]
    out = np.empty(len(regrets), np.uint16)
    for begin in range(0, len(regrets), _PART):
        part = slice(begin, begin + _PART)
        out[part] = _to_bfloat16(regrets[part])
    return out


def _checkpoint(path: Path) -> Path:
    return path.with_name(f"{path.name}.checkpoint")


class _Solve:
    """One solve with its bar and its checkpoint."""

    def __init__(
        self, solver: VectorSolver, path: Path, config: dict[str, Any], effort: GameEffort, console: Console
    ) -> None:
        self.solver = solver
        self.path = path
        self.config = config
        self.effort = effort
        self.console = console
        self.spent = np.zeros(2)
        """Seconds on the clock and of CPU."""
        self.saved = time.perf_counter()
        self.first = 0
        """Iterations that the solver started with."""

    def run(self, start: Callable[[VectorSolver], None] | None) -> dict[str, float]:
        """Iterates until the target; returns what was reached."""
        if not self._resumed() and start is not None:
            start(self.solver)
            self.first = self.solver.iterations
        effort = self.effort
        before = self.spent - now()
        with progress_bars("iterations", self.console) as progress:
            bar = progress.add_task(self.path.name, total=effort.iterations, completed=self._done, found="")

            def show(done: SolveProgress) -> None:
                self.spent = before + now()
                mbb = 1000 * done.exploitability / self.solver.game.rules.big_blind
                progress.update(bar, completed=self._done, found=f"exploitability {mbb:.3g} mbb/hand")
                if time.perf_counter() - self.saved > effort.checkpoint_seconds:
                    self._save()

            left = max(1, effort.iterations - self._done)
            done = self.solver.run(iterations=left, target=effort.target, progress=show)
        return {
            "iterations": done.iterations,
            "seconds": float(self.spent[0]),
            "cpu_seconds": float(self.spent[1]),
            "exploitability": done.exploitability,
            "value": self.solver.game_value(0),
        }

    @property
    def _done(self) -> int:
        """Iterations in this game."""
        return self.solver.iterations - self.first

    def _resumed(self) -> bool:
        found = find_artifact(_checkpoint(self.path), CHECKPOINT, config=self.config)
        if found is None:
            return False
        for name, array in self.solver.arrays.items():
            array[:] = found.arrays[name]
        self.solver.iterations = int(found.counts["iterations"])
        self.first, self.spent[:] = int(found.counts.get("first", 0)), found.counts["spent"]
        self.console.print(f"{self.path.name}: going on after {self._done} iterations")
        return True

    def _save(self) -> None:
        counts = {"iterations": self.solver.iterations, "first": self.first, "spent": self.spent.tolist()}
        arrays = self.solver.arrays
        write_artifact(_checkpoint(self.path), CHECKPOINT, config=self.config, arrays=arrays, counts=counts)
        self.saved = time.perf_counter()


def now() -> NDArray[np.float64]:
    """Seconds on the clock and of CPU."""
    return np.array([time.perf_counter(), time.process_time()])
