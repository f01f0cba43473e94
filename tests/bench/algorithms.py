"""Exploitability of the CFR family on ten spots (tests/bench/spots.json), against iterations and against CPU seconds.

`python -m tests.bench.algorithms OUT` writes OUT.json and OUT.png. Seconds are those of one thread, measurements of
exploitability left out. The score of an algorithm is the geometric mean over spots of the iterations that it needs to a
given exploitability, relative to DCFR's.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from poker.solvers.vector.schedules import Schedule, schedule
from poker.solvers.vector.solver import VectorSolver
from poker.solvers.vector.spot.spots import spot_of
from tests.bench import schedules
from tests.bench.record import record

SPOTS = json.loads((Path(__file__).parent / "spots.json").read_text())
ALGORITHMS: dict[str, Schedule] = {
    "CFR+": schedule("cfr_plus"),
    "CFR+ of Modicum": schedules.MODICUM,
    "linear CFR": schedules.LINEAR,
    "DCFR": schedule("dcfr", gamma=2.0),
    "DCFR gamma 4": schedule("dcfr"),
    "PCFR+": schedules.PCFR_PLUS,
    "PDCFR+": schedules.PDCFR_PLUS,
    "APCFR+": schedules.APCFR_PLUS,
    "APDCFR": schedule("apdcfr"),
    "HS-DCFR": schedules.HS_DCFR,
    "HS-PCFR+": schedules.HS_PCFR_PLUS,
}
TARGETS = (1.0, 0.5, 0.25, 0.1)
MOST, STEP = 400, 10


def measure(spot: dict[str, Any], algorithm: Schedule) -> dict[str, list[float]]:
    """Iterations, seconds and exploitability (% of pot) every STEP iterations until the last target or MOST."""
    read = spot_of(spot)
    solver = VectorSolver(read.game(), algorithm)
    curve: dict[str, list[float]] = {"iterations": [], "seconds": [], "exploitability_percent_pot": []}
    seconds = 0.0
    while solver.iterations < MOST:
        begin = time.thread_time()
        solver.advance(STEP)
        seconds += time.thread_time() - begin
        found = 100 * solver.exploitability() / read.pot
        for key, value in zip(curve, (solver.iterations, seconds, found), strict=True):
            curve[key].append(value)
        if found <= TARGETS[-1]:
            break
    return curve


def iterations_to(curve: dict[str, list[float]], target: float) -> float:
    """First measured iteration at or below `target`, infinite when there is none."""
    for iterations, found in zip(curve["iterations"], curve["exploitability_percent_pot"], strict=True):
        if found <= target:
            return iterations
    return float("inf")


def scores(curves: dict[str, dict[str, dict[str, list[float]]]]) -> dict[str, dict[str, float]]:
    """Per algorithm and target: geometric mean of iterations relative to DCFR; unreached counts as 2 * MOST."""
    out: dict[str, dict[str, float]] = {}
    for name in ALGORITHMS:
        out[name] = {}
        for target in TARGETS:
            ratios = []
            for spot in curves:
                mine, base = (min(iterations_to(curves[spot][n], target), 2 * MOST) for n in (name, "DCFR"))
                ratios.append(mine / base)
            out[name][str(target)] = float(np.exp(np.mean(np.log(ratios))))
    return out


def picture(curves: dict[str, dict[str, dict[str, list[float]]]]) -> Figure:
    figure = Figure(figsize=(22, 18), layout="constrained")
    FigureCanvasAgg(figure)
    for row, axis in enumerate(("iterations", "seconds")):
        for column, (spot, by_name) in enumerate(curves.items()):
            axes = figure.add_subplot(4, 5, 10 * row + column + 1)
            for name, curve in by_name.items():
                axes.loglog(curve[axis], curve["exploitability_percent_pot"], label=name, linewidth=1.2)
            axes.set_title(spot, fontsize=9)
            axes.set_xlabel(axis)
            if column % 5 == 0:
                axes.set_ylabel("exploitability, % of pot")
    figure.axes[0].legend(fontsize=7)
    return figure


def main(out: Path) -> None:
    curves = {
        spot: {name: measure(text, algorithm) for name, algorithm in ALGORITHMS.items()} for spot, text in SPOTS.items()
    }
    sizes = {spot: spot_of(text).game().hand_actions for spot, text in SPOTS.items()}
    found = record(iterations_relative_to_dcfr=scores(curves), hand_actions=sizes, curves=curves)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.with_suffix(".json").write_text(json.dumps(found) + "\n")
    picture(curves).savefig(out.with_suffix(".png"), dpi=80)
    print(json.dumps(found["iterations_relative_to_dcfr"], indent=1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.bench.algorithms")
    parser.add_argument("out", type=Path)
    main(parser.parse_args().out)
