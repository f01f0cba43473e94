"""Whole games solved once: the average strategy as an artifact that later runs find."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from poker.artifacts import find_artifact, write_artifact
from poker.progress import progress_bars
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.types import Floats

KIND = "vector_solution"


@dataclass(frozen=True)
class GameEffort:
    """How a whole game is solved: to `target_mbb` of exploitability per hand, the unit of [DLS], in at most so many
    iterations."""

    algorithm: str
    target_mbb: float
    iterations: int
    threads: int
    memory_limit: int


@dataclass(frozen=True, eq=False)
class SolvedGame:
    """A game with the rows of its average strategy (normalised), and what was measured: iterations, seconds,
    exploitability in chips, the value to player 0 under the average profile."""

    game: VectorGame
    rows: NDArray[np.floating]
    counts: dict[str, float]

    def solver(self, threads: int) -> VectorSolver:
        """A solver that holds the average strategy: for best responses and values, not to go on."""
        solver = VectorSolver(self.game, "cfr_plus", threads=threads)
        solver.arrays["sums"][:] = self.rows
        return solver


def solved(game: VectorGame, path: Path, config: dict[str, Any], effort: GameEffort, console: Console) -> SolvedGame:
    """The solution at `path` made with `config`, or the game solved now and written there. A solution short of the
    target is reported."""
    config = {
        **config,
        "algorithm": effort.algorithm,
        "target_mbb": effort.target_mbb,
        "iterations": effort.iterations,
    }
    artifact = find_artifact(path, KIND, config=config)
    if artifact is None:
        solver = VectorSolver(game, effort.algorithm, threads=effort.threads)
        counts = _solve(solver, path.name, effort, console)
        arrays = {"strategy": solver.normalised_average(np.float16)}
        del solver
        artifact = write_artifact(path, KIND, config=config, arrays=arrays, counts=counts)
    counts = {name: float(value) for name, value in artifact.counts.items()}
    reached = 1000 * counts["exploitability"] / game.rules.big_blind
    if reached > effort.target_mbb:
        console.print(
            f"{path.name}: {reached:.3g} mbb/hand of exploitability after {effort.iterations} iterations, not the"
            f" {effort.target_mbb:.3g} asked for: raise `iterations`"
        )
    return SolvedGame(game, artifact.array("strategy", (game.num_entries,), dtypes=(np.float16,)), counts)


def _solve(solver: VectorSolver, name: str, effort: GameEffort, console: Console) -> dict[str, float]:
    """Iterate until the target, with a bar; returns what was reached."""
    begin, big_blind = now(), solver.game.rules.big_blind
    with progress_bars("iterations", console) as progress:
        bar = progress.add_task(name, total=effort.iterations, found="")

        def show(done: SolveProgress) -> None:
            mbb = 1000 * done.exploitability / big_blind
            progress.update(bar, completed=done.iterations, found=f"exploitability {mbb:.3g} mbb/hand")

        precision = effort.target_mbb * big_blind / 1000 / solver.game.pot
        done = solver.run(effort.iterations, precision, progress=show)
    seconds, cpu_seconds = (now() - begin).tolist()
    return {
        "iterations": done.iterations,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "exploitability": done.exploitability,
        "value": solver.game_value(0),
    }


def now() -> Floats:
    """Seconds on the clock and of CPU."""
    return np.array([time.perf_counter(), time.process_time()])
