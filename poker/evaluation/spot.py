"""`evaluate=spot`: solves a post-flop spot and reports what both players do and what it is worth.

Everything is chips of the spot: EV = chips won from the pot and later bets minus own later bets, per hand of the range.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

from poker.errors import PokernetsError
from poker.report import Figure, Report, Section, Table
from poker.report.grids import strategy_grids
from poker.report.scalars import Scalar
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solution import action_name, find_node, save_solution
from poker.solvers.vector.solver import Progress, VectorSolver
from poker.solvers.vector.spots import Spot, read_spot
from poker.tree.spots import spot_tree

SEATS = ("OOP", "IP")
DEVICE_STEP = 20
"""Iterations between two measurements on a device, at first."""


@dataclass(frozen=True)
class Decision:
    """How often each action is taken, what it is worth on average to the hands that take it (None: no hand does), and
    the strategy [H, A] of the hands that come there with weights [H]."""

    path: str
    player: int
    actions: dict[str, dict[str, float | None]]
    weights: NDArray[np.float64]
    strategy: NDArray[np.float32]


def run(
    *,
    spot: str,
    algorithm: str,
    target_percent: float,
    iterations: int,
    threads: int,
    device: str,
    bits: int,
    memory_limit_gb: float,
    nodes: list[str],
    out: str,
) -> dict[str, Any]:
    """Solve the spot in file `spot` until its exploitability is `target_percent` of the pot; write and return figures.

    `nodes` are decisions of the first street to report and draw, in words such as `check bet120`.
    """
    if not target_percent > 0 or iterations < 1:
        raise PokernetsError("`target_percent` must be positive and `iterations` at least 1")
    read = read_spot(spot)
    console = Console(stderr=True)
    game = read.game(int(memory_limit_gb * 2**30))
    for words in nodes:
        find_node(game.tree, game.board, words)
    solver = VectorSolver(game, algorithm, threads=threads, bits=bits)
    need = game.memory(3 if solver.schedule.predictive else 2)
    console.print(
        f"{len(game.layout.decisions)} decisions, {need.hand_actions:,} hand-actions,"
        f" {need.bytes * bits / 2**25:.0f} MiB,"
        f" about {1e3 * need.seconds_per_iteration(threads):.2g} ms an iteration on {threads} threads;"
        " the first solve after an installation compiles for up to a minute"
    )
    pot = read.pot

    course: list[tuple[int, float]] = []

    def show(progress: Progress) -> None:
        share = 100 * progress.exploitability / pot
        course.append((progress.iterations, share))
        console.print(f"iteration {progress.iterations}: exploitability {share:.3f}% of pot, {progress.seconds:.2f} s")

    start = time.perf_counter()
    limit = target_percent / 100 * pot
    if device == "cpu":
        done = solver.run(iterations=iterations, target=limit, progress=show)
    else:
        done = solve_on_device(solver, device, iterations, limit, show)
    folder = Path(out) / str(read.text["board"])
    shares = equity(read, game)
    found = {
        "iterations": float(done.iterations),
        "seconds": time.perf_counter() - start,
        "exploitability_percent_pot": 100 * done.exploitability / pot,
        "ev_oop": solver.game_value(0),
        "ev_ip": solver.game_value(1),
        "equity_oop": shares[0],
        "equity_ip": shares[1],
    }
    save_solution(folder / "solution", read, solver, found)
    decisions = [decision(solver, words) for words in nodes]
    record = {
        "spot": read.text,
        "algorithm": solver.schedule.name,
        **found,
        "iterations": done.iterations,
        "nodes": [{"path": one.path, "player": SEATS[one.player], "actions": one.actions} for one in decisions],
    }
    scalars: dict[str, Scalar] = {**found, "exploitability_percent_pot": course}
    for one in decisions:
        for action, values in one.actions.items():
            scalars |= {f"{one.path or 'root'}/{action}/{key}": value for key, value in values.items()}
    sections = _sections(read, found, decisions)
    return Report(f"Spot {read.text['board']}", sections, record, scalars, {"solution": folder / "solution"}).write(
        folder
    )


def _sections(spot: Spot, found: dict[str, float], decisions: list[Decision]) -> list[Section]:
    """The whole game, then each decision with its table and its picture."""
    values = [(seat, f"{found[f'ev_{seat.lower()}']:.3f}", f"{found[f'equity_{seat.lower()}']:.2%}") for seat in SEATS]
    note = (
        f"EV in chips, of a pot of {spot.pot}; exploitability {found['exploitability_percent_pot']:.3f}% of pot after"
        f" {found['iterations']:.0f} iterations, {found['seconds']:.2f} s"
    )
    sections: list[Section] = [Table(("player", "EV", "equity"), values, "Solution", note)]
    for number, one in enumerate(decisions):
        title = f"{SEATS[one.player]} after `{one.path or 'root'}`"
        rows = [
            (action, f"{found['frequency']:.2%}", "-" if found["ev"] is None else f"{found['ev']:.2f}")
            for action, found in one.actions.items()
        ]
        sections.append(Table(("action", "frequency", "EV"), rows, title))
        draw = partial(strategy_grids, f"{spot.text['board']} {title}", list(one.actions), one.weights, one.strategy)
        sections.append(Figure(f"ranges_{number}_{one.path.replace(' ', '_') or 'root'}", draw))
    return sections


def solve_on_device(
    solver: VectorSolver, device: str, iterations: int, target: float, progress: Callable[[Progress], None]
) -> Progress:
    """Solves on a torch device and leaves the average strategy in `solver`."""
    from poker.search.torch_vector import TorchVectorSolver  # noqa: PLC0415 (torch takes seconds to import)

    batch = TorchVectorSolver([solver.game], solver.schedule, device=device)
    begin = time.perf_counter()
    done = Progress(0, 0.0, float("nan"))
    while batch.iterations < iterations:
        batch.run(min(max(DEVICE_STEP, batch.iterations // 5), iterations - batch.iterations))
        done = Progress(batch.iterations, time.perf_counter() - begin, float(batch.exploitability()[0]))
        progress(done)
        if done.exploitability <= target:
            break
    batch.export(0, solver)
    return done


def equity(spot: Spot, game: VectorGame) -> tuple[float, float]:
    """Each player's share of the pot when nobody bets any more."""
    tree = spot_tree(len(game.board), 2, 1, {})
    checked = VectorSolver(VectorGame(tree, game.board, game.ranges), "cfr")
    return checked.game_value(0) / 2, checked.game_value(1) / 2


