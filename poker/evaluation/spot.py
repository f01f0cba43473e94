"""`evaluate=spot`: solves a post-flop spot and reports what both players do and what it is worth.

Everything is chips of the spot: EV = chips won from the pot and later bets minus own later bets, per hand of the range.
"""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

from poker.artifacts import write_atomically
from poker.errors import PokernetsError
from poker.evaluation.pages.html import Page
from poker.evaluation.pages.range_chart import range_chart
from poker.evaluation.pages.scalars import write_scalars
from poker.evaluation.provenance import provenance
from poker.solvers.vector.game import VectorGame, compatible_mass
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
    pictures = {}
    for number, report in enumerate(reports):
        title = f"{read.text['board']} {SEATS[report.player]} after `{report.path or 'root'}`"
        image = range_chart(title, report.actions, report.weights, report.strategy)
        write_atomically(folder / f"ranges_{number}_{report.path.replace(' ', '_') or 'root'}.png", image)
        pictures[title] = image
    results: dict[str, Any] = {
        "spot": read.text,
        "algorithm": solver.schedule.name,
        **figures,
        "nodes": [
            {
                "path": report.path,
                "player": SEATS[report.player],
                "actions": {
                    action: {"frequency": float(share), "ev": None if np.isnan(value) else float(value)}
                    for action, share, value in zip(report.actions, report.frequencies, report.values, strict=True)
                },
            }
            for report in reports
        ],
        **provenance(),
    }
    write_atomically(folder / "spot.json", (json.dumps(results, indent=1) + "\n").encode())
    _write_page(folder, read, results, reports, pictures)
    ends = {key: float(value) for key, value in figures.items() if key != "exploitability_percent_pot"}
    write_scalars(folder, {"exploitability_percent_pot": course, **ends, **_node_scalars(results["nodes"])})
    _print(read, figures, reports, folder)
    return results


def _write_page(
    folder: Path, spot: Spot, results: dict[str, Any], reports: list[NodeReport], pictures: dict[str, bytes]
) -> None:
    """Figures of the whole game, then each node with its table and its picture."""
    page = Page(f"Spot {spot.text['board']}")
    page.heading("Solution", f"EV in chips of the spot, of a pot of {spot.pot}; equity in shares of the pot")
    page.table(
        ("player", "EV", "equity"),
        [(seat, results[f"ev_{seat.lower()}"], results[f"equity_{seat.lower()}"]) for seat in SEATS],
    )
    page.table(
        ("algorithm", "iterations", "seconds", "exploitability in percent of the pot"),
        [tuple(results[key] for key in ("algorithm", "iterations", "seconds", "exploitability_percent_pot"))],
    )
    for report, (title, picture) in zip(reports, pictures.items(), strict=True):
        page.heading(title, "how often each action is taken, and what it is worth to the hands that take it")
        page.table(("action", "frequency", "EV"), _node_rows(report))
        page.png(picture, title)
    page.record(results)
    page.write(folder / "report.html")


def _node_rows(report: NodeReport) -> list[tuple[str, str, str]]:
    """Action, frequency and value as text."""
    return [
        (action, f"{100 * share:.2f}%", "-" if np.isnan(value) else f"{value:.2f}")
        for action, share, value in zip(report.actions, report.frequencies, report.values, strict=True)
    ]


def _node_scalars(nodes: list[dict[str, Any]]) -> dict[str, float | None]:
    return {
        f"{node['path'] or 'root'}/{action}/{figure}": value
        for node in nodes
        for action, found in node["actions"].items()
        for figure, value in found.items()
    }


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
    weights = own * np.maximum(compatible_mass(game, other), 0)
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


def _print(spot: Spot, figures: dict[str, Any], reports: list[NodeReport], folder: Path) -> None:
    console = Console()
    console.print(
        f"EV OOP {figures['ev_oop']:.3f}, IP {figures['ev_ip']:.3f} of pot {spot.pot}; equity OOP"
        f" {100 * figures['equity_oop']:.2f}%, IP {100 * figures['equity_ip']:.2f}%;"
        f" exploitability {figures['exploitability_percent_pot']:.3f}% of pot"
        f" after {figures['iterations']} iterations"
    )
    for report in reports:
        table = Table(title=f"{SEATS[report.player]} after `{report.path or 'root'}`", title_justify="left")
        for column in ("action", "frequency", "EV"):
            table.add_column(column, justify="left" if column == "action" else "right")
        for row in _node_rows(report):
            table.add_row(*row)
        console.print(table)
    console.print(f"solution, pictures, report and TensorBoard scalars in {folder}", soft_wrap=True, highlight=False)
