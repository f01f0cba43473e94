"""`evaluate=learning_curve`: the curves that `job=blueprint` wrote, as the three figures of [SUCT] and their numbers.

The measure depends on the game:

- Kuhn: mean squared error to the nearest equilibrium.
- Leduc and other small games: nash_conv in chips per hand.
- Larger games: duplicate matches of the stored snapshots in mbb per hand, against a caller and between solvers after
  equal training. Each result is written to `out/<game>/matches.jsonl` as soon as it is known.

Runs that differ only in the seed form one curve, with 95% intervals over runs. A single run has the interval of its
match, or none. Runs that ended before the longest one, or that repeat a seed, are left out.
"""

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress

from poker.abstraction.dealers import dealer_of
from poker.abstraction.loading import game_cards
from poker.game.rules import Rules
from poker.report import Figure, Report, Section, Table, charts
from poker.report.charts import Curve
from poker.report.estimates import Estimate, estimate
from poker.run.errors import PokernetsError
from poker.run.progress import progress_bars
from poker.solvers.blueprint import Blueprint, always_call
from poker.solvers.curve import Run, RunGroup, common_points, finished, read_runs, shared_settings
from poker.solvers.kuhn import is_kuhn
from poker.solvers.policy_match import play_match
from poker.store.artifacts import fingerprint_of
from poker.store.lines import JsonLines

CurvePoints = dict[int, tuple[float, Estimate]]
"""Maps iterations to CPU seconds and the measured value, as means over runs."""
_CALLER = "always_call"
"""Name of the caller, the opponent in larger games."""


def run(
    *, game: Rules, curves: Sequence[str], abstraction: str, hands: int, seed: int, fresh: bool = False, out: str
) -> dict[str, Any]:
    """Read the curves of a game, compare them, and write the report.

    Args:
        curves: folders with curves.
        abstraction: card abstraction of larger games.
        hands: number of hands for each point and run of a larger game.
        seed: seed of the deals. With a run's number it determines the deals, the same at every point.
        fresh: whether to ignore stored match results.
        out: folder of the reports.

    Returns:
        The record of the report.

    Raises:
        PokernetsError: a run stored no snapshots, or they were overwritten.
    """
    folder = Path(out) / game.name
    read = read_runs(game, [Path(folder) for folder in curves])
    groups = {name: finished(runs) for name, runs in read.items()}
    exact = "mse" if is_kuhn(game) else "nash_conv"
    measured = all(exact in point for runs in groups.values() for one in runs for point in one.points.values())
    record: dict[str, Any] = {"game": game.name}
    if measured:
        value = "mean squared error" if exact == "mse" else "nash_conv, chips per hand"
        lines = {name: _measured(runs, exact) for name, runs in groups.items()}
    else:
        value = "mbb per hand"
        pairs: dict[str, tuple[RunGroup, RunGroup | None]] = {
            f"{name} vs {_CALLER}": (runs, None) for name, runs in groups.items()
        }
        for (name, runs), (other, others) in itertools.combinations(groups.items(), 2):
            pairs[f"{name} vs {other}"] = (runs, others)
        with progress_bars("matches") as progress:
            matches = _Matches(game, abstraction, hands, seed, folder / "matches.jsonl", fresh, progress)
            lines = {title: matches.won(title, *pair) for title, pair in pairs.items()}
            record |= {"hands_per_point": hands, "opponent": _CALLER}
        record["leads"] = {title: _lead(lines[title]) for title, (_, others) in pairs.items() if others is not None}
    rows = _table(lines)
    record |= {
        "value": value,
        "runs": {name: len(runs) for name, runs in groups.items()},
        "runs_left_out": {name: len(read[name]) - len(runs) for name, runs in groups.items()},
        "settings": {name: shared_settings(runs[0]) for name, runs in groups.items()},
        "seeds": {name: [one.header.get("seed", 0) for one in runs] for name, runs in groups.items()},
        "table": [{"iterations": n, **{name: value.record() for name, value in row.items()}} for n, row in rows],
        "curves": {
            name: [{"iterations": n, "cpu_seconds": cpu, **value.record()} for n, (cpu, value) in points.items()]
            for name, points in lines.items()
        },
    }
    title = f"Learning curves, {game.name}"
    note = "means over runs, with 95% intervals over runs; of a single run, that of its match"
    draw = partial(charts.curves, title, value, [_drawn(*line) for line in lines.items()], logarithmic=measured)
    sections: list[Section] = [
        Figure("results", draw),
        Table(["iterations", *lines], [[n, *map(row.get, lines)] for n, row in rows], value, note),
    ]
    if leads := record.get("leads"):
        led = [[title, lead["behind_until"], lead["ahead_from"]] for title, lead in leads.items()]
        note = "iterations; of the first of the two, by the 95% interval of each point"
        sections.append(Table(["match", "behind until", "ahead from"], led, "Who leads", note))
    scalars = {name: [(n, value) for n, (_, value) in points.items()] for name, points in lines.items()}
    return Report(title, sections, record, scalars).write(folder)


