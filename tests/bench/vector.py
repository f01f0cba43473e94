"""Speed of the vector engine on the reference spots and on flop hold'em (tests/golden/spots.json).

Seconds to a target are those of the solve with its measurements of exploitability, after compilation, the least of
five. `reference` is what the fastest open CPU solver needed once on another machine (tests/golden/spots.json), or what
a peer needs here, in turn with this one: `PEER=PROGRAM python -m tests.bench.vector`. The program gets `config` (a spot
as in that file), `percent` of the pot and `threads` as JSON on its input, and prints `seconds`, of the solve alone, and
`iterations` as JSON. ms per iteration and ns per hand-action (both players, CPU seconds of one thread) show the share
of the kernel apart from the algorithm's.
"""

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from poker.game.betting import Betting
from poker.game.rules import Rules
from poker.run.machine import peak_memory
from poker.solvers.vector.game import VectorGame
from poker.solvers.vector.solver import VectorSolver
from poker.spots.spots import spot_of
from poker.store.provenance import provenance
from poker.tree import bet_menu, build_tree

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "spots.json").read_text())
TARGETS = ("0.5", "0.1")
THREADS, REPEATS, ITERATIONS = 2, 5, 10
PEER = os.environ.get("PEER", "")
REFERENCE_ON = "this machine, by turns" if PEER else "another machine, once"


def flop_holdem() -> VectorGame:
    """The two-street game of the golden file: all flops, one pot-sized bet a street."""
    rules = Rules("flop_holdem", 2, "nolimit", (2, 1), (162, 162), (), (), (1, 0), 4, 13, 2, (0, 3))
    return VectorGame(build_tree(Betting.start(rules), bet_menu(preflop=[[1.0], []], flop=[[1.0], []])))


def run() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    for name, spot in GOLDEN["spots"].items():
        rows += _spot(name, spot)
    return rows + _flop_holdem()


def cpu_seconds_per_iteration(game: VectorGame, iterations: int, repeats: int = REPEATS) -> float:
    """Least of several measurements on one thread."""
    solver = VectorSolver(game)
    solver.advance(1)
    seconds = []
    for _ in range(repeats):
        begin = time.thread_time()
        solver.advance(iterations)
        seconds.append((time.thread_time() - begin) / iterations)
    return min(seconds)


def _spot(name: str, spot: dict[str, Any]) -> list[dict[str, Any]]:
    game = spot_of(spot["config"]).game()
    rows: list[dict[str, Any]] = []
    for target in TARGETS:
        for threads, key in ((THREADS, "two_threads"), (1, "one_thread")):
            (seconds, iterations), peer = _solve(game, float(target) / 100, threads, spot["config"])
            reference = peer or spot[f"reference_seconds_{key}"][target]
            name_of_row = f"{name}: to {target}% of pot, {'two threads' if threads > 1 else 'one thread, CPU'}"
            row = _beside(name_of_row, seconds, reference["seconds"], REFERENCE_ON)
            rows.append({**row, "iterations": iterations, "reference_iterations": reference["iterations"]})
    each = cpu_seconds_per_iteration(game, ITERATIONS)
    rows.append({"name": f"{name}: iteration, one thread", "value": 1e3 * each, "unit": "ms"})
    rows.append({"name": f"{name}: hand-action", "value": 1e9 * each / game.hand_actions, "unit": "ns"})
    rows.append({"name": f"{name}: memory of the solver", "value": game.bytes(3) / 2**20, "unit": "MiB"})
    return rows


def _beside(name: str, seconds: float, reference: float, machine: str) -> dict[str, Any]:
    """A row with seconds beside those of a reference."""
    row = {"name": name, "value": seconds, "unit": "s", "reference": reference, "reference_on": machine}
    return {**row, "of_reference": seconds / reference}


def _solve(
    game: VectorGame, exploitability: float, threads: int, config: dict[str, Any]
) -> tuple[tuple[float, int], dict[str, Any] | None]:
    """Least seconds of several solves and their iterations, and of the peer's if there is one; ours are CPU seconds on
    one thread, little disturbed by others."""
    clock = time.perf_counter if threads > 1 else time.thread_time
    spot = json.dumps({"config": config, "percent": 100 * exploitability, "threads": threads})
    runs, peers = [], []
    for _ in range(REPEATS):
        solver = VectorSolver(game, threads=threads)
        begin = clock()
        done = solver.run(exploitability=exploitability, iterations=2000)
        runs.append((clock() - begin, done.iterations))
        if PEER:
            peers.append(
                json.loads(subprocess.run([PEER], input=spot, capture_output=True, text=True, check=True).stdout)
            )
    return min(runs), min(peers, key=lambda run: float(run["seconds"]), default=None)


def _flop_holdem() -> list[dict[str, Any]]:
    golden = GOLDEN["flop_holdem"]["reference_seconds_per_iteration"]
    begin = time.perf_counter()
    game = flop_holdem()
    rows = [{"name": "flop hold'em: set-up", "value": time.perf_counter() - begin, "unit": "s"}]
    solver = VectorSolver(game, "cfr_plus", threads=THREADS)
    solver.advance(ITERATIONS)  # in which the solver finds out whether its second thread gets a core
    seconds = []
    for _ in range(REPEATS):
        begin = time.perf_counter()
        solver.advance(ITERATIONS)
        seconds.append((time.perf_counter() - begin) / ITERATIONS)
    for threads, value in (("two", min(seconds)), ("one", cpu_seconds_per_iteration(game, 1))):
        reference = golden[f"{threads}_thread{'s' if threads == 'two' else ''}"]
        name = f"flop hold'em: iteration, {threads} thread{'s' if threads == 'two' else ''}"
        rows.append(_beside(name, value, reference, "another machine, once"))
    peak = peak_memory() / 2**20
    rows.append({"name": "flop hold'em: peak memory of the process", "value": peak, "unit": "MiB"})
    return rows


if __name__ == "__main__":
    for row in (provenance(), *run()):
        print(json.dumps(row), flush=True)
