"""The report of a match: between our agents, at a dealer, or replayed from a log."""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np

from poker.evaluation.matches.match_results import Contrast, MatchResults
from poker.evaluation.matches.results import SHORT, Results
from poker.play.hand_store import UNKNOWN
from poker.play.lineup import titled
from poker.report import Figure, Report, Section, Table, Text
from poker.report.charts import Curve, Series, crosstable, curve_panels, intervals_and_means
from poker.report.estimates import SETTLING, Estimate, estimate, settling
from poker.report.scalars import Scalar
from poker.store.provenance import commit

_SHOWN_FAILURES = 100
_NAMED_OPPONENTS = 3
_SHOWN_ROWS, _SHOWN_COLUMNS = 15, 5
"""Largest tables on the console if another table shows the main result; the page shows all tables."""
_LEARNING = 50
"""Least number of deals of a session that is reported in stages."""
_COURSE = 30
"""Number of points on the curve of a running mean."""


def match_report(
    results: MatchResults, hands: Path | None = None, *, title: str = "", record: Mapping[str, Any] | None = None
) -> Report:
    """Create the report of a match.

    Args:
        hands: folder of the hand histories, listed with the report's files.
        record: further entries of the record.
    """
    names = ", ".join(titled(name, settings) for name, settings in results.settings.items())
    title = title or f"{results.game.name}, seed {results.seed}: match of {names}"
    scalars = dict(_scalars(results))
    files = {} if hands is None else {"hand histories": hands}
    return Report(title, list(_sections(results, title)), {**_record(results), **(record or {})}, scalars, files)


def _sections(results: MatchResults, title: str) -> Iterator[Section]:
    lineups, unit = results.lineups, f"{results.unit}/hand"
    has_aivat = any(result.has_aivat for result in lineups)
    aivat = " AIVAT is an unbiased estimate too, with most of the luck removed." if has_aivat else ""
    what = f"{results.unit} per hand with 95% intervals over {_units(results)}, as ± or, if skewed, [low, high]."
    yield _results(results, f"{unit}, {title}", f"{what}{aivat}")
    if results.session > 1 and lineups[0].by_deal:
        yield Text(
            f"Agents learn during sessions of {results.session} deals, so intervals over deals can be too narrow."
            " Intervals over many sessions are valid."
        )
    if (looks := max(len(result.looks) for result in lineups)) > 1:
        yield Text(
            f"A line-up stops at the first of {looks} checks at which its result is significantly different from 0. Its"
            " intervals are wider, so that all checks together have a coverage of 95%."
        )
    if any(result.is_short for result in lineups) and results.settings:
        yield Text(SHORT, style="yellow")
    yield from _comparisons(results)
    standings = results.run_off()
    if len(standings) > 2:
        names, note = [one.name for one in standings], "coloured if significant at 95%"
        won = {name: {other: one for other, (one, _) in row.items()} for name, row in results.crosstable().items()}
        yield Figure("crosstable", lambda: crosstable(title, unit, names, won), "Who beats whom", note)
    settles = any(len(result.values()) > SETTLING for result in lineups)  # otherwise the table is enough
    if settles and (not standings or len(lineups) <= _SHOWN_ROWS):
        yield Figure("results", lambda: _picture(results, title), "Intervals and running means")
    if results.session >= _LEARNING:
        yield from _stages(results)
    if results.game.num_players > 2 and results.settings:
        yield from _places(results)
    times = [
        (name, result.lineup.title, street, took["n"], *(1e3 * took[which] for which in ("median", "p95", "max")))
        for result in lineups
        for (name, street), took in _seconds(result).items()
    ]
    if times:
        columns = ("agent", "line-up", "street", "decisions", "median", "95th percentile", "longest")
        note = "milliseconds, for the hands of this run"
        yield Table(columns, times, "Time per decision", note, console=False)
    for result in lineups:
        yield from _troubles(result)
    yield from _failures(lineups)
    yield from _other_commits(lineups)


