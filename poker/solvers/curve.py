"""Learning curves: measures of a solver by iterations and CPU seconds, stored as JSON lines.

The first line of `curve_<game>_<solver>_<run>.jsonl` describes the run, and every other line is a point. A run is
identified by its settings and the path of its output. A run that continues from a checkpoint drops later points and
writes them again. Runs that differ only in the seed belong to one curve.
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

_RUN_KEYS = ("seed", "command", "configuration", "artifacts", "time", "commit", "machine", "versions")
"""Keys of a curve's header that may differ between runs of one group."""


@dataclass(frozen=True)
class CurvePlan:
    """The iterations at which a run is measured, evenly spaced in the logarithm.

    Attributes:
        first: iterations of the first point.
        per_decade: points for every factor of ten after it.
        snapshots: also store the policy of every point beside the output, as `<output>.snapshots/<iterations>`.

    Raises:
        PokernetsError: a number is smaller than 1.
    """

    first: int
    per_decade: int
    snapshots: bool

    def __post_init__(self) -> None:
        """Check the numbers."""
        if self.first < 1 or self.per_decade < 1:
            raise PokernetsError("job.curve needs first and per_decade of at least 1")

    def after(self, iterations: int) -> int:
        """Return the first point after `iterations`."""
        step = 0
        if iterations >= self.first:
            step = math.floor(self.per_decade * math.log10(iterations / self.first))
        while (point := round(self.first * 10 ** (step / self.per_decade))) <= iterations:
            step += 1
        return point


class CurveLog:
    """The points of one run, written to a file.

    Attributes:
        path: the file.
        plan: the iterations of the points.
        due: iterations of the next point.
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
        """Open the file and drop points after `iterations`.

        Args:
            folder: directory of the file.
            config: settings of the run, with `game` and `solver`.
            plan: the iterations of the points.
            output: path of the run's output, which identifies it together with `config`.
            iterations: iterations that the run has done.
            snapshot: stores the policy at the given iterations; None for no snapshots.
        """
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
        """Write the point that was due.

        Args:
            iterations: iterations done.
            **measures: measures by name.
        """
        if self._snapshot is not None:
            artifact = self._snapshot(iterations)
            measures |= {"snapshot": str(artifact.path), "fingerprint": artifact.fingerprint}
        self._lines.append([{"iterations": iterations, **measures}])
        self.due = self.plan.after(iterations)


def read_points(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Read the header and the points of a curve; an incomplete last line is ignored.

    Args:
        path: the file.

    Raises:
        PokernetsError: the file has no complete line.
    """
    lines = list(JsonLines(path).rows())
    if not lines:
        raise PokernetsError(f"{path} is not a learning curve: it has no complete line")
    return lines[0], lines[1:]


@dataclass(frozen=True)
class Run:
    """One training run.

    Attributes:
        path: file of its curve.
        header: settings of the run.
        points: points by iterations.
    """

    path: Path
    header: dict[str, Any]
    points: dict[int, dict[str, Any]]


RunGroup = list[Run]
"""Runs that differ only in the seed, ordered by seed."""


def read_runs(game: Rules, folders: Sequence[Path]) -> dict[str, RunGroup]:
    """Read the runs of a game, grouped by solver.

    If a solver ran with several settings, the names include the settings that differ.

    Args:
        folders: directories to search.

    Returns:
        Groups of runs by name.

    Raises:
        PokernetsError: there is no curve of the game.
    """
    files = sorted(file for folder in folders for file in folder.rglob(f"curve_{game.name}_*.jsonl"))
    by_settings: dict[str, RunGroup] = {}
    for file in files:
        header, points = read_points(file)
        if points:
            run = Run(file, header, {point["iterations"]: point for point in points})
            by_settings.setdefault(canonical_json(shared_settings(run)), []).append(run)
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
    """Return the settings that all runs of a group share."""
    return {key: value for key, value in run.header.items() if key not in _RUN_KEYS}


def _name(runs: RunGroup, groups: Sequence[RunGroup]) -> str:
    settings = shared_settings(runs[0])
    name = str(settings["solver"])
    namesakes = [shared_settings(group[0]) for group in groups if group[0].header["solver"] == name]
    differing = [key for key in settings if len({str(group.get(key)) for group in namesakes}) > 1]
    return " ".join([name, *(f"{key}={settings[key]}" for key in differing)])


def finished(runs: RunGroup) -> RunGroup:
    """Return the runs with the most iterations, one per seed.

    Of several runs with the same seed only the first is returned, because they are not independent.
    """
    end = max(max(run.points) for run in runs)
    by_seed = {_seed(run): run for run in reversed(runs) if max(run.points) == end}
    return [run for run in runs if by_seed.get(_seed(run)) is run]


def common_points(runs: RunGroup) -> list[int]:
    """Return the iterations at which all runs have a point."""
    return sorted(set.intersection(*(set(run.points) for run in runs)))
