"""Milliseconds of an iteration of the vector solver beside those of other code of it, by turns.

    python -m tests.bench.solver_turns FOLDER OUTPUT [ROUNDS]

FOLDER is a checkout of the other code, with its kernels compiled (`python -m poker.kernels`). Each spot has a process
of either code; blocks of iterations of both follow each other, either one first by turns. One thread is timed in CPU
seconds, two by the clock, without trials of one.
"""

import json
import os
import statistics
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from poker.solvers.vector.solver import VectorSolver
from poker.spots.spots import spot_of
from tests.bench.record import record

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "spots.json").read_text())
_NARROW, _WIDE = (GOLDEN["spots"][name]["config"] for name in ("t1_turn_basic", "t2_turn_wide"))
_EVERY_HAND = {"oop_range": "random", "ip_range": "random", "pot": "100"}
SPOTS: dict[str, dict[str, str]] = {
    **{name: spot["config"] for name, spot in GOLDEN["spots"].items()},
    "small river": {**_WIDE, "board": "9s7d4cKhQh", "bet": "33%,75%,a"},
    "smallest river": {**_NARROW, "board": "Td9d6hQc2s", "bet": "50%", "raise": "a"},
    "deep river": {**_EVERY_HAND, "board": "KsTh7s4d2s", "stack": "4000", "bet": "33%,75%,150%", "raise": "2.5x,a"},
    "turn, every hand": {**_EVERY_HAND, "board": "Ks8h5d2c", "stack": "300", "bet": "60%", "raise": "3x"},
    "turn, all-in or fold": {**_EVERY_HAND, "board": "Ks8h5d2c", "stack": "150", "bet": "a", "raise": "a"},
    "flop": {**_NARROW, "board": "Td9d6h", "pot": "40", "stack": "120", "bet": "60%", "raise": "a"},
}
WARM, BLOCK_SECONDS = 40, 0.06
"""Iterations before the first timed one, and least seconds of a block."""


def main(other: str, rounds: int) -> list[dict[str, Any]]:
    rows = []
    for name in SPOTS:
        workers = [_Worker(folder, name) for folder in (other, os.getcwd())]
        for threads in (1, 2) if "river" not in name else (1,):
            first = workers[0].ask(threads, 2)
            count = max(2, int(BLOCK_SECONDS / first))
            workers[1].ask(threads, 2)
            times: list[list[float]] = [[], []]
            for turn in range(rounds):
                for which in (0, 1) if turn % 2 else (1, 0):
                    times[which].append(1e3 * workers[which].ask(threads, count))
            before, now = map(statistics.median, times)
            ratios = sorted(b / a for a, b in zip(*times, strict=True))
            ratio = {"median": statistics.median(ratios), "least": ratios[0], "most": ratios[-1]}
            rows.append({"name": name, "threads": threads, "before": before, "now": now, "ratio": ratio})
            print(json.dumps(rows[-1]), file=sys.stderr, flush=True)
        for worker in workers:
            worker.process.kill()
            worker.process.wait()
    return rows


class _Worker:
    def __init__(self, folder: str, name: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, name],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": folder},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, threads: int, iterations: int) -> float:
        """Seconds of an iteration."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        print(threads, iterations, file=self.process.stdin, flush=True)
        return float(self.process.stdout.readline())


def _work(name: str) -> None:
    """Answer lines of threads and iterations with seconds of an iteration, by the code of the working directory."""
    game, solvers = spot_of(SPOTS[name]).game(), {}
    for line in sys.stdin:
        threads, iterations = map(int, line.split())
        if threads not in solvers:
            solvers[threads] = VectorSolver(game, threads=threads)
            pace: Any = solvers[threads]._pace
            pace.next_block = partial(tuple, (threads, 1 << 30))
            solvers[threads].advance(WARM)
        clock = time.perf_counter if threads > 1 else time.thread_time
        begin = clock()
        solvers[threads].advance(iterations)
        print((clock() - begin) / iterations, flush=True)


if __name__ == "__main__":
    if len(sys.argv) == 2:
        _work(sys.argv[1])
    else:
        folder = str(Path(sys.argv[1]).resolve())
        described = subprocess.check_output(["git", "-C", folder, "rev-parse", "HEAD"], text=True).strip()
        rows = main(folder, int(sys.argv[3]) if len(sys.argv) > 3 else 9)
        Path(sys.argv[2]).write_text(json.dumps(record(rows=rows, before=described, artifacts={}), indent=1) + "\n")
