"""The record of a match: `results.json`."""

import math
from typing import Any

import numpy as np

from poker.evaluation.matches.comparisons import contrasts, over_tables
from poker.evaluation.matches.results import MatchResults, TableResults
from poker.provenance import provenance
from poker.report.estimates import Estimate


def match_record(results: MatchResults) -> dict[str, Any]:
    """Everything that was found, all values in mbb per hand."""
    played = sum(result.hands - result.kept for result in results.tables)
    chips, aivat = (over_tables(results.tables, aivat=flag) for flag in (False, True))
    seated = {name for result in results.tables for name in result.table.players}
    return {
        "game": results.game.name,
        "definition": results.game.to_acpc(),
        "seed": results.seed,
        "session": results.session,
        "unit": "mbb/hand",
        "tables": [_table(result) for result in results.tables],
        "agents": {
            name: {
                **(_estimate(chips[name]) if name in chips else {}),
                **({"aivat": _estimate(aivat[name])} if name in aivat else {}),
                "settings": settings,
            }
            for name, settings in results.settings.items()
            if name in seated
        },
        "contrasts": [
            {
                "first": item.first,
                "second": item.second,
                "against": list(item.against),
                "by": "aivat" if item.aivat else "chips",
                **_estimate(item.found),
            }
            for item in contrasts(results.tables)
        ],
        "hands_per_second": round(played / results.seconds, 3) if results.seconds else None,
        "processes": results.processes,
        **provenance(),
    }


def _table(result: TableResults) -> dict[str, Any]:
    players: list[dict[str, Any]] = [
        {"agent": label, **_estimate(found)}
        for label, found in zip(result.table.labels, result.estimates(), strict=True)
    ]
    if result.aivat_units:
        for player, found in zip(players, result.estimates(aivat=True), strict=True):
            player["aivat"] = _estimate(found)
    return {
        "players": players,
        "hands": result.hands,
        "intervals_may_be_too_narrow": result.is_short,
        "sd_per_hand": {name: spread.sd for name, spread in result.spread.items() if spread.n > 1},
        "stopped_early": result.stopped_at is not None,
        "kept_from_earlier_runs": result.kept,
        "hands_by_commit": result.commits,
        "unknown_to_aivat": result.unknown,
        "log": str(result.log),
        "incidents": [vars(incident) for incident in result.incidents],
        "decision_seconds": {
            f"{name}, street {street}": {
                "median": float(np.median(times)),
                "max": max(times),
                "n": len(times),
            }
            for (name, street), times in sorted(result.seconds.items())
        },
    }


def _estimate(found: Estimate) -> dict[str, Any]:
    return {
        "mean": found.mean,
        **found.interval(),
        "sd_of_unit": found.sd if math.isfinite(found.sd) else None,
        "units": found.n,
    }