def _stages(results: MatchResults) -> Iterator[Section]:
    """Return results by stage of a session, which show learning; a panel for each set of opponents of first agents."""
    clock, value = "deal of the session", f"{results.unit} per hand"
    rows: list[list[str]] = []
    panels: dict[str, list[Curve]] = {}
    for result in results.lineups:
        stages = result.by_stage(aivat=result.has_aivat)
        measure = "AIVAT" if result.has_aivat else "chips"
        rows.append([result.lineup.title, measure, *(f"{won:+}" for won in stages.values())])
        middles = np.array([np.mean([int(end) for end in stage.split("-")]) for stage in stages])
        first, *others = result.lineup.labels
        curve = Curve(first, {clock: middles}, list(stages.values()))
        panels.setdefault(f"against {' and '.join(others)}", []).append(curve)
    note = f"{value} of the first agent, by the number of the deal in its session"
    yield Table(("line-up", "by", *stages), rows, "Over a session", note, console=False)
    yield Figure("over_a_session", lambda: curve_panels("", value, clock, panels), note=note)


def _units(results: MatchResults) -> str:
    """Return the name of the units of the intervals."""
    if not results.lineups[0].by_deal and results.session > 1:
        return "sessions"
    return "deals" if len(results.lineups[0].seatings) > 1 else "hands"


def _results(results: MatchResults, heading: str, note: str) -> Table:
    """Return the table of results without empty columns; hands have one column if they are the units."""
    units = _units(results)
    rows: list[tuple[str, Estimate, Estimate | None, int | None, int | None]] = []
    for result in results.lineups:
        labels, heads_up = result.lineup.labels, len(result.lineup.labels) == 2
        reduced = result.estimates(aivat=True) if result.has_aivat else [None] * len(labels)
        for entry, won in enumerate(result.estimates()[: 1 if heads_up else None]):
            failures = sum(heads_up or incident.agent == labels[entry] for incident in result.incidents)
            name = result.lineup.title if heads_up else f"{labels[entry]}{_where(results, result)}"
            rows.append((name, won, reduced[entry], result.hands, failures or None))
    if len(results.lineups) > 1 and not results.is_round_robin:
        chips, aivat = results.by_agent(), results.by_agent(aivat=True)
        best = chips | aivat
        for name in sorted(chips, key=lambda name: -best[name].mean):
            rows.append((f"{name}, all line-ups", chips[name], aivat.get(name), None, None))
    has_aivat = any(result.has_aivat for result in results.lineups)
    used = (True, True, has_aivat, True, units != "hands", any(result.incidents for result in results.lineups))
    columns = list(compress(("result of", "chips", "AIVAT", "hands", units, "failures"), used))
    cells = [
        list(compress((name, f"{won:+}", "-" if reduced is None else f"{reduced:+}", hands, won.n, failures), used))
        for name, won, reduced, hands, failures in rows
    ]
    return Table(columns, cells, heading, note, console=not results.is_round_robin or len(rows) <= _SHOWN_ROWS)


def _where(results: MatchResults, result: Results) -> str:
    return f" at {result.lineup.title}" if len(results.lineups) > 1 else ""


def _comparisons(results: MatchResults) -> Iterator[Section]:
    table, standings = results.crosstable(), results.run_off()
    if len(standings) > 2:
        order = [one.name for one in standings]
        cells = {
            (name, other): f"{won:+}" if aivat else f"{won:+} c"
            for name, row in table.items()
            for other, (won, aivat) in row.items()
        }
        rows: list[list[object]] = [[name, *(cells.get((name, other), "") for other in order)] for name in order]
        note = f"row against column, {results.unit}/hand; AIVAT where known, c: chips"
        yield Table(("", *order), rows, "Everybody against everybody", note, console=len(rows) <= _SHOWN_COLUMNS)
        note = "the agent with the smallest result against the remaining agents (`then`) drops out, one after the other"
        lost_to = {name: [other for other, (won, _) in row.items() if won.high < 0] for name, row in table.items()}
        rows = [
            [place, one.name, one.all, one.left, ", ".join(lost_to[one.name])] for place, one in enumerate(standings, 1)
        ]
        yield Table(("place", "agent", "against all", "then", "loses to"), rows, "Standings", note)
    contrasts = results.contrasts()
    overall = list({(item.first, item.second): item for item in reversed(contrasts)}.values())[::-1]
    columns = ("difference", "against", "by", f"{results.unit}/hand", _units(results))
    if overall:
        note = "paired differences on the same cards"
        differences = [_contrast(item) for item in overall]
        yield Table(columns, differences, "Differences between agents", note, console=len(overall) <= _SHOWN_ROWS)
    if len(contrasts) > len(overall):
        note = "about one in twenty true differences lies outside its interval"
        by_opponent = [_contrast(item) for item in contrasts if item not in overall]
        yield Table(columns, by_opponent, "Differences by opponent", note, console=False)


