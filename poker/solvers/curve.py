"""Learning curves: what a solver had reached after how many iterations and CPU seconds, as JSON lines.

The first line of `curve_<game>_<solver>_<settings>.jsonl` says how the run was made, every other line is a point. A run
that continues from a checkpoint drops the points after it and writes them again.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poker.artifacts import fingerprint_of, write_atomically
from poker.errors import PokernetsError
from poker.provenance import provenance


@dataclass(frozen=True)
class CurvePlan:
    """Points at `first` iterations and then `per_decade` times for every factor of ten, evenly in the logarithm.

    With `snapshots` the policy of every point is stored beside the output, as `<output>.snapshots/<iterations>`.
    """

    first: int
    per_decade: int
    snapshots: bool

    def __post_init__(self) -> None:
        if self.first < 1 or self.per_decade < 1:
            raise PokernetsError("job.curve needs first and per_decade of at least 1")

    def after(self, iterations: int) -> int:
        """The first point that comes after `iterations`."""
        step = 0
        if iterations >= self.first:
            step = math.floor(self.per_decade * math.log10(iterations / self.first))
        while (point := round(self.first * 10 ** (step / self.per_decade))) <= iterations:
            step += 1
        return point


class Curve:
    """The points of one run, in `folder`. `config` (with `game` and `solver`) identifies it."""

    def __init__(self, folder: str | Path, config: dict[str, Any], plan: CurvePlan, *, iterations: int) -> None:
        name = f"curve_{config['game']}_{config['solver']}_{fingerprint_of(config)[:12]}.jsonl"
        self.path = Path(folder) / name
        self.plan = plan
        stored = read_points(self.path)[1] if self.path.exists() else []
        kept = [point for point in stored if point["iterations"] <= iterations]
        self.due = plan.after(kept[-1]["iterations"] if kept else 0)
        lines = [json.dumps({**config, **provenance()}), *map(json.dumps, kept)]
        write_atomically(self.path, "".join(f"{line}\n" for line in lines).encode())

    def add(self, iterations: int, **found: Any) -> None:
        """The point that was due, reached after `iterations`."""
        with self.path.open("a") as file:
            file.write(json.dumps({"iterations": iterations, **found}) + "\n")
        self.due = self.plan.after(iterations)


def read_points(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """How a curve was made, and its points; a last line that was cut off is left out."""
    lines = path.read_text().splitlines(keepends=True)
    whole = [json.loads(line) for line in lines if line.endswith("\n")]
    if not whole:
        raise PokernetsError(f"{path} is no learning curve: it has no complete line")
    return whole[0], whole[1:]
