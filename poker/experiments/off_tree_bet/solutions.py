"""Whole games solved once and stored as artifacts, and the strategies that they give after the off-tree bet."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.experiments.off_tree_bet.spot import OffTreeBet, twins
from poker.kernels.types import I32, Floats, Reals, Singles
from poker.run.errors import PokernetsError
from poker.run.progress import Console, progress_bars
from poker.solvers.vector.boards import deck_of
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.realization import Rows, realization, strategy_of
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.store.artifacts import find_artifact, write_artifact

KIND = "vector_solution"


@dataclass(frozen=True)
class GameEffort:
    """Settings of the solve of a whole game.

    Attributes:
        algorithm: name of the CFR variant.
        exploitability_mbb: exploitability at which the solve stops, in mbb per hand, the unit of [DLS].
        iterations: largest number of iterations.
        memory_limit: memory limit in bytes.
    """

    algorithm: str
    exploitability_mbb: float
    iterations: int
    threads: int
    memory_limit: int


@dataclass(frozen=True, eq=False)
class SolvedGame:
    """A solved game.

    Attributes:
        rows: [entries] average strategy, normalised.
        counts: iterations, seconds, exploitability in chips, and the value to player 0 under the average strategies.
    """

    game: VectorGame
    rows: Reals
    counts: dict[str, float]

    def solver(self, threads: int) -> VectorSolver:
        """Return a solver with the average strategy, for best responses and values but not for further iterations."""
        solver = VectorSolver(self.game, "cfr_plus", threads=threads)
        solver.arrays["sums"][:] = self.rows
        return solver


def solved(game: VectorGame, path: Path, config: dict[str, Any], effort: GameEffort, console: Console) -> SolvedGame:
    """Read the solution at a path, or solve the game and store it there.

    A message is printed if the solution is more exploitable than the settings require.

    Args:
        config: settings that identify the game.
        effort: settings of the solve.
        console: console for progress and messages.
    """
    config = {
        **config,
        "algorithm": effort.algorithm,
        "target_mbb": effort.exploitability_mbb,  # the name in stored solutions
        "iterations": effort.iterations,
    }
    artifact = find_artifact(path, KIND, config=config)
    if artifact is None:
        solver = VectorSolver(game, effort.algorithm, threads=effort.threads)
        counts = _solve(solver, path.name, effort, console)
        arrays = {"strategy": solver.normalised_average(np.float16, rare_by_regrets=True)}
        del solver
        artifact = write_artifact(path, KIND, config=config, arrays=arrays, counts=counts)
    counts = {name: float(value) for name, value in artifact.counts.items()}
    reached = 1000 * counts["exploitability"] / game.rules.big_blind
    if reached > effort.exploitability_mbb:
        console.print(
            f"{path.name}: {reached:.3g} mbb/hand of exploitability after {effort.iterations} iterations, not"
            f" {effort.exploitability_mbb:.3g}: raise `iterations`"
        )
    return SolvedGame(game, artifact.array("strategy", (game.num_entries,), dtypes=(np.float16,)), counts)


def _solve(solver: VectorSolver, name: str, effort: GameEffort, console: Console) -> dict[str, float]:
    """Iterate until a limit of `effort`, with a progress bar, and return the measurements."""
    begin, big_blind = now(), solver.game.rules.big_blind
    with progress_bars("iterations", console) as progress:
        bar = progress.add_task(name, total=effort.iterations, found="")

        def show(done: SolveProgress) -> None:
            mbb = 1000 * done.exploitability / big_blind
            progress.update(bar, completed=done.iterations, found=f"exploitability {mbb:.3g} mbb/hand")

        pots = effort.exploitability_mbb * big_blind / 1000 / solver.game.pot
        done = solver.run(effort.iterations, pots, progress=show)
    seconds, cpu_seconds = (now() - begin).tolist()
    return {
        "iterations": done.iterations,
        "seconds": seconds,
        "cpu_seconds": cpu_seconds,
        "exploitability": done.exploitability,
        "value": solver.game_value(0),
    }


def now() -> Floats:
    """Return wall-clock and CPU time in seconds, [2]."""
    return np.array([time.perf_counter(), time.process_time()])


def line_rows(spot: OffTreeBet, solution: SolvedGame, total: int, branch: VectorGame, player: int) -> Rows:
    """Return the strategy of a player after one of P1's raises, at the same choices of the branch.

    Args:
        total: raise total of P1.
        branch: the game after the bet.

    Returns:
        float32 [entries of the branch].
    """
    tree, out = solution.game.tree, np.zeros(branch.num_entries, np.float32)
    copy_rows(solution.game, solution.rows, twins(tree, tree.find([total]), spot.branch), branch, player, out)
    return out


def translated(spot: OffTreeBet, blueprint: SolvedGame, branch: VectorGame, player: int) -> Rows:
    """Translate the strategy of a player by randomised pseudo-harmonic translation.

    The bet counts as one of the two nearest raises. The mixture is over whole strategies, so a hand keeps the same
    choice in all later decisions.

    Args:
        blueprint: the game solved without the bet.
        branch: the game after the bet.

    Returns:
        float32 [entries of the branch] mixture of reach probabilities.
    """
    mixture = np.zeros(branch.num_entries, np.float32)
    for total, probability in spot.lines:
        rows = line_rows(spot, blueprint, total, branch, player)
        mixture += np.float32(probability) * realization(branch, player, strategy_of(branch, rows))
    return mixture


def copy_rows(source: VectorGame, rows: NDArray[Any], twins: I32, target: VectorGame, player: int, out: Rows) -> None:
    """Copy the strategy of a player from one game to another with the same boards and hands.

    The source may end on an earlier street.

    Args:
        source: game to copy from.
        rows: [entries of the source] strategy.
        twins: int32 [N] node of the source for each node of the target, or -1 to skip it.
        target: game to copy to.
        out: float32 [entries of the target]; filled in.

    Raises:
        PokernetsError: the games have different boards.
    """
    if source.boards.cards != target.boards.cards[: len(source.boards.cards)]:
        raise PokernetsError("a strategy can be transferred only to a game with the same boards")
    for node in target.layout.decisions.tolist():
        if target.tree.player[node] == player and twins[node] >= 0:
            for board in target.on(int(target.tree.street[node])):
                target.rows(out, node, board)[:] = source.rows(rows, int(twins[node]), board)


def by_suits(game: VectorGame, values: Singles) -> Singles:
    """Average values over hands that the game's suit symmetries map to each other, so that they are exactly equal.

    Args:
        values: float32 [H].

    Returns:
        float32 [H] means.
    """
    first = deck_of(game.rules).hand_map[np.array(game.boards.groups[0])].min(axis=0)
    means = (np.bincount(first, values) / np.maximum(np.bincount(first), 1)).astype(np.float32)
    return np.asarray(means[first])