def _contrast(item: Contrast) -> list[object]:
    many = len(item.against) > _NAMED_OPPONENTS
    against = f"{len(item.against)} opponents" if many else ", ".join(item.against)
    measure = "AIVAT" if item.aivat else "chips"
    return [f"{item.first} less {item.second}", against, measure, item.difference, item.difference.n]


def _picture(results: MatchResults, title: str) -> Any:
    series = []
    for result in results.lineups:
        labels = result.lineup.labels
        by_label = len(labels) != 2 or labels[0].endswith(f"@{labels[1]}")
        chips, aivat = result.values(), result.values(aivat=True) if result.has_aivat else None
        for entry, label in enumerate(labels[: 1 if len(labels) == 2 else None]):
            behind = None if aivat is None else chips[:, entry]
            front = chips if aivat is None else aivat
            units = front[~np.isnan(front[:, entry]), entry]
            series.append(Series(label if by_label else result.lineup.title, units, behind, result.error))
    measures = "AIVAT blue, chips grey" if any(one.behind is not None for one in series) else ""
    return intervals_and_means(title, f"{results.unit} per hand", _units(results), series, measures)


def _places(results: MatchResults) -> Iterator[Section]:
    """Return tables by agent, for line-ups of more than two."""
    for result in results.lineups:
        rows = [[name, len(result.places([name])), *won.values()] for name, won in _agents(result).items()]
        columns = ("agent", "places", *next(iter(_agents(result).values())))
        yield Table(columns, rows, f"Agents{_where(results, result)}", f"{results.unit}/hand, mean over places")


def _agents(result: Results) -> dict[str, dict[str, Estimate]]:
    """Return the mean of each agent's places, with intervals over units and over sessions."""
    return {
        name: {"mean": estimate(result.by_agent(name)), "over sessions": result.over_sessions(name)}
        for name in dict.fromkeys(result.lineup.players)
    }


def _troubles(result: Results) -> Iterator[Text]:
    """Return lines for the console about problems in a line-up."""
    for label, count in Counter(incident.agent for incident in result.incidents).items():
        first = next(incident for incident in result.incidents if incident.agent == label)
        yield Text(
            f"{label} failed {count:,} times at {result.lineup.title} (it checked or folded instead); first in hand"
            f" {first.hand} after `{first.betting}`: {first.error}",
            style="red",
        )
    for label, why in result.unknown.items():
        yield Text(f"{label} counts as unknown in AIVAT at {result.lineup.title}: {why}")


def _failures(lineups: Sequence[Results]) -> Iterator[Table]:
    rows = [(item.agent, result.lineup.title, item.hand, item.error) for result in lineups for item in result.incidents]
    if rows:
        note = f"checked or folded instead; the first {_SHOWN_FAILURES}"
        yield Table(("agent", "line-up", "hand", "error"), rows[:_SHOWN_FAILURES], "Failures", note, console=False)


def _other_commits(lineups: Sequence[Results]) -> Iterator[Text]:
    other = sum((result.commits for result in lineups), Counter[str]())
    other.pop(commit() or UNKNOWN, None)
    if other:
        hands_by = ", ".join(f"{hands:,} by {name}" for name, hands in other.items())
        yield Text(f"includes hands of other commits: {hands_by}; `fresh=true` plays all again", style="yellow")


