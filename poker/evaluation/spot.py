"""`evaluate=spot`: solves a post-flop spot and reports what both players do and what it is worth.

Everything is chips of the spot: EV = chips won from the pot and later bets minus own later bets, per hand of the range.
"""

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
from poker.report.charts import strategy_grids
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solution import action_name, find_node, save_solution
from poker.solvers.vector.solver import Progress, VectorSolver
from poker.solvers.vector.spots import Spot, read_spot
from poker.tree.spots import spot_tree

SEATS = ("OOP", "IP")
DEVICE_STEP = 20
"""Iterations between two measurements on a device, at first."""


@dataclass(frozen=True)
class NodeReport:
    """One decision: how often each action is taken, and what it is worth on average to the hands that take it."""

    path: str
    player: int
    actions: tuple[str, ...]
    frequencies: NDArray[np.float64]
    values: NDArray[np.float64]
    weights: NDArray[np.float64]
    strategy: NDArray[np.float32]

    @property
    def record(self) -> dict[str, Any]:
        actions = {
            action: {"frequency": float(share), "ev": None if np.isnan(value) else float(value)}
            for action, share, value in zip(self.actions, self.frequencies, self.values, strict=True)
        }
        return {"path": self.path, "player": SEATS[self.player], "actions": actions}


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
    values = [solver.game_value(player) for player in range(2)]
    equities = equity(read, game)
    reports = [node_report(solver, words) for words in nodes]
    folder = Path(out) / str(read.text["board"])
    figures = {
        "iterations": done.iterations,
        "seconds": time.perf_counter() - start,
        "exploitability_percent_pot": 100 * done.exploitability / pot,
        "ev_oop": values[0],
        "ev_ip": values[1],
        "equity_oop": equities[0],
        "equity_ip": equities[1],
    }
    save_solution(folder / "solution", read, solver, {key: float(value) for key, value in figures.items()})
    ends = {key: value for key, value in figures.items() if key != "exploitability_percent_pot"}
    of_nodes = {
        f"{report.path or 'root'}/{action}/{key}": value
        for report in reports
        for action, found in report.record["actions"].items()
        for key, value in found.items()
    }
    return Report(
        f"Spot {read.text['board']}",
        _sections(read, figures, reports),
        {
            "spot": read.text,
            "algorithm": solver.schedule.name,
            **figures,
            "nodes": [report.record for report in reports],
        },
        {"exploitability_percent_pot": course, **ends, **of_nodes},
        {"solution": folder / "solution"},
    ).write(folder)


def _sections(spot: Spot, figures: dict[str, float], reports: list[NodeReport]) -> list[Section]:
    """The whole game, then each node with its table and its picture."""
    sections: list[Section] = [
        Table(
            ("player", "EV", "equity"),
            [
                (seat, f"{figures[f'ev_{seat.lower()}']:.3f}", f"{figures[f'equity_{seat.lower()}']:.2%}")
                for seat in SEATS
            ],
            "Solution",
            f"EV in chips, of a pot of {spot.pot}; exploitability {figures['exploitability_percent_pot']:.3f}% of pot"
            f" after {figures['iterations']} iterations, {figures['seconds']:.2f} s",
        )
    ]
    for number, report in enumerate(reports):
        title = f"{SEATS[report.player]} after `{report.path or 'root'}`"
        draw = partial(strategy_grids, f"{spot.text['board']} {title}", report.actions, report.weights, report.strategy)
        rows = [
            (action, f"{share:.2%}", "-" if np.isnan(value) else f"{value:.2f}")
            for action, share, value in zip(report.actions, report.frequencies, report.values, strict=True)
        ]
        sections.append(Table(("action", "frequency", "EV"), rows, title))
        sections.append(Figure(f"ranges_{number}_{report.path.replace(' ', '_') or 'root'}", draw))
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


def node_report(solver: VectorSolver, words: str) -> NodeReport:
    """Frequencies and values at a decision of the first street."""
    game = solver.game
    node, _ = find_node(game.tree, game.board, words)
    player = int(game.tree.player[node])
    strategy, values = solver.strategy(node), solver.action_values(node).astype(np.float64)
    own, other = arriving(solver, node)
    weights = own * game.rules.space.compatible_mass(other)
    total = weights.sum()
    shares = weights[:, None] * strategy
    taken = shares.sum(axis=0)
    means = np.where(taken > 0, (shares * np.nan_to_num(values)).sum(axis=0) / np.where(taken > 0, taken, 1), np.nan)
    names = tuple(action_name(game.tree, node, child) for child in game.tree.children(node))
    frequencies = taken / total if total > 0 else np.full(len(names), np.nan)
    return NodeReport(words, player, names, frequencies, means, weights, strategy)


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
