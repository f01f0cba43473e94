"""`evaluate=learning_curve`: the curves that `job=blueprint` wrote, as the three figures of [SUCT] and their numbers.

Kuhn: mean squared error to the nearest equilibrium. Leduc and other small games: nash_conv in chips per hand. Larger
games: duplicate match play of the stored snapshots, in mbb per hand, against a fixed opponent and between solvers after
equal training. Runs that differ in the seed alone are one curve, with 95% intervals over runs; a single run has the
interval of its match, or none. Runs that ended before the longest of them are left out.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from poker.abstraction.buckets import game_cards
from poker.abstraction.dealers import dealer_of
from poker.artifacts import canonical_json
from poker.errors import PokernetsError
from poker.evaluation.policy_match import always_call, play_itself, play_match
from poker.report import Figure, Report, Section, Table, charts
from poker.report.charts import Curve
from poker.report.estimates import Estimate, estimate
from poker.rules import Rules
from poker.solvers.blueprint import Blueprint
from poker.solvers.curve import read_points
from poker.solvers.kuhn import is_kuhn

_OF_RUN = ("seed", "command", "configuration", "time", "commit", "machine", "versions")
"""Keys of a curve's first line in which runs of one solver may differ."""


@dataclass(frozen=True)
class Run:
    """One training run: how it was made, and its points by iterations."""

    header: dict[str, Any]
    points: dict[int, dict[str, Any]]


Group = list[Run]
"""Runs that differ in the seed alone, in the order of their seeds."""
Points = dict[int, tuple[float, Estimate]]
"""CPU seconds and what was found, means over runs, by iterations."""


def run(
    *,
    game: Rules,
    curves: Sequence[str],
    abstraction: str,
    opponent: str | None,
    hands: int,
    seed: int,
    out: str,
) -> dict[str, Any]:
    """Reads the curves of `game` in the folders `curves`; `opponent` is a blueprint, null for one that always calls.

    `hands` are played for each point of a larger game, with deals of `seed`.
    """
    read = _groups(game, [Path(folder) for folder in curves])
    groups = {name: _finished(runs) for name, runs in read.items()}
    exact = "mse" if is_kuhn(game) else "nash_conv"
    known = all(exact in point for runs in groups.values() for one in runs for point in one.points.values())
    record: dict[str, Any] = {"game": game.name}
    if known:
        value = "mean squared error" if exact == "mse" else "nash_conv, chips per hand"
        lines = {name: _measured(runs, exact) for name, runs in groups.items()}
    else:
        value = "mbb per hand"
        matches = _Matches(game, abstraction, opponent, hands, seed)
        opponent = Path(opponent).name if opponent else "always_call"
        lines = {f"{name} vs {opponent}": matches.won(runs, None) for name, runs in groups.items()}
        for (name, runs), (other, others) in itertools.combinations(groups.items(), 2):
            lines[f"{name} vs {other}"] = matches.won(runs, others)
        record |= {"hands_per_point": hands, "opponent": opponent}
        record["self_play"] = {name: matches.self_play(runs) for name, runs in groups.items()}
    rows = _table(lines)
    crossings = _crossings(lines) if known else []
    record |= {
        "value": value,
        "runs": {name: len(runs) for name, runs in groups.items()},
        "unfinished_runs": {name: len(read[name]) - len(runs) for name, runs in groups.items()},
        "settings": {name: _shared(runs[0].header) for name, runs in groups.items()},
        "seeds": {name: [one.header.get("seed", 0) for one in runs] for name, runs in groups.items()},
        "table": [{"iterations": n, **{name: found.record() for name, found in row.items()}} for n, row in rows],
        "crossings": crossings,
        "curves": {
            name: [{"iterations": n, "cpu_seconds": cpu, **found.record()} for n, (cpu, found) in points.items()]
            for name, points in lines.items()
        },
    }
    title = f"Learning curves, {game.name}"
    note = "means over runs, with 95% intervals over runs; of a single run, that of its match"
    draw = partial(charts.curves, title, value, [_drawn(*line) for line in lines.items()], logarithmic=known)
    sections: list[Section] = [
        Figure("results", draw),
        Table(["iterations", *lines], [[n, *map(row.get, lines)] for n, row in rows], value, note),
    ]
    if crossings:
        columns = ("solver", "falls below", "iterations", "value")
        crossed = [[crossing[key.replace(" ", "_")] for key in columns] for crossing in crossings]
        note = "where the mean of one curve falls below that of another"
        sections.append(Table(columns, crossed, "Crossings", note))
    scalars = {name: [(n, found) for n, (_, found) in points.items()] for name, points in lines.items()}
    return Report(title, sections, record, scalars).write(Path(out) / game.name)


def _drawn(name: str, points: Points) -> Curve:
    seconds, found = zip(*points.values(), strict=True)
    return Curve(name, {"iterations": np.array(list(points), float), "CPU seconds": np.array(seconds)}, found)


