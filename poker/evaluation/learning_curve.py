"""`evaluate=learning_curve`: the curves that `job=blueprint` wrote, as the three figures of [SUCT] and their numbers.

Kuhn: mean squared error to the nearest equilibrium. Leduc and other small games: nash_conv in chips per hand. Larger
games: duplicate match play of the stored snapshots, in mbb per hand, against a fixed opponent and between solvers after
equal training. Runs that differ in the seed alone are one curve, with 95% intervals over runs; a single run has the
interval of its match, or none. Runs that ended before the longest of them are left out.
"""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from poker.abstraction.buckets import game_cards
from poker.abstraction.dealers import dealer_of
from poker.artifacts import canonical_json
from poker.errors import PokernetsError
from poker.evaluation.curve import read_points
from poker.evaluation.matches.policy_match import always_call, play_itself, play_match
from poker.report import Figure, Report, Section, Table, charts
from poker.report.charts import Curve
from poker.report.estimates import Estimate, estimate
from poker.rules import Rules
from poker.solvers.blueprint import Blueprint
from poker.solvers.kuhn import is_kuhn

_OF_RUN = ("seed", "time", "commit", "machine", "versions")
"""Keys of a curve's first line in which runs of one solver may differ."""


@dataclass(frozen=True)
class Run:
    """One training run: how it was made, and its points by iterations."""

    header: dict[str, Any]
    points: dict[int, dict[str, Any]]


Group = list[Run]
"""Runs that differ in the seed alone."""


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
    found = _groups(game, [Path(folder) for folder in curves])
    groups = {name: _finished(runs) for name, runs in found.items()}
    exact = "mse" if is_kuhn(game) else "nash_conv"
    known = all(exact in point for runs in groups.values() for r in runs for point in r.points.values())
    record: dict[str, Any] = {"game": game.name}
    if known:
        value = "mean squared error" if exact == "mse" else "nash_conv, chips per hand"
        lines = [_exact_line(name, runs, exact) for name, runs in groups.items()]
    else:
        value = "mbb per hand"
        matches = _Matches(game, abstraction, opponent, hands, seed)
        lines = [matches.against_opponent(name, runs) for name, runs in groups.items()]
        lines += [matches.between(a, b) for a, b in itertools.combinations(groups.items(), 2)]
        record |= {"hands_per_point": hands, "opponent": _name_of(opponent)}
        record["self_play"] = {name: matches.self_play(runs) for name, runs in groups.items()}
    record |= {
        "value": value,
        "runs": {name: len(runs) for name, runs in groups.items()},
        "unfinished_runs": {name: len(found[name]) - len(runs) for name, runs in groups.items()},
        "settings": {name: _shared(runs[0].header) for name, runs in groups.items()},
        "seeds": {name: sorted(r.header.get("seed", 0) for r in runs) for name, runs in groups.items()},
        "table": [
            {"iterations": n, **{name: found.record() for name, found in row.items()}} for n, row in _table(lines)
        ],
        "crossings": _crossings(lines) if known else [],
        "curves": {line.name: _rows(line) for line in lines},
    }
    return _report(record, lines, logarithmic=known).write(Path(out) / game.name)


def _name_of(opponent: str | None) -> str:
    return Path(opponent).name if opponent else "always_call"


class _Matches:
    """Match play of the snapshots of runs; results by point are means over runs."""

    def __init__(self, game: Rules, abstraction: str, opponent: str | None, hands: int, seed: int) -> None:
        self._cards = game_cards(game, abstraction)
        self._dealer = dealer_of(game, self._cards)
        self._opponent = opponent
        self._hands = hands
        self._seed = seed

    def against_opponent(self, name: str, runs: Group) -> Curve:
        fixed = None if self._opponent is None else Blueprint.load(self._opponent, self._cards)
        found: list[tuple[int, Estimate]] = []
        for iterations in _common(runs):
            results = []
            for policy in (self._snapshot(r, iterations) for r in runs):
                fixed = fixed or always_call(policy.tree, self._cards, policy.sampling)
                results.append(play_match(policy, fixed, self._dealer, self._hands, self._seed))
            found.append((iterations, _over_runs(results)))
        return _line(f"{name} vs {_name_of(self._opponent)}", runs, found)

    def between(self, first: tuple[str, Group], second: tuple[str, Group]) -> Curve:
        """Pairs the runs in the order of their seeds."""
        (name, runs), (other_name, others) = first, second
        found = []
        for iterations in sorted(set(_common(runs)) & set(_common(others))):
            results = [
                play_match(
                    self._snapshot(a, iterations), self._snapshot(b, iterations), self._dealer, self._hands, self._seed
                )
                for a, b in zip(runs, others, strict=False)
            ]
            found.append((iterations, _over_runs(results)))
        return _line(f"{name} vs {other_name}", runs, found)

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