def _record(results: MatchResults) -> dict[str, Any]:
    """Return the record of all results."""
    played = sum(result.hands - result.kept for result in results.lineups)
    chips, aivat = results.by_agent(), results.by_agent(aivat=True)
    standings = [
        {"agent": one.name, **_estimate_record(one.all)}
        | {"against_those_left": {"opponents": one.opponents_left, **_estimate_record(one.left)}}
        for one in results.run_off()
    ]
    return {
        "game": results.game.name,
        "definition": results.game.to_acpc(),
        "seed": results.seed,
        "session": results.session,
        "unit": f"{results.unit}/hand",
        "intervals_over": _units(results),
        "lineups": [_lineup_record(results, result) for result in results.lineups],
        "agents": {
            name: {
                **(_estimate_record(chips[name]) if name in chips else {}),
                **({"aivat": _estimate_record(aivat[name])} if name in aivat else {}),
                "settings": settings,
            }
            for name, settings in results.settings.items()
            if any(name in result.lineup.players for result in results.lineups)
        },
        **({"standings": standings} if standings else {}),
        "contrasts": [
            {
                "first": item.first,
                "second": item.second,
                "against": list(item.against),
                "by": "aivat" if item.aivat else "chips",
                **_estimate_record(item.difference),
            }
            for item in results.contrasts()
        ],
        "hands_per_second": round(played / results.seconds, 3) if results.seconds else None,
        "processes": results.processes,
    }


def _lineup_record(results: MatchResults, result: Results) -> dict[str, Any]:
    players: list[dict[str, Any]] = [
        {"agent": label, **_estimate_record(chips)}
        for label, chips in zip(result.lineup.labels, result.estimates(), strict=True)
    ]
    for player, chips in zip(players, result.estimates(aivat=True) if result.has_aivat else (), strict=False):
        player["aivat"] = _estimate_record(chips)
    multiplayer = results.game.num_players > 2 and bool(results.settings)
    agents = {
        name: {**_estimate_record(won["mean"]), "over_sessions": _estimate_record(won["over sessions"])}
        for name, won in (_agents(result).items() if multiplayer else ())
    }
    return {
        "players": players,
        **({"agents": agents} if multiplayer else {}),
        "hands": result.hands,
        "intervals_may_be_too_narrow": result.is_short,
        "sd_per_hand": {
            name: result.sd_per_hand(aivat=aivat) for name, aivat in result.measures.items() if result.hands > 1
        },
        **({"by_stage": _by_name(result.by_stage(aivat=result.has_aivat))} if results.session >= _LEARNING else {}),
        "stopped_early": result.stopped_at is not None,
        **({"error_of_intervals": result.error} if result.looks else {}),
        "kept_from_earlier_runs": result.kept,
        "hands_by_commit": result.commits,
        "unknown_to_aivat": result.unknown,
        "log": str(result.log.absolute()),
        "incidents": [vars(incident) for incident in result.incidents],
        "decision_seconds": {f"{name}, street {street}": took for (name, street), took in _seconds(result).items()},
    }


def _seconds(result: Results) -> dict[tuple[str, int], dict[str, float]]:
    """Return statistics of decision times, by agent and street."""
    return {
        place: {"median": float(np.median(s)), "p95": float(np.quantile(s, 0.95)), "max": max(s), "n": len(s)}
        for place, s in sorted(result.seconds.items())
    }


def _estimate_record(result: Estimate) -> dict[str, Any]:
    return {**result.record(), "sd_of_unit": result.sd if math.isfinite(result.sd) else None, "units": result.n}


def _by_name(results: Mapping[str, Estimate]) -> dict[str, Any]:
    return {name: _estimate_record(one) for name, one in results.items()}


def _scalars(results: MatchResults) -> Iterator[tuple[str, Scalar]]:
    """Iterate over the curve of each running mean over the hands."""
    for result in results.lineups:
        for name, units in result.tagged(results.unit):
            hands = result.hands / max(len(units), 1)
            yield name, [(round(n * hands), mean) for n, mean in settling(units, _COURSE)]