class _Matches:
    """Match play of the snapshots of runs."""

    def __init__(self, game: Rules, abstraction: str, opponent: str | None, hands: int, seed: int) -> None:
        self._cards = game_cards(game, abstraction)
        self._dealer = dealer_of(game, self._cards)
        self._opponent = None if opponent is None else Blueprint.load(opponent, self._cards)
        self._hands = hands
        self._seed = seed

    def won(self, runs: Group, others: Group | None) -> Points:
        """From the others at equal iterations, run by run, or from the opponent."""

        def against(n: int) -> Estimate:
            results = []
            for one, other in zip(runs, others or runs, strict=False):
                policy = self._snapshot(one, n)
                if others is None:
                    rival = self._opponent = self._opponent or always_call(policy.tree, self._cards, policy.sampling)
                else:
                    rival = self._snapshot(other, n)
                results.append(play_match(policy, rival, self._dealer, self._hands, self._seed))
            return results[0] if len(results) == 1 else estimate([result.mean for result in results])

        return _points(runs, [n for n in _common(runs) if others is None or n in _common(others)], against)

    def self_play(self, runs: Group) -> list[dict[str, Any]]:
        """By seat: what the last snapshot of the first run wins against itself."""
        policy = self._snapshot(runs[0], _common(runs)[-1])
        values = play_itself(policy, self._dealer, self._hands, self._seed)
        return [{"seat": seat, "mbb": value.mean, **value.interval()} for seat, value in enumerate(values)]

    def _snapshot(self, one: Run, iterations: int) -> Blueprint:
        path = one.points[iterations].get("snapshot")
        if path is None:
            raise PokernetsError(
                f"the run of {one.header['solver']} kept no policies to play with: train with job.curve.snapshots=true"
            )
        return Blueprint.load(path, self._cards)


def _groups(game: Rules, folders: list[Path]) -> dict[str, Group]:
    """Runs of the game by name of their solver; names say what differs where one solver ran with several settings."""
    files = sorted(file for folder in folders for file in folder.rglob(f"curve_{game.name}_*.jsonl"))
    by_settings: dict[str, Group] = {}
    for file in files:
        header, points = read_points(file)
        if points:
            one = Run(header, {point["iterations"]: point for point in points})
            by_settings.setdefault(canonical_json(_shared(header)), []).append(one)
    if not by_settings:
        places = ", ".join(str(folder) for folder in folders)
        raise PokernetsError(
            f"no learning curve of {game.name} under {places}: train with job=blueprint job.runs=FOLDER"
        )
    groups = sorted(by_settings.values(), key=lambda runs: str(runs[0].header["solver"]))
    for runs in groups:
        runs.sort(key=lambda one: int(one.header.get("seed", 0)))
    return {_name(runs, groups): runs for runs in groups}


def _finished(runs: Group) -> Group:
    """The runs that came as far as any of them."""
    end = max(max(one.points) for one in runs)
    return [one for one in runs if max(one.points) == end]


def _shared(header: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in header.items() if key not in _OF_RUN}


def _name(runs: Group, groups: list[Group]) -> str:
    mine = _shared(runs[0].header)
    name = str(mine["solver"])
    namesakes = [_shared(other[0].header) for other in groups if other[0].header["solver"] == name]
    differing = [key for key in mine if len({str(other.get(key)) for other in namesakes}) > 1]
    return " ".join([name, *(f"{key}={mine[key]}" for key in differing)])


def _common(runs: Group) -> list[int]:
    """Iterations at which all runs have a point."""
    return sorted(set.intersection(*(set(one.points) for one in runs)))


def _measured(runs: Group, metric: str) -> Points:
    """Means over runs of what the job measured at each point."""
    return _points(runs, _common(runs), lambda n: estimate([one.points[n][metric] for one in runs]))


def _points(runs: Group, stops: list[int], found: Callable[[int], Estimate]) -> Points:
    return {n: (float(np.mean([one.points[n]["cpu_seconds"] for one in runs])), found(n)) for n in stops}


def _table(lines: Mapping[str, Points]) -> list[tuple[int, dict[str, Estimate]]]:
    """Each curve, by name, at the powers of ten and at its end: iterations and what was found."""
    last = max((n for points in lines.values() for n in points), default=1)
    rows = []
    for stop in dict.fromkeys([*(10**k for k in range(math.floor(math.log10(last)) + 1)), last]):
        row = {
            name: found
            for name, points in lines.items()
            for n, (_, found) in points.items()
            if abs(n - stop) <= 0.02 * stop
        }
        if row:
            rows.append((stop, row))
    return rows


def _crossings(lines: Mapping[str, Points]) -> list[dict[str, Any]]:
    """Where the mean of one curve falls below that of another, between points linearly in both logarithms."""
    crossings = []
    for (a, points), (b, others) in itertools.combinations(lines.items(), 2):
        shared = sorted(set(points) & set(others))
        x, y, z = (
            np.log(v) for v in (shared, [points[n][1].mean for n in shared], [others[n][1].mean for n in shared])
        )
        below = y - z
        for i in np.flatnonzero(np.sign(below[:-1]) * np.sign(below[1:]) < 0):
            share = below[i] / (below[i] - below[i + 1])
            where, value = (float(np.exp((1 - share) * v[i] + share * v[i + 1])) for v in (x, y))
            lower, upper = (a, b) if below[i + 1] < 0 else (b, a)
            crossings.append({"falls_below": upper, "solver": lower, "iterations": round(where), "value": value})
    return crossings
