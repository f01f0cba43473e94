"""Where Smooth UCT overtakes UCT for good by a learning curve of matches: `python -m tests.bench.crossing`.

Reads docs/results/smooth_uct/limit_2p.json and puts `crossing` there. The points are of one run of each solver, so two
kinds of noise are drawn from, 20,000 times: that of each match, independent from point to point, and the scatter of the
points about their neighbours, of which the second differences tell the standard deviation; that has both the match's
noise and what a snapshot a little earlier or later would show. Neither has what another seed would give.
"""

import json
from typing import Any

import numpy as np

from poker.kernels.types import Floats
from tests.evidence.tables import RESULTS

FILE = RESULTS / "smooth_uct" / "limit_2p.json"
_FIRST, _DRAWS = 1e9, 20_000


def crossing(iterations: Floats, leads: Floats) -> float:
    """Iterations [n] at the last point where the leads [n] turn positive, linearly in the logarithm; infinite where the
    last of them is negative."""
    turns = np.flatnonzero((leads[:-1] < 0) & (leads[1:] >= 0))
    if leads[-1] < 0 or not len(turns):
        return np.inf if leads[-1] < 0 else float(iterations[0])
    at = turns[-1]
    share = leads[at] / (leads[at] - leads[at + 1])
    return float(iterations[at] * (iterations[at + 1] / iterations[at]) ** share)


def measured(points: list[dict[str, Any]]) -> dict[str, Any]:
    """The crossing of a curve after `_FIRST` iterations, from points that are evenly spaced."""
    even = [point for point in points[:-1] if point["iterations"] >= _FIRST]  # the last is beside the one before it
    iterations = np.array([point["iterations"] for point in even], dtype=np.float64)
    leads = np.array([point["mean"] for point in even])
    matches = np.array([np.diff(point["interval_95"])[0] / 2 / 1.96 for point in even])
    scatter = np.sqrt(np.square(leads[:-2] - 2 * leads[1:-1] + leads[2:]).mean() / 6)
    generator = np.random.default_rng(1)
    record: dict[str, Any] = {"at": crossing(iterations, leads), "from": int(_FIRST), "points": len(even)}
    for name, deviation in (("matches", matches), ("scatter", np.full(len(even), scatter))):
        draws = [crossing(iterations, leads + deviation * generator.normal(size=len(even))) for _ in range(_DRAWS)]
        low, high = np.quantile(draws, [0.025, 0.975], method="inverted_cdf")
        record[name] = {
            "standard_deviation": float(deviation.mean()),
            "interval_95": [float(low), None if np.isinf(high) else float(high)],
            "never": float(np.isinf(draws).mean()),
        }
    return record


def main() -> None:
    record = json.loads(FILE.read_text())
    record["crossing"] = measured(record["curves"]["smooth_uct vs uct"])
    FILE.write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["crossing"], indent=1))


if __name__ == "__main__":
    main()