def _exact_line(name: str, runs: Group, key: str) -> Curve:
    found = [(n, estimate([one.points[n][key] for one in runs])) for n in _common(runs)]
    return _line(name, runs, found)


def _over_runs(results: list[Estimate]) -> Estimate:
    return results[0] if len(results) == 1 else estimate([result.mean for result in results])


def _line(name: str, runs: Group, found: list[tuple[int, Estimate]]) -> Curve:
    cpu = [float(np.mean([one.points[n]["cpu_seconds"] for one in runs])) for n, _ in found]
    clocks = {"iterations": np.array([n for n, _ in found], dtype=np.float64), "CPU seconds": np.array(cpu)}
    return Curve(name, clocks, [value for _, value in found])


def _points(line: Curve) -> list[tuple[int, Estimate]]:
    return [(int(n), found) for n, found in zip(line.clocks["iterations"], line.found, strict=True)]


def _rows(line: Curve) -> list[dict[str, Any]]:
    seconds = line.clocks["CPU seconds"].tolist()
    return [
        {"iterations": n, "cpu_seconds": cpu, **found.record()}
        for (n, found), cpu in zip(_points(line), seconds, strict=True)
    ]


def _table(lines: list[Curve]) -> list[tuple[int, dict[str, Estimate]]]:
    """Each curve, by name, at the powers of ten and at its end: iterations and what was found."""
    last = max((n for line in lines for n, _ in _points(line)), default=1)
    rows = []
    for stop in dict.fromkeys([*(10**k for k in range(math.floor(math.log10(last)) + 1)), last]):
        row = {line.name: found for line in lines for n, found in _points(line) if abs(n - stop) <= 0.02 * stop}
        if row:
            rows.append((stop, row))
    return rows


def _crossings(lines: list[Curve]) -> list[dict[str, Any]]:
    """Where the mean of one curve falls below that of another, between points linearly in both logarithms."""
    found = []
    for a, b in itertools.combinations(lines, 2):
        shared, at_a, at_b = np.intersect1d(a.clocks["iterations"], b.clocks["iterations"], return_indices=True)
        below = np.log(a.mean[at_a]) - np.log(b.mean[at_b])
        for i in np.flatnonzero(np.sign(below[:-1]) * np.sign(below[1:]) < 0):
            share = below[i] / (below[i] - below[i + 1])
            where, value = (
                float(np.exp((1 - share) * np.log(x[i]) + share * np.log(x[i + 1]))) for x in (shared, a.mean[at_a])
            )
            lower, upper = (a.name, b.name) if below[i + 1] < 0 else (b.name, a.name)
            found.append({"falls_below": upper, "solver": lower, "iterations": round(where), "value": value})
    return found


def _report(record: dict[str, Any], lines: list[Curve], *, logarithmic: bool) -> Report:
    title = f"Learning curves, {record['game']}"
    names = [line.name for line in lines]
    columns = ("solver", "falls below", "iterations", "value")
    crossings = [[crossing[key.replace(" ", "_")] for key in columns] for crossing in record["crossings"]]
    sections: list[Section] = [
        Figure("results", partial(charts.curves, title, record["value"], lines, logarithmic=logarithmic)),
        Table(
            ["iterations", *names],
            [[n, *map(row.get, names)] for n, row in _table(lines)],
            record["value"],
            "means over runs, with 95% intervals over runs; of a single run, that of its match",
        ),
    ]
    if crossings:
        note = "where the mean of one curve falls below that of another"
        sections.append(Table(columns, crossings, "Crossings", note))
    scalars = {line.name: [(n, found) for n, found in _points(line)] for line in lines}
    return Report(title, sections, record, scalars)
