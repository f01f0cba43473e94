"""Iterations that real-time solves need to a precision, by schedule and by the bets looked ahead to.

    python -m tests.bench.real_time OUT [--roots 12] [--common "key=value ..."]

Flops, turns and rivers are those of `tests.bench.turn_menus`; a solve is that of the agent `depth_limited` there.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from conf.compose import call, compose
from poker.atomic import write_atomically
from poker.search.round_solver import Request
from poker.solvers.vector.schedules import schedule
from poker.solvers.vector.solver import VectorSolver
from tests.bench.record import record
from tests.bench.turn_menus import roots

_ALL_IN = "search.ahead.river=[[1.0],[a]]"
_BEFORE: dict[str, Any] = {"alpha": 1.35, "prediction": 0.15}
VARIANTS: dict[str, tuple[list[str], dict[str, Any]]] = {
    "all-in ahead, schedule before": ([_ALL_IN], _BEFORE),
    "schedule before": ([], _BEFORE),
    "now": ([], {}),
}
STREETS, TARGETS = {"flop": 1, "turn": 2, "river": 3}, (0.05, 0.01)
MOST, STEP = 400, 2


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--roots", type=int, default=12)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--common", default="")
    options = parser.parse_args()
    common = options.common.split()
    agents = {}
    for name, (overrides, _) in VARIANTS.items():
        config = compose("evaluate", ["evaluate=match", "agents=[depth_limited]", *common, *overrides])
        agents[name] = call(config.agent.depth_limited)
    rows = []
    for street, number in STREETS.items():
        counts: dict[tuple[str, float], list[int]] = {}
        for root in roots(common, options.roots, options.seed, number):
            for name, (_, changes) in VARIANTS.items():
                [posed] = agents[name]._solve._posed([Request(*root[1:])], 1)
                needed = _iterations(VectorSolver(posed.game, schedule("apdcfr_short", **changes)), root.betting.pot)
                for target, iterations in zip(TARGETS, needed, strict=True):
                    counts.setdefault((name, target), []).append(iterations)
        for (name, target), each in counts.items():
            row = {"street": street, "schedule": name, "precision": target, "roots": len(each)}
            rows.append({**row, "iterations": float(np.mean(each)), "median": float(np.median(each))})
            print(rows[-1], flush=True)
        write_atomically(options.out, json.dumps(record(rows=rows), indent=1).encode())


def _iterations(solver: VectorSolver, pot: int) -> list[int]:
    """Iterations to each of `TARGETS`, at the most `MOST`."""
    iterations: list[int] = []
    while len(iterations) < len(TARGETS):
        solver.advance(STEP)
        exploitability = solver.exploitability() if solver.iterations < MOST else 0.0
        while len(iterations) < len(TARGETS) and exploitability <= TARGETS[len(iterations)] * pot:
            iterations.append(solver.iterations)
    return iterations


if __name__ == "__main__":
    main()
