"""`evaluate=spot`: solves a post-flop spot and reports both players' strategies and values.

Values are in chips of the spot. The EV of a hand is the chips won from the pot and from later bets, minus the player's
own later bets. Mean EVs weigh hands by the range.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from poker.game.cards import without_rare
from poker.report import Figure, Report, Section, Table
from poker.report.grids import strategy_grids
from poker.run.errors import PokernetsError
from poker.run.progress import Console
from poker.solve import batches
from poker.solve.types import Budget
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.spots.locks import lock_decisions
from poker.spots.solution import find_node, save_solution
from poker.spots.spots import Spot, read_spot
from poker.spots.walk import View, Walk

_USUAL = (100, 300)
"""Typical range of iterations of a solve."""
SEATS = ("OOP", "IP")
_EVS = {"ev": "EV of the hands that take it", "ev_all": "EV of all hands"}
"""Headers. Only means over all hands of the range compare actions; the other means are over different hands."""


def run(*, spot: str, budget: Budget, nodes: list[str], out: str) -> dict[str, Any]:
    """Solve a spot and write its report.

    Args:
        spot: file of the spot.
        budget: limits of the solve.
        nodes: decisions of the first street to report and draw, in words such as `check bet120`.
        out: folder below which the report is written.

    Returns:
        the record.

    Raises:
        PokernetsError: the spot is invalid or too large.
    """
    read = read_spot(spot)
    console = Console(stderr=True)
    solver, need = prepare(read, budget)
    for words in nodes:
        find_node(solver.game.tree, solver.game.board, words)
    console.print(str(need))
    course: list[tuple[int, float]] = []

    def show(progress: SolveProgress) -> None:
        share = 100 * progress.exploitability / read.pot
        course.append((progress.iterations, share))
        console.print(f"iteration {progress.iterations}: exploitability {share:.3f}% of pot, {progress.seconds:.2f} s")

    start = time.perf_counter()
    (done,) = batches.run([solver], [budget], show)
    return write_results(read, solver, done, time.perf_counter() - start, course, nodes, Path(out))


@dataclass(frozen=True)
class SolveCost:
    """Estimated cost of a solve, known before it starts.

    Attributes:
        decisions: decisions in the tree.
        hand_actions: pairs of hand and action over all decisions and boards.
        bytes: memory of the solver's arrays.
        seconds_per_iteration: estimated seconds of an iteration.
        threads: threads of the solver.
    """

    decisions: int
    hand_actions: int
    bytes: int
    seconds_per_iteration: float
    threads: int

    @property
    def seconds(self) -> tuple[float, float]:
        """Estimated seconds of a solve, as (least, most)."""
        least, most = (count * self.seconds_per_iteration for count in _USUAL)
        return least, most

    def refuse_beyond(self, seconds: float) -> None:
        """Check that the solve is estimated to end within `seconds`.

        Raises:
            PokernetsError: even the lower estimate is longer.
        """
        if self.seconds[0] > seconds:
            least, most = self.seconds
            raise PokernetsError(
                f"this solve has {self} and usually takes {least:,.0f} to {most:,.0f} s, but the limit is"
                f" {seconds:g} s. Offer fewer bet sizes, narrow the ranges, or begin on a later street"
            )

    def __str__(self) -> str:
        """Return the costs as a phrase for messages."""
        each = 1e3 * self.seconds_per_iteration
        milliseconds = f"{each:.2g}" if each < 10 else f"{each:,.0f}"
        return (
            f"{self.decisions} decisions, {self.hand_actions:,} hand-actions, {self.bytes / 2**20:.0f} MiB,"
            f" about {milliseconds} ms an iteration on {self.threads} threads"
        )


def prepare(spot: Spot, budget: Budget, wanted: Callable[[], bool] = lambda: True) -> tuple[VectorSolver, SolveCost]:
    """Build the game and the solver of a spot and estimate the cost of the solve.

    Args:
        budget: limits of the solve.
        wanted: called while the tree is built; False stops the construction.

    Returns:
        (solver, cost).

    Raises:
        PokernetsError: the spot is invalid, needs too much memory, or is no longer `wanted`.
    """
    game = spot.game(int(budget.memory_limit_gib * 2**30), wanted)
    solver = VectorSolver(game, budget.algorithm, threads=budget.threads)
    lock_decisions(spot, solver)
    need, seconds = game.bytes(3 if solver.schedule.predictive else 2), game.seconds_per_iteration(budget.threads)
    cost = SolveCost(len(game.layout.decisions), game.hand_actions, need, seconds, budget.threads)
    return solver, cost


def write_results(
    read: Spot,
    solver: VectorSolver,
    done: SolveProgress,
    seconds: float,
    course: list[tuple[int, float]],
    nodes: list[str],
    out: Path,
    command: str | None = None,
) -> dict[str, Any]:
    """Write the solution and the report of a solved spot.

    Args:
        done: the last measurement of exploitability.
        seconds: seconds that the solve took.
        course: (iterations, exploitability in percent of the pot) of all measurements.
        nodes: decisions to report, in words such as `check bet120`.
        out: folder below which a folder named after the spot is made.
        command: the command that reproduces the report, as in `Report`.

    Returns:
        the record.
    """
    walk = Walk(read, solver)
    root = walk.view([])
    figures: dict[str, float] = {
        "iterations": done.iterations,
        "seconds": seconds,
        "exploitability_percent_pot": 100 * done.exploitability / read.pot,
        "ev_oop": solver.game_value(0),
        "ev_ip": solver.game_value(1),
        "equity_oop": root.mean(root.equity[0], 0),
        "equity_ip": root.mean(root.equity[1], 1),
    }
    folder = out / read.name
    save_solution(folder / "solution", read, solver, figures)
    decisions = {words: walk.view(words.split()) for words in nodes}
    records = [{"path": words, "player": seat(view), "actions": view.totals} for words, view in decisions.items()]
    record = {"spot": read.text, "algorithm": solver.schedule.name, **figures, "nodes": records}
    sections, scalars = _sections(read, figures, decisions), {"exploitability_percent_pot": course}
    files = {"solution": folder / "solution"}
    return Report(f"Spot {read.text['board']}", sections, record, scalars, files, command).write(folder)


def seat(view: View) -> str:
    """Return the name of the seat that acts at a decision."""
    assert view.player is not None
    return SEATS[view.player]


def _sections(spot: Spot, figures: dict[str, float], decisions: dict[str, View]) -> list[Section]:
    """Return the section of the whole game, then one for each decision with its table and picture."""
    values = [
        (seat, f"{figures[f'ev_{seat.lower()}']:.3f}", f"{figures[f'equity_{seat.lower()}']:.2%}") for seat in SEATS
    ]
    note = (
        f"EV in chips, of a pot of {spot.pot}; exploitability {figures['exploitability_percent_pot']:.3f}% of pot after"
        f" {figures['iterations']:.0f} iterations, {figures['seconds']:.2f} s"
    )
    sections: list[Section] = [Table(("player", "EV", "equity"), values, "Solution", note)]
    for number, (words, view) in enumerate(decisions.items()):
        title = f"{seat(view)} after `{words or 'root'}`"
        rows = [
            (
                action,
                f"{numbers['frequency']:.2%}",
                *("-" if numbers[ev] is None else f"{numbers[ev]:.2f}" for ev in _EVS),
            )
            for action, numbers in view.totals.items()
        ]
        weights = without_rare(view.weights[SEATS.index(seat(view))])
        draw = partial(strategy_grids, f"{spot.text['board']} {title}", list(view.actions), weights, view.strategy)
        name = f"ranges_{number}_{words.replace(' ', '_') or 'root'}"
        sections += [Table(("action", "frequency", *_EVS.values()), rows, title), Figure(name, draw)]
    return sections
