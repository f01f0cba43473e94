"""Cost of rounds in iterations: `python -m tests.bench.rounds [ITERATIONS] > docs/results/costs/rounds.json`.

Leduc, external sampling, nash_conv after equal total iterations: in rounds of so many parts of so many iterations, over
one process that weighs periods as long as a round.
"""

import json
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from poker.run.parallel import Cluster, R, SharedArray, T, Team, Work
from poker.solvers.sampling.rounds import RoundPlan, Rounds
from tests.bench.record import record
from tests.solvers.sampling.test_rounds import leduc

PARTS = (1, 2, 4, 16)
ROUNDS = (10, 40, 160)
SEEDS = range(1, 6)


def main(iterations: int) -> dict[str, Any]:
    """Ratios of nash_conv, means over the seeds."""
    rows = []
    for rounds in ROUNDS:
        alone = [_alone(seed, iterations, rounds) for seed in SEEDS]
        for parts in PARTS:
            results = [_in_rounds(seed, iterations, rounds, parts) for seed in SEEDS]
            row = {
                "rounds": rounds,
                "parts": parts,
                "nash_conv": float(np.mean(results)),
                "one_process": float(np.mean(alone)),
                "ratio": float(np.mean(results) / np.mean(alone)),
            }
            rows.append(row)
            print(row, file=sys.stderr)
    what = f"Leduc, {iterations:,} iterations of external sampling in all, means of {len(SEEDS)} seeds"
    return record(played={}, what=what, rows=rows)


def _alone(seed: int, iterations: int, rounds: int) -> float:
    solver = leduc(seed=seed, batch=100, discount_every=iterations // rounds)
    solver.run(iterations=iterations)
    return solver.metrics()["nash_conv"]


def _in_rounds(seed: int, iterations: int, rounds: int, parts: int) -> float:
    plan = RoundPlan(parts, iterations // rounds // parts)
    with Rounds(partial(leduc, seed=seed, batch=100), _Here(), plan) as solver:
        solver.run(iterations=iterations)
    return solver.metrics()["nash_conv"]


class _Here(Cluster):
    """This process."""

    one_machine = True
    workers = 1

    @contextmanager
    def team(self, work: Work[T, R]) -> Iterator[Team[T, R]]:
        yield _Alone(work)


class _Alone(Team[T, R]):
    def __init__(self, work: Work[T, R]) -> None:
        self._function = work.prepare()

    def run(self, tasks: Iterable[T]) -> Iterator[R]:
        yield from map(self._function, tasks)

    def share(self, array: NDArray[Any]) -> SharedArray:
        return _Copy(array.copy())


@dataclass(frozen=True)
class _Copy:
    array: NDArray[Any]

    def get(self) -> NDArray[Any]:
        return self.array


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_536_000), indent=1))
