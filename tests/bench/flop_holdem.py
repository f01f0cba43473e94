"""Flop hold'em, the two-street game of tests/golden/spots.json, solved in full: convergence beside the reference's.

`python -m tests.bench.flop_holdem OUT` writes OUT.json: exploitability (mbb per hand) of CFR+ with linear averaging at
the iterations of the reference, from a first strategy that checks and calls and from a uniform one, the button's value,
seconds per iteration, and APDCFR's way to 1 mbb per hand.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from poker.machine import peak_memory
from poker.rules import CALL
from poker.solvers.vector.solver import VectorSolver
from tests.bench.bench_vector import GOLDEN, flop_holdem
from tests.bench.record import record

GOAL_MBB = 1.0
THREADS = 2

_FIRST_REGRET = 1e-6
"""Regret in chips that makes an action the first strategy and is nothing beside the regrets that follow."""


def main(out: Path) -> None:
    reference = GOLDEN["flop_holdem"]
    game = flop_holdem()
    mbb = 1000 / game.rules.big_blind
    found: dict[str, Any] = {"hand_actions": game.hand_actions, "flops": len(game.boards.cards) - 1}
    rows: list[dict[str, float]] = []
    for key in ("cfr_plus_passive_start", "cfr_plus"):
        solver = VectorSolver(game, "cfr_plus", threads=THREADS)
        if key == "cfr_plus_passive_start":
            start_passive(solver)
        rows, spent = [], 0.0
        for goal, theirs in reference["cfr_plus_linear_averaging_from_iteration_1"].items():
            spent += _timed(solver, int(goal) - solver.iterations)
            mine = mbb * solver.exploitability()
            rows.append({"iterations": int(goal), "mbb": mine, "reference_mbb": theirs, "seconds": spent})
            print(key, rows[-1], flush=True)
        found[key] = rows
    found["button_value_chips"] = solver.game_value(1)
    found["reference_button_value_chips_between"] = reference["button_value_chips_between"]
    found["seconds_per_iteration"] = spent / solver.iterations
    found["reference_seconds_per_iteration"] = reference["reference_seconds_per_iteration"]
    solver = VectorSolver(game, "apdcfr", threads=THREADS)
    rows, spent = [], 0.0
    while not rows or rows[-1]["mbb"] > GOAL_MBB:
        spent += _timed(solver, 10)
        rows.append({"iterations": solver.iterations, "mbb": mbb * solver.exploitability(), "seconds": spent})
        print(rows[-1], flush=True)
    found["apdcfr"] = rows
    found["peak_memory_mib"] = peak_memory() / 2**20
    path = out.with_suffix(".json")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record(**found), indent=1) + "\n")


def start_passive(solver: VectorSolver) -> None:
    """Make the first iteration check or call with every hand, where it would mix all actions alike: the first strategy
    shows in CFR+ for hundreds of iterations."""
    game = solver.game
    for node in game.layout.decisions.tolist():
        for index in game.on(int(game.tree.street[node])):
            game.rows(solver.arrays["regrets"], node, index)[game.tree.actions(node).index(CALL)] = _FIRST_REGRET


def _timed(solver: VectorSolver, iterations: int) -> float:
    begin = time.perf_counter()
    solver.advance(iterations)
    return time.perf_counter() - begin


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.flop_holdem")
    parser.add_argument("out", type=Path)
    main(parser.parse_args().out)