def decision(solver: VectorSolver, words: str) -> Decision:
    """Of the first street, after words such as `check bet120`."""
    game = solver.game
    node, _ = find_node(game.tree, game.board, words)
    strategy, values = solver.strategy(node), solver.action_values(node).astype(np.float64)
    own, other = arriving(solver, node)
    weights = own * game.rules.space.compatible_mass(other)
    shares = weights[:, None] * strategy
    actions: dict[str, dict[str, float | None]] = {}
    for action, child in enumerate(game.tree.children(node)):
        taken = float(shares[:, action].sum())
        worth = float(shares[:, action] @ np.nan_to_num(values[:, action]))
        actions[action_name(game.tree, node, child)] = {
            "frequency": taken / weights.sum() if weights.any() else math.nan,
            "ev": worth / taken if taken > 0 else None,
        }
    return Decision(words, int(game.tree.player[node]), actions, weights, strategy)


def arriving(solver: VectorSolver, node: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Ranges [H] with which the player to act and the other one come to a node of the first street."""
    game, tree = solver.game, solver.game.tree
    ranges = game.ranges.astype(np.float64)
    at = node
    while tree.parent[at] >= 0:
        parent = int(tree.parent[at])
        ranges[tree.player[parent]] *= solver.strategy(parent)[:, at - int(tree.first_child[parent])]
        at = parent
    player = int(tree.player[node])
    return ranges[player], ranges[1 - player]