def _drawn(name: str, points: CurvePoints) -> Curve:
    seconds, values = zip(*points.values(), strict=True)
    return Curve(name, {"iterations": np.array(list(points), float), "CPU seconds": np.array(seconds)}, values)


class _Matches:
    """Match play of snapshots, with results stored as JSON lines."""

    def __init__(
        self, game: Rules, abstraction: str, hands: int, seed: int, path: Path, fresh: bool, progress: Progress
    ) -> None:
        self._cards = game_cards(game, abstraction)
        self._dealer = dealer_of(game, self._cards)
        self._caller: Blueprint | None = None
        self._hands = hands
        self._seed = seed
        self._progress = progress
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = JsonLines(path)
        self._file.cut_unfinished()
        self._results = {} if fresh else {key: Estimate(*row) for key, [row] in self._file.rows()}

    def won(self, title: str, runs: RunGroup, others: RunGroup | None) -> CurvePoints:
        """Return winnings per hand at equal iterations, run by run, from other runs or else from a caller."""
        stops = [n for n in common_points(runs) if others is None or n in common_points(others)]
        numbered = list(enumerate(zip(runs, others or runs, strict=False)))
        bar = self._progress.add_task(title, total=len(stops) * len(numbered), found="")

        def against(n: int) -> Estimate:
            results = []
            for number, (one, other) in numbered:
                policy = self._snapshot(one, n)
                if others is None:
                    rival = self._caller = self._caller or always_call(policy.tree, self._cards, policy.sampling)
                else:
                    rival = self._snapshot(other, n)
                results.append(self._match(policy, rival, number))
                self._progress.update(bar, advance=1, found=f"{n:,} iterations: {results[-1]:+} mbb")
            return results[0] if len(results) == 1 else estimate([result.mean for result in results])

        return _points(runs, stops, against)

    def _match(self, policy: Blueprint, rival: Blueprint, number: int) -> Estimate:
        deals = (self._seed, number)  # otherwise means over runs would share luck
        key = fingerprint_of([policy.fingerprint, rival.fingerprint, self._hands, deals])
        if key not in self._results:
            seeds = np.random.SeedSequence(deals)
            self._results[key] = estimate(play_match(policy, rival, self._dealer, self._hands, seeds))
            self._file.append([[key, [astuple(self._results[key])]]])
        return self._results[key]

    def _snapshot(self, one: Run, iterations: int) -> Blueprint:
        point = one.points[iterations]
        path = point.get("snapshot")
        if path is None:
            raise PokernetsError(
                f"the run of {one.header['solver']} stored no policies: train with job.curve.snapshots=true"
            )
        policy = Blueprint.load(path, self._cards)
        if policy.fingerprint != point.get("fingerprint", policy.fingerprint):
            raise PokernetsError(
                f"{path} was overwritten by another run, so the policies of {one.path} are lost: delete this"
                " curve, or train it again in another folder"
            )
        return policy


def _measured(runs: RunGroup, metric: str) -> CurvePoints:
    """Return means over runs of what the job measured at each point."""
    return _points(runs, common_points(runs), lambda n: estimate([one.points[n][metric] for one in runs]))


def _points(runs: RunGroup, stops: list[int], value: Callable[[int], Estimate]) -> CurvePoints:
    return {n: (float(np.mean([one.points[n]["cpu_seconds"] for one in runs])), value(n)) for n in stops}


def _table(lines: Mapping[str, CurvePoints]) -> list[tuple[int, dict[str, Estimate]]]:
    """Return iterations and the value of each curve, by name, at the powers of ten and at the end."""
    last = max((n for points in lines.values() for n in points), default=1)
    rows = []
    for stop in dict.fromkeys([*(10**k for k in range(math.floor(math.log10(last)) + 1)), last]):
        row = {
            name: value
            for name, points in lines.items()
            for n, (_, value) in points.items()
            if abs(n - stop) <= 0.02 * stop
        }
        if row:
            rows.append((stop, row))
    return rows


def _lead(points: CurvePoints) -> dict[str, int | None]:
    """Return the last point at which the first of two solvers is behind, and the first from which it is always ahead.

    Both use the interval of each point. So if the solvers are equal, one point in 40 may show either.
    """
    behind = [n for n, (_, lead) in points.items() if lead.high < 0]
    ahead = list(itertools.takewhile(lambda n: points[n][1].low > 0, reversed(points)))
    return {"behind_until": behind[-1] if behind else None, "ahead_from": ahead[-1] if ahead else None}
