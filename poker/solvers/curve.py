"""Learning curves: measures of a solver by iterations and CPU seconds, as JSON lines.

The first line of `curve_<game>_<solver>_<run>.jsonl` says how the run was made, every other line is a point. A run is
known by its settings and the place of its output; one that continues from a checkpoint drops the points after it and
writes them again. Runs that differ in the seed alone belong to one curve.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from poker.game.rules import Rules
from poker.run.errors import PokernetsError
from poker.store.artifacts import Artifact, canonical_json, fingerprint_of
from poker.store.lines import JsonLines
from poker.store.provenance import provenance

_OF_RUN = ("seed", "command", "configuration", "artifacts", "time", "commit", "machine", "versions")
"""Keys of a curve's first line in which runs of one solver may differ."""


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


class CurveLog:
    """The points of one run, in `folder`. `config` (with `game` and `solver`) and `output` identify it.

    `snapshot` stores the policy that there is after so many iterations.
    """

    def __init__(
        self,
        folder: str | Path,
        config: dict[str, Any],
        plan: CurvePlan,
        *,
        output: str,
        iterations: int,
        snapshot: Callable[[int], Artifact] | None = None,
    ) -> None:
        run = fingerprint_of({**config, "output": output})[:12]
        self.path = Path(folder) / f"curve_{config['game']}_{config['solver']}_{run}.jsonl"
        self.plan = plan
        self._snapshot = snapshot
        stored = read_points(self.path)[1] if self.path.exists() else []
        points = [point for point in stored if point["iterations"] <= iterations]
        self.due = plan.after(points[-1]["iterations"] if points else 0)
        self._lines = JsonLines(self.path)
        self._lines.replace([{**config, **provenance()}, *points])

    def add(self, iterations: int, **measures: Any) -> None:
        """Write the point that was due, reached after `iterations`."""
        if self._snapshot is not None:
            artifact = self._snapshot(iterations)
            measures |= {"snapshot": str(artifact.path), "fingerprint": artifact.fingerprint}
        self._lines.append([{"iterations": iterations, **measures}])
        self.due = self.plan.after(iterations)


def read_points(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """First line of a curve, and its points; a last line that was cut off is left out."""
    whole = list(JsonLines(path).rows())
    if not whole:
        raise PokernetsError(f"{path} is no learning curve: it has no complete line")
    return whole[0], whole[1:]


@dataclass(frozen=True)
class Run:
    """One training run: the file of its curve, how it was made, and its points by iterations."""

    path: Path
    header: dict[str, Any]
    points: dict[int, dict[str, Any]]


RunGroup = list[Run]
"""Runs that differ in the seed alone, in the order of their seeds."""


def read_runs(game: Rules, folders: Sequence[Path]) -> dict[str, RunGroup]:
    """Runs of the game by name of their solver; names say what differs where one solver ran with several settings."""
    files = sorted(file for folder in folders for file in folder.rglob(f"curve_{game.name}_*.jsonl"))
    by_settings: dict[str, RunGroup] = {}
    for file in files:
        header, points = read_points(file)
        if points:
            one = Run(file, header, {point["iterations"]: point for point in points})
            by_settings.setdefault(canonical_json(shared_settings(one)), []).append(one)
    if not by_settings:
        places = ", ".join(str(folder) for folder in folders)
        raise PokernetsError(
            f"no learning curve of {game.name} under {places}: train with job=blueprint job.runs=FOLDER"
        )
    groups = sorted(by_settings.values(), key=lambda runs: str(runs[0].header["solver"]))
    for runs in groups:
        runs.sort(key=_seed)
    return {_name(runs, groups): runs for runs in groups}


def _seed(run: Run) -> int:
    return int(run.header.get("seed", 0))


def shared_settings(run: Run) -> dict[str, Any]:
    """Settings in which the runs of a group agree."""
    return {key: value for key, value in run.header.items() if key not in _OF_RUN}


def _name(runs: RunGroup, groups: Sequence[RunGroup]) -> str:
    mine = shared_settings(runs[0])
    name = str(mine["solver"])
    namesakes = [shared_settings(other[0]) for other in groups if other[0].header["solver"] == name]
    differing = [key for key in mine if len({str(other.get(key)) for other in namesakes}) > 1]
    return " ".join([name, *(f"{key}={mine[key]}" for key in differing)])


def finished(runs: RunGroup) -> RunGroup:
    """The runs that came as far as any of them; of several with one seed the first, as they are no sample."""
    end = max(max(one.points) for one in runs)
    by_seed = {_seed(one): one for one in reversed(runs) if max(one.points) == end}
    return [one for one in runs if by_seed.get(_seed(one)) is one]


def common_points(runs: RunGroup) -> list[int]:
    """Iterations at which all runs have a point."""
    return sorted(set.intersection(*(set(one.points) for one in runs)))
