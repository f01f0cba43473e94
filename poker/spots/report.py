"""`evaluate=spot`: solves a post-flop spot and reports what both players do and what it is worth.

Values are chips of the spot: EV = chips won from the pot and later bets minus own later bets, per hand of the range.
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
from poker.solvers.vector.solver import SolveProgress, VectorSolver
from poker.spots.locks import lock_decisions
from poker.spots.solution import find_node, save_solution
from poker.spots.spots import Spot, read_spot
from poker.spots.walk import View, Walk

_USUAL = (100, 300)
"""Iterations that solves take as a rule."""
SEATS = ("OOP", "IP")
_EVS = {"ev": "EV of the hands that take it", "ev_all": "EV of all hands"}
"""Headers: means over different hands do not compare actions, those over all hands that come there do."""


@dataclass(frozen=True)
class Settings:
    """How spots are solved; a solve ends when it is exploitable for `exploitability` pots."""

    algorithm: str
    exploitability: float
    iterations: int
    threads: int
    memory_limit_gib: float

    def __post_init__(self) -> None:
        if not (self.exploitability > 0 and self.memory_limit_gib > 0) or self.iterations < 1 or self.threads < 1:
            raise PokernetsError("`exploitability`, the memory limit, `iterations` and `threads` must be positive")


def run(*, spot: str, settings: Settings, device: str, nodes: list[str], out: str) -> dict[str, Any]:
    """Solves the spot in file `spot`; returns the record.

    `nodes` are decisions of the first street to report and draw, in words such as `check bet120`.
    """
    read = read_spot(spot)
    console = Console(stderr=True)
    solver, need = prepare(read, settings)
    for words in nodes:
        find_node(solver.game.tree, solver.game.board, words)
    console.print(str(need))
    course: list[tuple[int, float]] = []

    def show(progress: SolveProgress) -> None:
        share = 100 * progress.exploitability / read.pot
        course.append((progress.iterations, share))
        console.print(f"iteration {progress.iterations}: exploitability {share:.3f}% of pot, {progress.seconds:.2f} s")

    start = time.perf_counter()
    done = solve(solver, read, settings, device, show)
    return write_results(read, solver, done, time.perf_counter() - start, course, nodes, Path(out))


def solve(
    solver: VectorSolver,
    spot: Spot,
    settings: Settings,
    device: str,
    progress: Callable[[SolveProgress], None] | None = None,
) -> SolveProgress:
    """Solve a prepared spot on `device`. Raises PokernetsError for a spot with locks on another device than cpu."""
    if device == "cpu":
        return solver.run(iterations=settings.iterations, exploitability=settings.exploitability, progress=progress)
    if spot.locks:
        raise PokernetsError("a spot with locks is solved by device=cpu alone")
    from poker.search.torch.batches import solve_on_device  # noqa: PLC0415 (torch takes seconds to import)

    return solve_on_device(solver, device, settings.iterations, settings.exploitability, progress or (lambda _: None))


@dataclass(frozen=True)
class SolveCost:
    """The cost of a solve, as far as it is known before."""

    decisions: int
    hand_actions: int
    bytes: int
    seconds_per_iteration: float
    threads: int

    @property
    def seconds(self) -> tuple[float, float]:
        """Seconds that a solve takes as a rule, from and to."""
        least, most = (count * self.seconds_per_iteration for count in _USUAL)
        return least, most

    def refuse_beyond(self, seconds: float) -> None:
        """Raises PokernetsError where the solve takes longer as a rule."""
        if self.seconds[0] > seconds:
            least, most = self.seconds
            raise PokernetsError(
                f"this solve has {self}: {least:,.0f} to {most:,.0f} s as a rule, and the limit is {seconds:g} s. Offer"
                " fewer bet sizes, narrow the ranges, or begin on a later street"
            )

    def __str__(self) -> str:
        each = 1e3 * self.seconds_per_iteration
        milliseconds = f"{each:.2g}" if each < 10 else f"{each:,.0f}"
        return (
            f"{self.decisions} decisions, {self.hand_actions:,} hand-actions, {self.bytes / 2**20:.0f} MiB,"
            f" about {milliseconds} ms an iteration on {self.threads} threads"
        )


def prepare(
    spot: Spot, settings: Settings, wanted: Callable[[], bool] = lambda: True
) -> tuple[VectorSolver, SolveCost]:
    """The solver, ready to start, and the cost of the solve. Raises PokernetsError where it is more than the limit, or
    the solve not `wanted` any more."""
    game = spot.game(int(settings.memory_limit_gib * 2**30), wanted)
    solver = VectorSolver(game, settings.algorithm, threads=settings.threads)
    lock_decisions(spot, solver)
    need, seconds = game.bytes(3 if solver.schedule.predictive else 2), game.seconds_per_iteration(settings.threads)
    cost = SolveCost(len(game.layout.decisions), game.hand_actions, need, seconds, settings.threads)
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
    """Writes solution and report below `out`, in a folder named after the spot; returns the record.

    `course` are iterations and exploitability in percent of the pot; `command` as in `Report`.
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
    """The seat that acts at a decision."""
    assert view.player is not None
    return SEATS[view.player]


def _sections(spot: Spot, figures: dict[str, float], decisions: dict[str, View]) -> list[Section]:
    """The whole game, then each decision with its table and its picture."""
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
